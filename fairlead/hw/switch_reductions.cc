#include "fairlead/hw/switch_reductions.h"

#include <algorithm>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/hw/buffered_links.h"
#include "fairlead/hw/circuits.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::hw {

SwitchReductions::SwitchReductions(sim::Engine& engine, const NetworkParams& params,
                                   const Topology& topology, Circuits* circuits,
                                   BufferedLinks* buffered)
    : engine_(engine),
      params_(params),
      topology_(topology),
      tree_(*topology.ordered_fat_tree()),
      circuits_(circuits),
      buffered_(buffered),
      switches_(tree_, topology.nodes()),
      units_(switches_.count()) {}

SwitchReductions::Ports SwitchReductions::ports_of(const Climbing& at) const {
  const std::uint64_t below = tree_.hosts_below(at.level);
  const std::uint64_t each = hosts_of_port(at.level);
  const std::uint64_t begin = at.operand.source / below * below;
  const std::uint64_t low = std::max<std::uint64_t>(begin, at.operand.first) / each;
  const std::uint64_t high = std::min<std::uint64_t>(begin + below - 1, at.operand.last) / each;
  return {static_cast<Peer>(low), static_cast<std::uint32_t>(high - low + 1)};
}

const Branches& SwitchReductions::branches(Peer first, Peer last) {
  std::unique_ptr<Branches>& known = branches_[{first, last}];
  if (known == nullptr) known = std::make_unique<Branches>(topology_, switches_, first, last);
  return *known;
}

void SwitchReductions::inject(Ps at, const Operand& operand) {
  FAIRLEAD_DCHECK(operand.first < operand.last && operand.first <= operand.source &&
                      operand.source <= operand.last,
                  "{} to {} of {}", operand.first, operand.last, operand.source);
  lift(at, {operand, 0}, operand.source);
}

void SwitchReductions::lift(Ps at, const Climbing& climbing, ChannelId channel) {
  const Operand& operand = climbing.operand;
  climbing_[operand.packet] = climbing;
  if (circuits_ != nullptr) {
    circuits_->lift(at, operand.packet, operand.source, channel, operand.bytes);
  } else {
    buffered_->lift(at, operand.packet, operand.source, channel, operand.bytes);
  }
}

void SwitchReductions::lifted(std::uint32_t packet) {
  const Climbing& here = climbing_.at(packet);
  const Operand& operand = here.operand;
  const std::uint32_t number = switches_.over(here.level, operand.source);
  const Ports ports = ports_of(here);
  Meeting& meeting = open_[{number, operand.name}];
  if (meeting.operands.empty()) meeting.operands.assign(ports.count, kNone);
  const auto port = static_cast<std::uint32_t>(operand.source / hosts_of_port(here.level));
  std::uint32_t& place = meeting.operands[port - ports.first];
  FAIRLEAD_CHECK(place == kNone, "two operands of port {} for one reduction of nodes {} to {}",
                 port, operand.first, operand.last);
  place = packet;
  const Ps takes = time_for(Bytes{operand.bytes}, params_.reduction_rate);
  const Ps done = units_[number].acquire(engine_.now(), takes) + takes;
  meeting.ready = std::max(meeting.ready, done + params_.reduction);
  if (++meeting.come < ports.count) return;
  engine_.at(meeting.ready, operand.first, kCombinedEvent, &SwitchReductions::on_combined, this,
             packet, operand.name);
}

void SwitchReductions::on_combined(void* self, std::uint64_t packet, std::uint64_t) {
  static_cast<SwitchReductions*>(self)->combined(static_cast<std::uint32_t>(packet));
}

// A switch has all operands of a reduction, `last` the one that came last.
void SwitchReductions::combined(std::uint32_t last) {
  Climbing next = climbing_.at(last);
  const auto found =
      open_.find({switches_.over(next.level, next.operand.source), next.operand.name});
  const std::vector<std::uint32_t> operands = std::move(found->second.operands);
  open_.erase(found);
  for (const std::uint32_t each : operands) climbing_.erase(each);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    sink_.combine(sink_.context, operands[0], operands[i]);
  }
  next.operand.packet = operands[0];
  if (next.level == tree_.common_level(next.operand.first, next.operand.last)) {
    return spread(next.operand);
  }
  const ChannelId up =
      topology_.first_between_switches() + tree_.cable_up(next.level, next.operand.source, 0, 0);
  ++next.level;
  lift(engine_.now(), next, up);
}

void SwitchReductions::spread(const Operand& operand) {
  std::uint32_t circuit = 0;
  if (circuits_ != nullptr) {
    circuit = circuits_->spread(operand.packet, operand.first, operand.last, operand.bytes);
  }
  sink_.result(sink_.context, operand.packet, operand.first, operand.last, circuit);
  if (circuits_ == nullptr) {
    buffered_->spread(operand.packet, operand.first, branches(operand.first, operand.last),
                      operand.bytes);
  }
}

}  // namespace fairlead::hw
