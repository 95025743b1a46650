// The direct composition: a Port straight over a Nic that loses nothing (shm, loop, ofi). No
// reliability part; on a fabric that may lose it detects the gap and stops, naming it, or leaves it
// to its client (DirectOptions::may_lose).
#pragma once
#include <memory>
#include <string>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/lci/group/network_use.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

class WakeHelper;

// Time as a modelled world keeps it. Thread: the rank's.
class VirtualSite {
 public:
  virtual ~VirtualSite() = default;
  // Since the World started.
  virtual Ps now() const = 0;
  // The rank's own work takes its time.
  virtual void charge(const Work& work) = 0;
  // What the rank waits for from here on, shown when the job hangs; a string that outlives it.
  virtual void waits_for(const char* what) = 0;

  // --- Memory that ranks of a node share (node_memory.h). Whether ranks can wait for what others
  // store there.
  virtual bool shows() const { return false; }
  // Before a store: the rest of the machine catches up with this rank.
  virtual void catch_up() {}
  // After it: that rank looks if it waits.
  virtual void show(Rank /*rank*/) {}

  // --- Where what comes may interrupt the rank (Port::wake).
  virtual bool interrupts() const { return false; }
  // The platform's, which Port::wake() asks for by zero.
  virtual Ps default_watchdog() const { return Ps{0}; }
  // What Port::wake() asked for; `watchdog`: kNever is poll_only, zero immediate.
  virtual void wake(Ps /*watchdog*/) {}
  // How long charge() would take.
  virtual Ps time_of(const Work&) { return Ps{0}; }
  // As much of `time` passes as is over when a packet has waited for the watchdog's time or, with
  // `completions`, when one has come; or all of it. Returns how much.
  virtual Ps compute(Ps time, bool /*completions*/) { return time; }
  // What is done from serve() to served() is the handler's, which `interrupted` calls if it is not
  // at work.
  virtual void serve(bool /*interrupted*/) {}
  virtual void served() {}
};

// Where puts that are flagged kRaw (port.h) get lost although the fabric loses none: whether
// the next one to `rank` is. Counts them.
struct RawFate {
  bool (*lost)(void* context, Rank rank) = nullptr;
  void* context = nullptr;
};

struct DirectOptions {
  Ps epoch{};     // CLOCK_MONOTONIC at the start of the World; now() counts from here
  WaitPlan wait;  // see base/wait_ladder.h; with a site wait_plan_virtual()
  // nullptr: the real world's clock, and work costs nothing. Else virtual time, which the fabric
  // lets pass: Nic::reap() takes what a look costs, and Nic::sleep() returns when anything that the
  // rank waits for may have changed, words that peers write and room to send included. Outlives the
  // port.
  VirtualSite* site = nullptr;
  // The real world's: serves the rank while it computes (Port::wake). nullptr: it polls only.
  // Outlives the port.
  WakeHelper* helper = nullptr;
  // Called when the fabric lost, repeated or broke a packet, which this composition cannot mend;
  // does not return. nullptr: prints the reason and aborts.
  void (*fatal)(void* context, const std::string& reason) = nullptr;
  void* fatal_context = nullptr;
  std::uint32_t first = 0;  // number of the first packet of a pair and lane; they wrap
  // Which of the fabric's means for groups and counters (GroupHardware) serve; the others are left
  // to the software defaults.
  NetworkUse network = NetworkUse::all;
  bool one_path = false;  // the nic's caps are the same for all peers
  RawFate raw{};
  // This rank's atomics on its own words go by the fabric, whose atomics (kRemoteAtomics) are not
  // atomic with the processor's.
  bool own_atomics_by_fabric = false;
  // What Port::allocate may give in all, where the fabric has no regions for it.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  // Packets that the fabric lost, doubled or reordered are the client's business (kMayLose).
  bool may_lose = false;
  // Serve remote memory by packets even where the fabric could do it directly (tests, comparison).
  bool software_remote_memory = false;
};

// `nic` must outlive the port, which becomes its sink.
std::unique_ptr<Port> make_direct_port(fabric::Nic& nic, const DirectOptions& options);
// For a port that was made so, without a helper: tries again to send what upcalls sent and what
// found no room. True: some of it still waits.
bool send_overflow(Port& direct);

}  // namespace fairlead::lci
