#include "fairlead/fabric/model/rdma/rdma_machine.h"

#include <fmt/format.h>

#include <utility>

namespace fairlead::fabric::model {

RdmaMachine::RdmaMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                         const SharedMemory& shared)
    : NicMachine(std::move(platform), ranks, nodes),
      terms_(platform_),
      packets_(terms_.mtu_bytes, shared.packets),
      parts_{engine_,
             platform_.ni.as<hw::RdmaParams>(),
             platform_.bus.as<hw::LanesParams>(),
             platform_.network,
             network_,
             packets_,
             terms_},
      nodes_(nodes) {
  for (Peer node = 0; node < nodes; ++node) {
    nodes_.emplace_back(parts_, node);
    nic(node).set_ranks(nodes);
  }
  hw::NetworkSink sink;
  sink.context = this;
  sink.arrived = [](void* self, Peer node, std::uint32_t packet) {
    static_cast<RdmaMachine*>(self)->ni(node).arrived(packet);
  };
  sink.transmitted = [](void* self, Peer node, std::uint32_t packet) {
    static_cast<RdmaMachine*>(self)->ni(node).transmitted(packet);
  };
  network_.attach(sink);
}

NodeBusy RdmaMachine::busy(Peer node) const {
  const Node& of = nodes_[node];
  return {of.host.library_busy(), of.ni.units_busy(), of.ni.lanes_busy()};
}

Result<void> RdmaMachine::set_faults(const FaultPlan& plan) {
  if (plan.clauses.empty() && !plan.loses()) return {};
  return Error{fmt::format(
      "--faults: the links of {} lose nothing; try --on udp, or a machine whose network "
      "interfaces run go-back-N",
      platform_.name)};
}

void RdmaMachine::trace_nodes(TraceWriter&) {
  for (Peer node = 0; node < nodes(); ++node) host(node).trace(host_lane(node));
}

}  // namespace fairlead::fabric::model
