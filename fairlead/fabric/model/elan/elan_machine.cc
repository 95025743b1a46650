#include "fairlead/fabric/model/elan/elan_machine.h"

#include <algorithm>
#include <utility>

#include "fairlead/fabric/model/elan/elan_terms.h"
#include "fairlead/fabric/model/rdma/operands.h"

namespace fairlead::fabric::model {
namespace {

// An Elan answers every packet: whatever the file says, its links hold circuits until then.
hw::Platform with_circuits(hw::Platform platform) {
  platform.network.held_circuits = true;
  return platform;
}

}  // namespace

bool ElanMachine::has_groups(const hw::Platform& platform) {
  const hw::NetworkParams& network = platform.network;
  return network.topology == hw::TopologyKind::fat_tree && network.host_order == 0;
}

ElanMachine::ElanMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                         const SharedMemory& shared)
    : NicMachine(with_circuits(std::move(platform)), ranks, nodes),
      terms_(elan_terms(platform_)),
      packets_(terms_.packet_bytes, shared.packets),
      regions_(ranks_, shared),
      parts_{{engine_, packets_, terms_, ranks_, &platform_.ni.as<hw::ElanParams>().noise, nullptr,
              regions_.all()},
             platform_.ni.as<hw::ElanParams>(),
             platform_.bus.as<hw::PciParams>(),
             platform_.network,
             *network_.circuits(),
             network_.reductions(),
             platform_.host.memory},
      nodes_(nodes),
      more_(ranks_.ranks - std::min(ranks_.count(), ranks_.ranks)) {
  const bool groups = has_groups(platform_);
  for (Peer node = 0; node < nodes; ++node) {
    nodes_.emplace_back(parts_, node, groups);
    for (std::uint32_t place = 1; place < ranks_.ranks_on(node); ++place) {
      more_.emplace_back(parts_, ni(node), ranks_.rank_at(node, place), groups);
    }
  }
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) nic(rank).set_ranks(ranks_.ranks);
  attach_network();
  attach_reductions();
  for (Peer node = 0; node < nodes; ++node) ni(node).begin_background();
}

void ElanMachine::all_ended() {
  for (Peer node = 0; node < nodes(); ++node) ni(node).end_background();
}

void ElanMachine::attach_network() {
  hw::CircuitSink sink;
  sink.context = this;
  sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
    static_cast<ElanMachine*>(self)->ni(node).arrived(packet);
  };
  sink.acknowledged = [](void* self, Peer node, std::uint32_t packet, hw::Outcome outcome) {
    static_cast<ElanMachine*>(self)->ni(node).acknowledged(packet, outcome);
  };
  sink.ended = [](void* self, Peer first, Peer last, std::uint32_t packet, hw::Outcome outcome) {
    auto& machine = *static_cast<ElanMachine*>(self);
    for (Peer node = first; node <= last; ++node) machine.ni(node).ended(packet, outcome);
  };
  sink.closed = [](void* self, Peer first, std::uint32_t packet) {
    static_cast<ElanMachine*>(self)->ni(first).closed(packet);
  };
  network_.circuits()->attach(sink);
}

void ElanMachine::attach_reductions() {
  if (network_.reductions() == nullptr) return;
  hw::ReductionSink sink;
  sink.context = this;
  sink.combine = [](void* self, std::uint32_t into, std::uint32_t operand) {
    auto& machine = *static_cast<ElanMachine*>(self);
    combine_operands(machine.packets_, into, operand);
    if (--machine.packets_.at(operand).users == 0) machine.packets_.give(operand);
  };
  sink.result = [](void* self, std::uint32_t packet, Peer first, Peer last, std::uint32_t circuit) {
    RdmaPacket& result = static_cast<ElanMachine*>(self)->packets_.at(packet);
    result.kind = RdmaKind::reduced;
    result.circuit = circuit;
    result.users += last - first;  // the network's share becomes the members'
  };
  network_.reductions()->attach(sink);
}

NodeBusy ElanMachine::busy(Rank rank) const {
  const ElanNi& ni = nodes_[ranks_.node_of(rank)].ni;
  const RdmaHost& host = const_cast<ElanMachine*>(this)->of(rank).host;
  return {host.library_busy(), ni.units_busy(), ni.path_busy()};
}

Result<void> ElanMachine::set_faults(const FaultPlan& plan) {
  if (plan.clauses.empty() && !plan.loses()) return {};
  Result<std::unique_ptr<ElanFaults>> made = ElanFaults::create(engine_, plan);
  if (!made.ok()) return made.error();
  faults_ = std::move(made.value());
  parts_.faults = faults_.get();
  network_.circuits()->attach(faults_->wire());
  return {};
}

std::shared_ptr<Figures> ElanMachine::count() {
  const auto figures = std::make_shared<Figures>(ranks_, nodes());
  parts_.figures = figures.get();
  network_.count();
  return counted_ = figures;
}

void ElanMachine::trace_nodes(TraceWriter&) {
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) host(rank).trace(host_lane(rank));
}

}  // namespace fairlead::fabric::model
