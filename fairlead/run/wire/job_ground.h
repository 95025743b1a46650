// What the ranks of a job have in common, and which of them are here.
#pragma once
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/fabric/udp/seal.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

// Consecutive ranks of a job.
struct RankRange {
  std::uint32_t first = 0, count = 0;
};

// What the ranks of a job share, as each is told; the descriptor is the job's maker's.
struct JobGround {
  WorldKind world = WorldKind::shm;
  int fd = -1;
  std::uint64_t nonce = 0;
  Ps epoch{};  // CLOCK_MONOTONIC at the start of the World
  fabric::JobKey key{};
  // The ranks of this node; count 0: all of the job's.
  RankRange here{};
  Network network = Network::udp;  // of ranks that use one
};

// What makes the job's memory in a file its own, on every host.
inline std::uint64_t memory_nonce(const fabric::JobKey& key) {
  return fabric::job_word(key, "memory") | 1;  // 0 is any job's
}

}  // namespace fairlead::run
