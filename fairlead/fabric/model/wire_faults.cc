#include "fairlead/fabric/model/wire_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

Result<std::unique_ptr<WireFaults>> WireFaults::create(sim::Engine& engine,
                                                       const hw::Network& network, FaultyWire& wire,
                                                       const FaultPlan& plan) {
  if (Result<void> r = check_links(plan, engine.nodes(), true); !r.ok()) return r.error();
  std::unique_ptr<WireFaults> made(new WireFaults(engine, network, wire, plan));
  for (const FaultPlan::Clause& clause : plan.clauses) {
    made->cables_.emplace_back();
    if (clause.link.kind != FaultyLink::Kind::cable) continue;
    auto cable = network.topology().cable(clause.link.a, clause.link.b);
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
  network_.topology().route(source, node, path);
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
  const Peer source = wire_.source_of(id);
  Pair& way = pair(source, node);
  const Fate fate = fate_of(plan_, source, node, way.count++, way.clauses, engine_.now());
  if (fate.drop) return lose(source, node, id);
  if (fate.corrupt) return wire_.deliver_corrupt(node, id);
  if (fate.delay.count > 0 || fate.reorder) {
    const Ps hold = fate.delay.count > 0 ? fate.delay : kReorderHold;
    engine_.at(engine_.now() + hold, source, hw::kHeldEvent, &WireFaults::on_held, this, id, node);
    return;
  }
  if (fate.duplicate) wire_.deliver(node, wire_.twin(node, id));
  wire_.deliver(node, id);
}

void WireFaults::on_held(void* self, std::uint64_t packet, std::uint64_t node) {
  static_cast<WireFaults*>(self)->wire_.deliver(static_cast<Peer>(node),
                                                static_cast<PacketId>(packet));
}

void WireFaults::lose(Peer source, Peer node, PacketId id) {
  if (lost_++ == 0) {
    first_lost_ =
        fmt::format("from node {} to node {} at {:.3f} us", source, node, to_us(engine_.now()));
  }
  wire_.lose(node, id);
}

std::string WireFaults::losses() const {
  if (lost_ == 0) return {};
  return fmt::format("{} packet{} lost by the fault plan, the first {}", lost_,
                     lost_ == 1 ? " was" : "s were", first_lost_);
}

}  // namespace fairlead::fabric::model
