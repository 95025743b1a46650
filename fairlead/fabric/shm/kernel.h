// The system calls of the shared-memory fabric but the futex (doorbell.h): membarrier, process_vm.
// All off the path of a message.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/post.h"

namespace fairlead::fabric {

// The kernel has the expedited global membarrier.
bool shm_barrier_known();
// Lets other processes' shm_barrier() reach this one. False: the kernel refused.
bool shm_barrier_register();
// Every running thread of a registered process has passed a full barrier when this returns; some
// microseconds. False: the kernel refused.
bool shm_barrier();

// Lets descendants of `root` read and write this process's memory where Yama restricts it.
void shm_permit_copies(std::uint32_t root);
// Copies between this process's memory and `address` of process `pid`. done; not_delivered: the
// kernel refused; peer_down: no such process; invalid: the peer has no such memory.
Post shm_copy(std::uint32_t pid, std::uint64_t address, void* local, std::size_t size, bool write);

}  // namespace fairlead::fabric
