#include "fairlead/fabric/model/rdma/rdma_machine.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

RdmaMachine::RdmaMachine(hw::Platform platform, std::uint32_t nodes)
    : platform_(std::move(platform)),
      rates_(platform_),
      engine_(nodes),
      network_(engine_, platform_, nodes),
      packets_(platform_.rdma->ni.mtu_bytes),
      parts_{engine_, platform_, *platform_.rdma, network_, packets_},
      nodes_(nodes) {
  for (Peer node = 0; node < nodes; ++node) nodes_.emplace_back(*this, node);
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

void RdmaMachine::trace(TraceWriter& writer) {
  network_.trace(writer);
  for (Peer node = 0; node < nodes(); ++node) {
    writer.name_node(node, fmt::format("node {}", node));
    for (std::uint32_t line = 0; line < hw::kTraceLines; ++line) {
      writer.name_lane({node, line}, hw::kTraceLineNames[line]);
    }
    nic(node).trace(TraceLane(writer, {node, hw::kHostLine}));
  }
}

}  // namespace fairlead::fabric::model
