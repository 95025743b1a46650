// What a sender stores into at one host: one memory for all receivers there (Sun MPI paper, section
// 3.1, figures 3 and 4). It holds a queue of postboxes for each rank of the host and the pool of
// blocks that lists in them speak of: one that all of them share, or one for each. The receiver
// that the sender's first message to the host is for makes it; the others take part in it
// (lci::NodeMemory), and each exposes it to the sender as a segment of its own. The sender alone
// writes there, and hands out queue and blocks; the receivers only read, each what is its own.
//
// Where ranks of a host share no memory, each has an area of its own, for one receiver.
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/devices/rsm/postbox.h"
#include "fairlead/systems/mpi/devices/rsm/tunables.h"

namespace fairlead::mpi::rsm {

// Where in an area what lies, in bytes. Both ends compute it from the same numbers.
class Area {
 public:
  // For so many receivers, by whose connections messages go as `how` says.
  Area(const Protocol& how, std::uint64_t receivers)
      : boxes_(how.boxes),
        receivers_(receivers),
        pool_(whole(how.pool())),
        pools_(how.shares() ? 1 : receivers) {}

  std::uint64_t queue_at(std::uint64_t receiver) const { return receiver * boxes_ * kBoxBytes; }
  std::uint64_t pool_at(std::uint64_t receiver) const {
    return whole(queue_at(receivers_)) + (pools_ == 1 ? 0 : receiver * pool_);
  }
  // A line that the sender has no part in: how many receivers use the area.
  std::uint64_t users_at() const { return whole(queue_at(receivers_)) + pools_ * pool_; }
  std::uint64_t bytes() const { return users_at() + kBoxBytes; }

 private:
  // Pools begin where block 0 is at the same network interface in each: no block lies at two, and
  // of kStripes in a row one lies at each (postbox.h).
  static constexpr std::uint64_t whole(std::uint64_t bytes) {
    constexpr std::uint64_t kRow = kStripes * kBlockBytes;
    return (bytes + kRow - 1) / kRow * kRow;
  }

  const std::uint64_t boxes_;
  const std::uint64_t receivers_;
  const std::uint64_t pool_;
  const std::uint64_t pools_;
};

}  // namespace fairlead::mpi::rsm
