// The direct composition: a Port straight over a Nic that loses nothing (shm, loop, ofi). No
// reliability part; on a fabric that may lose it detects the gap and stops, naming it.
#pragma once
#include <memory>
#include <string>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

struct DirectOptions {
  Ps epoch{};     // CLOCK_MONOTONIC at the start of the World; now() counts from here
  WaitPlan wait;  // see base/wait_ladder.h
  // Called when the fabric lost, repeated or broke a packet, which this composition cannot mend;
  // does not return. nullptr: prints the reason and aborts.
  void (*fatal)(void* context, const std::string& reason) = nullptr;
  void* fatal_context = nullptr;
  std::uint32_t first = 0;  // number of the first packet of a pair and lane; they wrap
  // Serve remote memory by packets even where the fabric could do it directly (tests, comparison).
  bool software_remote_memory = false;
};

// `nic` must outlive the port, which becomes its sink.
std::unique_ptr<Port> make_direct_port(fabric::Nic& nic, const DirectOptions& options);

}  // namespace fairlead::lci
