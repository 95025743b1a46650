#include "fairlead/fabric/model/rdma/rdma_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fairlead/fabric/model/rdma/operands.h"

namespace fairlead::fabric::model {

RdmaMachine::RdmaMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                         const SharedMemory& shared)
    : NicMachine(std::move(platform), ranks, nodes),
      terms_(platform_, ranks_.each),
      packets_(terms_.mtu_bytes, shared.packets),
      regions_(ranks_, shared),
      parts_{{engine_, packets_, terms_, ranks_, nullptr, nullptr, regions_.all()},
             platform_.ni.as<hw::RdmaParams>(),
             hw::host_path_of(platform_.bus),
             platform_.network,
             network_,
             platform_.host.memory},
      nodes_(nodes),
      more_(ranks_.ranks - std::min(ranks_.count(), ranks_.ranks)) {
  for (Peer node = 0; node < nodes; ++node) {
    nodes_.emplace_back(parts_, node);
    for (std::uint32_t place = 1; place < ranks_.ranks_on(node); ++place) {
      more_.emplace_back(parts_, ni(node), ranks_.rank_at(node, place));
    }
  }
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) nic(rank).set_ranks(ranks_.ranks);
  hw::NetworkSink sink;
  sink.context = this;
  sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
    auto* const machine = static_cast<RdmaMachine*>(self);
    if (machine->faults_ != nullptr) [[unlikely]] {
      machine->faults_->arrived(node, packet);
    } else {
      machine->ni(node).arrived(packet);
    }
  };
  sink.transmitted = [](void* self, Peer node, std::uint32_t packet) {
    static_cast<RdmaMachine*>(self)->ni(node).transmitted(packet);
  };
  network_.attach(sink);
  attach_reductions();
  for (Peer node = 0; node < nodes; ++node) ni(node).begin_background();
}

void RdmaMachine::all_ended() {
  for (Peer node = 0; node < nodes(); ++node) ni(node).end_background();
}

void RdmaMachine::attach_reductions() {
  if (network_.reductions() == nullptr) return;
  hw::ReductionSink sink;
  sink.context = this;
  sink.combine = [](void* self, std::uint32_t into, std::uint32_t operand) {
    auto& machine = *static_cast<RdmaMachine*>(self);
    combine_operands(machine.packets_, into, operand);
    machine.packets_.give(operand);
  };
  sink.result = [](void* self, std::uint32_t packet, Peer first, Peer last, std::uint32_t) {
    static_cast<RdmaMachine*>(self)->packets_.at(packet).users = last - first + 1;
  };
  sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
    static_cast<RdmaMachine*>(self)->ni(node).reduced(packet);
  };
  network_.reductions()->attach(sink);
}

NodeBusy RdmaMachine::busy(Rank rank) const {
  const RdmaNi& ni = nodes_[ranks_.node_of(rank)].ni;
  const RdmaHost& host = const_cast<RdmaMachine*>(this)->of(rank).host;
  return {host.library_busy(), ni.units_busy(), ni.path_busy()};
}

Result<void> RdmaMachine::set_faults(const FaultPlan& plan) {
  if (plan.clauses.empty() && !plan.loses()) return {};
  if (platform_.ni.as<hw::RdmaParams>().ack_timeout == Ps{0}) {
    return Error{fmt::format(
        "--faults: the interfaces of {} send nothing again; give ni.ack_timeout_us and ni.retries "
        "(--set), or try --on udp, or a machine whose network interfaces run go-back-N",
        platform_.name)};
  }
  if (platform_.ni.as<hw::RdmaParams>().background.pattern != hw::BackgroundParams::kNone) {
    return Error{
        fmt::format("--faults: on {} the traffic of another job (--background) has nothing "
                    "for packets that are lost; give one of the two",
                    platform_.name)};
  }
  Result<std::unique_ptr<WireFaults>> made = WireFaults::create(engine_, network_, *this, plan);
  if (!made.ok()) return made.error();
  faults_ = std::move(made.value());
  parts_.loses = true;
  return {};
}

std::string RdmaMachine::losses() const { return faults_ == nullptr ? "" : faults_->losses(); }

std::shared_ptr<Figures> RdmaMachine::count() {
  const auto figures = std::make_shared<Figures>(ranks_, nodes());
  parts_.figures = figures.get();
  network_.count();
  return counted_ = figures;
}

void RdmaMachine::trace_nodes(TraceWriter&) {
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) host(rank).trace(host_lane(rank));
}

}  // namespace fairlead::fabric::model
