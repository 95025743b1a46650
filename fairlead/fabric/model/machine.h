// A modelled cluster: engine, network, and on every node a network interface and its host side.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/lanai/host_ni.h"
#include "fairlead/fabric/model/lanai/ni_hardware.h"
#include "fairlead/fabric/model/machine_parts.h"
#include "fairlead/fabric/model/wire_faults.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/packet_pool.h"
#include "fairlead/hw/platform.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

// What of a machine other processes share: its packets, and the NIs' words (NiHardware::kWords
// each, nodes one after the other, zeroed). Empty: nobody does. The owner's; it outlives the
// machine.
struct SharedMemory {
  std::span<std::byte> packets;
  std::span<std::uint64_t> words;
};

// The part of a run's critical path that one resource took.
struct PathShare {
  const char* resource;  // what speed_up() calls it
  const char* title;
  Ps time;
};

class Machine {
 public:
  // The machine that a platform file describes, with `nodes` nodes. Error: see hw::load_platform;
  // or its network has fewer hosts.
  static Result<std::unique_ptr<Machine>> load(const std::string& platform_file,
                                               std::uint32_t nodes, std::uint32_t payload_bytes,
                                               const hw::PlatformChanges& changes = {});
  Machine(hw::Platform platform, std::uint32_t nodes, std::uint32_t payload_bytes,
          const SharedMemory& shared = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  sim::Engine& engine() { return engine_; }
  const hw::Platform& platform() const { return platform_; }
  const hw::Network& network() const { return network_; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  NiHardware& ni(Peer node) { return nodes_[node].ni; }
  ModelHostNi& host(Peer node) { return nodes_[node].host; }
  PortCounters& counters(Peer node) { return nodes_[node].counters; }
  hw::PacketPool& pool() { return pool_; }

  // Before the first event: what arrives from then on meets the plan's faults. Error: as
  // WireFaults::create().
  Result<void> set_faults(const FaultPlan& plan);
  // Or nullptr.
  const WireFaults* faults() const { return faults_.get(); }

  // Before the first event: keeps the run's critical path.
  void explain();
  // The longest path to the last event so far, by resource in the order of hw::Resource; the sum is
  // the engine's now. Empty without explain().
  std::vector<PathShare> critical_path() const;

  // Shows every node on lines of its own. `writer` outlives the machine.
  void trace(TraceWriter& writer);
  // The host's line of a traced node: its port's to draw on.
  TraceLane host_lane(Peer node) const;

 private:
  struct Node {
    Node(Machine& machine, Peer self, std::uint64_t* words)
        : ni(machine.parts_, self, counters, words), host(machine.parts_, ni) {}
    PortCounters counters;
    NiHardware ni;
    ModelHostNi host;
  };

  // From here on the state of the nodes, 6 KB each, is larger than a processor's own cache.
  static constexpr std::uint32_t kManyNodes = 128;
  void look_ahead();

  hw::Platform platform_;
  hw::HostRates host_rates_;
  std::unique_ptr<sim::CriticalPath> path_;
  sim::Engine engine_;
  hw::NiFirmware firmware_;
  hw::PacketPool pool_;
  hw::Network network_;
  MachineParts parts_;
  PinnedArray<Node> nodes_;
  std::unique_ptr<WireFaults> faults_;
  TraceWriter* trace_ = nullptr;
  std::unique_ptr<Journeys> journeys_;
};

}  // namespace fairlead::fabric::model
