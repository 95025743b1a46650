// Nic on the shared memory of one machine: per-pair rings of one cache line per small message,
// larger payloads in the sender's pool, single-copy reads where the kernel permits.
#pragma once
#include <cstdint>
#include <memory>

#include "fairlead/base/result.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

struct ShmAttachOptions {
  std::uint64_t nonce = 0;  // of the job this rank was told to join; 0: any
  bool single_copy = true;  // false: behave as if the kernel refused process_vm_readv
  bool membarrier = true;   // false: behave as if the kernel refused membarrier
  // Where positions in rings begin, a multiple of their slots; they wrap. One for all of a job.
  std::uint32_t first = 0;
};

// Maps the job behind `fd` (see ShmJob) and becomes its rank `self`. `fd` may be closed afterwards.
// Error: not a job, another version or nonce, no such rank, or the kernel refused.
Result<std::unique_ptr<Nic>> attach_shm(int fd, Peer self, const ShmAttachOptions& options = {});

}  // namespace fairlead::fabric
