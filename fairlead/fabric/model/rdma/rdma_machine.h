// A modelled cluster whose network interfaces are RDMA engines: engine, network, and on every node
// an interface and the library of its rank.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/rdma/rdma_nic.h"
#include "fairlead/hw/platform.h"

namespace fairlead::fabric::model {

class RdmaMachine {
 public:
  // `platform` has RDMA interfaces, and a network of so many hosts.
  RdmaMachine(hw::Platform platform, std::uint32_t nodes);
  RdmaMachine(const RdmaMachine&) = delete;
  RdmaMachine& operator=(const RdmaMachine&) = delete;

  sim::Engine& engine() { return engine_; }
  const hw::Platform& platform() const { return platform_; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  RdmaNi& ni(Peer node) { return nodes_[node].ni; }
  RdmaNic& nic(Peer node) { return nodes_[node].nic; }
  PortCounters& counters(Peer node) { return nodes_[node].counters; }

  // Shows every node on lines of its own. `writer` outlives the machine.
  void trace(TraceWriter& writer);

 private:
  struct Node {
    Node(RdmaMachine& machine, Peer self)
        : ni(machine.parts_, self), nic(machine.parts_, machine.rates_, ni, counters) {}
    PortCounters counters;
    RdmaNi ni;
    RdmaNic nic;
  };

  hw::Platform platform_;
  hw::HostRates rates_;
  sim::Engine engine_;
  hw::Network network_;
  RdmaPackets packets_;
  RdmaParts parts_;
  PinnedArray<Node> nodes_;
};

}  // namespace fairlead::fabric::model
