// Nic between ranks that share one thread (fibers, round robin) or one process driven by a test:
// packets wait in the receiver's queue, nothing is copied twice, nothing is timed.
#pragma once
#include <cstdint>
#include <memory>

#include "fairlead/base/result.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

struct LoopOptions {
  std::uint32_t ranks = 2;                // 1..65536
  std::uint64_t region_bytes = 64 << 20;  // per rank for Port::allocate, touched on use only
  // What an endpoint's sleep() does: lets another rank of the thread run. nullptr: nothing.
  void (*yield)(void* context) = nullptr;
  void* yield_context = nullptr;
};

// Owns the queues, buffers and counters of all endpoints; outlives them. One thread.
class LoopNetwork {
 public:
  // Error: a number out of range, or no address space.
  static Result<std::unique_ptr<LoopNetwork>> create(const LoopOptions& options);
  virtual ~LoopNetwork() = default;

  virtual std::uint32_t ranks() const = 0;
  // The endpoint of `self`, at most one at a time; its packets wait while there is none.
  virtual std::unique_ptr<Nic> endpoint(Peer self) = 0;
  // Every other endpoint tells its sink that `peer` is lost; packets to it are refused.
  virtual void mark_dead(Peer peer) = 0;
  virtual const PortCounters& counters(Peer peer) const = 0;
};

}  // namespace fairlead::fabric
