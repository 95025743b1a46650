// A modelled cluster whose network interfaces are RDMA engines: engine, network, and on every node
// an interface and the library of its rank.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/rdma/rdma_nic.h"
#include "fairlead/hw/platform.h"

namespace fairlead::fabric::model {

class RdmaMachine {
 public:
  // The machine that a platform file describes, with `nodes` nodes. Error: see hw::load_platform;
  // or its network has fewer hosts.
  static Result<std::unique_ptr<RdmaMachine>> load(const std::string& platform_file,
                                                   std::uint32_t nodes,
                                                   const hw::PlatformChanges& changes);
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

  // Before the first event: keeps the run's critical path.
  void explain();
  // What one resource took of the longest path to the last event so far; as RunReport has it.
  struct Share {
    const char* resource;
    const char* title;
    Ps time;
  };
  // By resource; the sum is the engine's now. Empty without explain().
  std::vector<Share> critical_path() const;

  // Shows every node on lines of its own. `writer` outlives the machine.
  void trace(TraceWriter& writer);
  // The host's line of a traced node: its port's to draw on.
  static TraceLane host_lane(TraceWriter& writer, Peer node);

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
  std::unique_ptr<sim::CriticalPath> path_;
  sim::Engine engine_;
  hw::Network network_;
  RdmaPackets packets_;
  RdmaParts parts_;
  PinnedArray<Node> nodes_;
};

}  // namespace fairlead::fabric::model
