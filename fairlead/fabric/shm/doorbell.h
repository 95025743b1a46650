// The doorbell of a receiver in shared memory: a futex that senders move.
#pragma once
#include <atomic>
#include <cstdint>

#include "fairlead/base/units.h"

namespace fairlead::fabric {

// `rung` moves when an attention bit was set or a rank died: the futex.
struct alignas(64) ShmDoorbell {
  std::atomic<std::uint32_t> rung;
  std::atomic<std::uint32_t> sleeping;  // threads
};

// Moves the bell and wakes the receiver if it sleeps.
void shm_ring(ShmDoorbell& bell);
// Sleeps until the bell has moved from `seen`, or `timeout` (a length) passed. Threads of
// the receiver only.
void shm_sleep(ShmDoorbell& bell, std::uint32_t seen, Ps timeout);

}  // namespace fairlead::fabric
