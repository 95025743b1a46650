// Reductions of large vectors of two ranks through memory that both map: each lays the part that
// the other combines there, in pieces; the other combines them in place, and the first takes the
// sums from there. Two slots a rank, so that one piece is laid while another is combined, and
// counts of pieces instead of meetings. For processors that share a cache, and for ranks that the
// kernel lets copy nothing from each other.
//
// Only two: with more, each piece would wait for all to be scheduled, and what that costs on a
// processor for each rank has not been measured.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/collectives/large_reduction.h"

namespace fairlead::mpi {

// Of a communicator from its first such reduction until it is freed: half a MiB. The port of the
// first member owns it.
struct PairMemory {
  // On two processors that share a third-level cache, 1 MiB: 40 to 45 us with pieces of 16 to 128
  // KiB where the other's stores are seen at once, 100, 80, 65 and 57 us where they are not.
  static constexpr std::uint64_t kPieceBytes = 128 * 1024;
  static constexpr std::uint64_t kSlots = 2;
  // Pieces since the memory was made; written by one member, apart from what the other writes.
  struct alignas(128) Count {
    std::atomic<std::uint64_t> pieces;
  };
  struct Member {
    Count laid;      // into its slots
    Count combined;  // in the other's slots
  };

  Member members[2];
  alignas(4096) std::byte slots[2][kSlots][kPieceBytes];
};
static_assert(sizeof(PairMemory) == 4096 + 512 * 1024);

// At the first member: makes the memory if it is not there. False: none is left.
bool make_pair_memory(Process& process, Comm& comm);
// Gives it back; no member uses it any more.
void drop_pair_memory(Process& process, Comm& comm);

// Both members, once the first one has made the memory.
void reduce_in_pair(const LargeReduction& reduction);

}  // namespace fairlead::mpi
