#include "fairlead/fabric/model/wire_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/fabric/model/machine.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

Result<std::unique_ptr<WireFaults>> WireFaults::create(Machine& machine, const FaultPlan& plan) {
  if (Result<void> r = check_links(plan, machine.nodes(), true); !r.ok()) return r.error();
  std::unique_ptr<WireFaults> made(new WireFaults(machine, plan));
  for (const FaultPlan::Clause& clause : plan.clauses) {
    made->cables_.emplace_back();
    if (clause.link.kind != FaultyLink::Kind::cable) continue;
    auto cable = machine.network().topology().cable(clause.link.a, clause.link.b);
    if (!cable.ok()) {
      return Error{fmt::format("faults: link={}: {}", clause.link.text, cable.error().text)};
    }
    made->cables_.back() = cable.value();
  }
  return made;
}

WireFaults::Pair& WireFaults::pair(Peer source, Peer node) {
  const auto [found, fresh] = pairs_.try_emplace(std::uint64_t{source} << 32 | node);
  Pair& pair = found->second;
  if (!fresh || plan_.clauses.empty()) return pair;
  pair.clauses = clauses_of(plan_, source, node);
  std::vector<hw::ChannelId> path;
  machine_.network().topology().route(source, node, path);
  for (std::size_t i = 0; i < plan_.clauses.size(); ++i) {
    if (plan_.clauses[i].link.kind != FaultyLink::Kind::cable) continue;
    const auto passes = [&](hw::ChannelId channel) {
      return channel == cables_[i][0] || channel == cables_[i][1];
    };
    if (std::any_of(path.begin(), path.end(), passes)) pair.clauses |= ClauseMask{1} << i;
  }
  return pair;
}

void WireFaults::arrived(Peer node, PacketId id) {
  const Peer source = machine_.ni(node).packet(id).peer;
  Pair& way = pair(source, node);
  const Fate fate = fate_of(plan_, source, node, way.count++, way.clauses, machine_.engine().now());
  if (fate.drop) return lose(source, node, id);
  if (fate.corrupt) return machine_.ni(node).arrived_corrupt(id);
  if (fate.delay.count > 0 || fate.reorder) {
    const Ps hold = fate.delay.count > 0 ? fate.delay : kReorderHold;
    machine_.engine().at(machine_.engine().now() + hold, source, hw::kHeldEvent,
                         &WireFaults::on_held, this, id, node);
    return;
  }
  if (fate.duplicate) duplicate(node, id);
  machine_.ni(node).arrived(id);
}

void WireFaults::on_held(void* self, std::uint64_t packet, std::uint64_t node) {
  static_cast<WireFaults*>(self)
      ->machine_.ni(static_cast<Peer>(node))
      .arrived(static_cast<PacketId>(packet));
}

void WireFaults::lose(Peer source, Peer node, PacketId id) {
  if (lost_++ == 0) {
    first_lost_ = fmt::format("from node {} to node {} at {:.3f} us", source, node,
                              to_us(machine_.engine().now()));
  }
  machine_.ni(node).free_packet(id);
}

void WireFaults::duplicate(Peer node, PacketId id) {
  NiHardware& ni = machine_.ni(node);
  const std::size_t bytes = ni.packet(id).slot_bytes;
  const PacketId twin = ni.pool().take(bytes);
  std::memcpy(static_cast<void*>(&ni.packet(twin)), &ni.packet(id), bytes);
  ni.packet(twin).id = twin;
  ni.arrived(twin);
}

std::string WireFaults::losses() const {
  if (lost_ == 0) return {};
  return fmt::format("{} packet{} lost by the fault plan, the first {}", lost_,
                     lost_ == 1 ? " was" : "s were", first_lost_);
}

}  // namespace fairlead::fabric::model
