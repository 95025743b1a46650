#include "fairlead/fabric/model/rdma/rdma_machine.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/hw/resource.h"
#include "fairlead/hw/topology.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

Result<std::unique_ptr<RdmaMachine>> RdmaMachine::load(const std::string& platform_file,
                                                       std::uint32_t nodes,
                                                       const hw::PlatformChanges& changes) {
  Result<hw::Platform> platform = hw::load_platform(platform_file, changes);
  if (!platform.ok()) return platform.error();
  if (Result<void> fits = hw::Topology::check_nodes(platform.value(), nodes); !fits.ok()) {
    return fits.error();
  }
  return std::make_unique<RdmaMachine>(std::move(platform.value()), nodes);
}

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

void RdmaMachine::explain() {
  path_ = std::make_unique<sim::CriticalPath>(&hw::resource_of);
  engine_.explain(*path_);
}

std::vector<RdmaMachine::Share> RdmaMachine::critical_path() const {
  std::vector<Share> shares;
  for (std::size_t i = 0; path_ != nullptr && i < hw::kResources; ++i) {
    shares.push_back(
        {hw::kResourceNames[i].data(), hw::kResourceTitles[i].data(), path_->event().spent[i]});
  }
  return shares;
}

TraceLane RdmaMachine::host_lane(TraceWriter& writer, Peer node) {
  return {writer, {node, hw::kHostLine}};
}

void RdmaMachine::trace(TraceWriter& writer) {
  network_.trace(writer);
  for (Peer node = 0; node < nodes(); ++node) {
    writer.name_node(node, fmt::format("node {}", node));
    for (std::uint32_t line = 0; line < hw::kTraceLines; ++line) {
      writer.name_lane({node, line}, hw::kTraceLineNames[line]);
    }
    nic(node).trace(host_lane(writer, node));
  }
}

}  // namespace fairlead::fabric::model
