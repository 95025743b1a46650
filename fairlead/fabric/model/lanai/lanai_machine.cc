#include "fairlead/fabric/model/lanai/lanai_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/hw/event_kinds.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

LanaiMachine::LanaiMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                           std::uint32_t payload_bytes, const SharedMemory& shared)
    : Machine(std::move(platform), ranks, nodes),
      host_rates_(platform_.host, platform_.ni.as<hw::LanaiParams>()),
      firmware_(engine_, platform_.ni.as<hw::LanaiParams>(), &NiHardware::on_work),
      pool_(sizeof(NiPacket) + payload_bytes, shared.packets),
      parts_{engine_,
             platform_.ni.as<hw::LanaiParams>(),
             platform_.bus.as<hw::PciParams>(),
             platform_.network.header_bytes,
             host_rates_,
             firmware_,
             network_,
             pool_,
             ranks_,
             LanaiShares(platform_.ni.as<hw::LanaiParams>(), ranks_),
             platform_.host.memory},
      nodes_(nodes),
      more_(ranks_.ranks - std::min(ranks_.count(), ranks_.ranks)) {
  auto* const words = reinterpret_cast<std::uint64_t*>(shared.ni_memory.data());
  for (Peer node = 0; node < nodes; ++node) {
    nodes_.emplace_back(
        *this, node, words == nullptr ? nullptr : words + std::size_t{node} * NiHardware::kWords);
    for (std::uint32_t place = 1; place < ranks_.ranks_on(node); ++place) {
      more_.emplace_back(parts_, ni(node), place, *this);
    }
  }
  hw::NetworkSink sink;
  sink.context = this;
  sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
    auto* machine = static_cast<LanaiMachine*>(self);
    if (machine->faults_ != nullptr) [[unlikely]] {
      machine->faults_->arrived(node, packet);
    } else {
      machine->ni(node).arrived(packet);
    }
  };
  if (parts_.params.background.pattern != hw::BackgroundParams::kNone) {
    sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
      static_cast<LanaiMachine*>(self)->ni(node).arrived_beside(packet);
    };
  }
  sink.transmitted = [](void* self, Peer node, std::uint32_t packet) {
    static_cast<LanaiMachine*>(self)->ni(node).transmitted(packet);
  };
  sink.passed = [](void* self, std::uint32_t packet, TracePlace line, Ps at) {
    static_cast<LanaiMachine*>(self)->journeys_->passes(packet, line, at);
  };
  sink.prepare = [](void* self, Peer node, std::uint32_t packet, unsigned stage) {
    static_cast<LanaiMachine*>(self)->ni(node).prepare(packet, stage);
  };
  network_.attach(sink);
  if (nodes >= kManyNodes) look_ahead();
  for (Peer node = 0; node < nodes; ++node) ni(node).begin_background(platform_.network);
}

NodeBusy LanaiMachine::busy(Rank rank) const {
  const NiHardware& ni = nodes_[ranks_.node_of(rank)].ni;
  const ModelHostNi& host = const_cast<LanaiMachine*>(this)->of(rank).host;
  return {host.library_busy(), ni.processor_busy(), ni.bus_busy()};
}

Result<void> LanaiMachine::set_faults(const FaultPlan& plan) {
  if (parts_.params.background.pattern != hw::BackgroundParams::kNone &&
      (!plan.clauses.empty() || plan.loses())) {
    return Error{
        fmt::format("--faults: on {} the traffic of another job (--background) has nothing "
                    "for packets that are lost; give one of the two",
                    platform_.name)};
  }
  Result<std::unique_ptr<WireFaults>> made = WireFaults::create(engine_, network_, *this, plan);
  if (!made.ok()) return made.error();
  faults_ = std::move(made.value());
  return {};
}

std::string LanaiMachine::losses() const { return faults_ == nullptr ? "" : faults_->losses(); }

std::shared_ptr<Figures> LanaiMachine::count() {
  figures_ = std::make_shared<Figures>(ranks_, nodes(), parts_.shares.send_buffers,
                                       parts_.shares.host_buffers, NiHardware::handlers(),
                                       parts_.params.clock);
  parts_.figures = figures_.get();
  firmware_.backlog = [](void* self, std::uint32_t node, std::size_t waiting) {
    auto* const machine = static_cast<LanaiMachine*>(self);
    machine->figures_->level(Figures::kNiWork, node, machine->engine_.now(),
                             static_cast<std::uint32_t>(waiting));
  };
  firmware_.backlog_context = this;
  network_.count();
  return figures_;
}

Peer LanaiMachine::source_of(PacketId id) {
  return reinterpret_cast<const NiPacket*>(pool_.at(id))->peer;
}

PacketId LanaiMachine::twin(Peer node, PacketId id) {
  NiHardware& at = ni(node);
  const std::size_t bytes = at.packet(id).slot_bytes;
  const PacketId made = pool_.take(bytes);
  std::memcpy(static_cast<void*>(&at.packet(made)), &at.packet(id), bytes);
  at.packet(made).id = made;
  if (figures_ != nullptr) figures_->copied(id, made);
  return made;
}

void LanaiMachine::look_ahead() {
  engine_.prepare_with(sim::kTaskEvent, &sim::Task::prepare);
  engine_.prepare_with(hw::kHeadEvent, &hw::Network::prepare_head);
  engine_.prepare_with(hw::kTailEvent, &hw::Network::prepare_tail);
  engine_.prepare_with(hw::kLeftEvent, &hw::Network::prepare_left);
  engine_.prepare_with(hw::kNiTurnEvent, &NiHardware::prepare_turn);
  engine_.prepare_with(hw::kNiTimerEvent, &NiHardware::prepare_timer);
  engine_.prepare_with(hw::kVisibleEvent, &NiHardware::prepare_visible);
  engine_.prepare_with(hw::kDoorbellEvent, &NiHardware::prepare_event);
  engine_.prepare_with(hw::kDmaEvent, &NiHardware::prepare_event);
}

void LanaiMachine::trace_nodes(TraceWriter& writer) {
  journeys_ = std::make_unique<Journeys>(writer, kStageNames);
  parts_.journeys = journeys_.get();
  for (Peer node = 0; node < nodes(); ++node) ni(node).trace(writer);
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) host(rank).trace(host_lane(rank));
}

}  // namespace fairlead::fabric::model
