// A Nic that wraps any other and makes packets go wrong by a seeded plan: what the protocols that
// must survive a bad network are tested on. Breaks what it breaks after a checksum was taken, so
// that a broken packet is counted and dropped where it arrives, as by a network interface.
#pragma once
#include <memory>

#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

struct FaultyOptions {
  Ps epoch{};  // CLOCK_MONOTONIC at the start of the World; the plan's kill times count from here
  // Ends this endpoint when the plan says so. nullptr: SIGKILL to the process.
  void (*kill)(void* context) = nullptr;
  void* kill_context = nullptr;
};

// `inner` must outlive it. Not reliable, whatever `inner` is; packets carry 24 bytes more.
std::unique_ptr<Nic> make_faulty(Nic& inner, const FaultPlan& plan, const FaultyOptions& options);

// Whether the next raw put (lci::kRaw) to `dest` gets lost: by the plan's chance of a packet to be
// dropped, and always while its link is down. `faulty`: of make_faulty().
bool loses_put(Nic& faulty, Peer dest);

}  // namespace fairlead::fabric
