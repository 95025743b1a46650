// A modelled cluster as a run sees it, whatever its network interfaces are: engine, network, nodes.
// What a node consists of is its NI kind's (ni_kind.h): fabric/model/<kind>.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/even_nodes.h"
#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/model/figures.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/platform.h"
#include "fairlead/sim/engine.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {

// What of a machine the processes of its ranks share: its packets, NI memory (NiKind's
// ni_memory_bytes each, nodes one after the other, zeroed), and the regions of its ranks
// (region_bytes each). Empty: nobody does. The owner's; it outlives the machine.
struct SharedMemory {
  std::span<std::byte> packets;
  std::span<std::byte> ni_memory;
  std::span<std::byte> regions{};
};

// The part of a run's critical path that one resource took.
struct PathShare {
  const char* resource;  // what speed_up() calls it
  const char* title;
  Ps time;
};

// How long a node's parts were at work.
struct NodeBusy {
  Ps library;  // the host, in calls
  Ps ni;
  Ps bus;
};

class Machine {
 public:
  // The machine that a platform file describes, with `nodes` nodes and the ranks on them, whose
  // packets hold `payload_bytes` where the NI kind does not say how much itself. Error: see
  // hw::load_platform; or its network has fewer hosts, or its nodes cannot be shared by so many.
  static Result<std::unique_ptr<Machine>> load(const std::string& platform_file,
                                               const EvenNodes& ranks, std::uint32_t nodes,
                                               std::uint32_t payload_bytes,
                                               const hw::PlatformChanges& changes = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  sim::Engine& engine() { return engine_; }
  const sim::Engine& engine() const { return engine_; }
  const hw::Platform& platform() const { return platform_; }
  const hw::Network& network() const { return network_; }
  std::uint32_t nodes() const { return engine_.nodes(); }
  // Which rank is on which node; further nodes are idle.
  const EvenNodes& ranks() const { return ranks_; }

  // --- Of one rank. What its node's NI counts is with the first rank there.
  virtual PortCounters& counters(Rank rank) = 0;
  // The task whose time the calls of the rank's host take; before the first of them.
  virtual void run_on(Rank rank, sim::Task& task) = 0;
  // In that task: the rest of the machine catches up with the host's clock.
  virtual void sync(Rank rank) = 0;
  // NI and bus are its node's.
  virtual NodeBusy busy(Rank rank) const = 0;

  // Before the first event: what arrives from then on meets the plan's faults. Error: there is no
  // such node or cable, or the machine's network loses nothing.
  virtual Result<void> set_faults(const FaultPlan& plan) = 0;
  // What the plan has lost so far; empty: nothing.
  virtual std::string losses() const { return {}; }

  // Before the first event: counts what happens inside. nullptr: this kind of network interface
  // counts nothing.
  virtual std::shared_ptr<Figures> count() { return nullptr; }
  // Once counted: which link has carried packets the longest so far.
  virtual hw::Network::BusyLink busiest_link() const { return network_.busiest(); }

  // This rank takes nothing more: what comes for it may be dropped.
  virtual void rank_ended(Rank) {}
  // No rank is left: what goes on by itself beside them comes to its end.
  virtual void all_ended() {}

  // Before the first event: keeps the run's critical path.
  void explain();
  // The longest path to the last event so far, by resource of the platform's parts; the sum is the
  // engine's now. Empty without explain().
  std::vector<PathShare> critical_path() const;

  // Shows every node on lines of its own. `writer` outlives the machine.
  void trace(TraceWriter& writer);
  // The host's line of a rank's node, or its own one there: its port's to draw on.
  TraceLane host_lane(Rank rank) const;

 protected:
  Machine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes);
  // The kind's part of trace(): the lines have their names.
  virtual void trace_nodes(TraceWriter& writer) = 0;

  const hw::Platform platform_;
  const EvenNodes ranks_;
  std::unique_ptr<sim::CriticalPath> path_;
  sim::Engine engine_;
  hw::Network network_;
  TraceWriter* trace_ = nullptr;
};

}  // namespace fairlead::fabric::model
