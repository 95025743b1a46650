// Reductions of large vectors through memory that all members map: each lays the parts that the
// others combine there, in pieces; the owner of a part combines its pieces in place, and the others
// take the results from there. Two slots for each member's pieces of each part, so that one is laid
// while another is combined, and counts of pieces instead of meetings. For processors that share a
// cache, and for ranks that the kernel lets copy nothing from each other.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/large_reduction.h"

namespace fairlead::mpi {

// Lives from a communicator's first such reduction until it is freed: kMemberBytes for each of up
// to kBoardRanks members. The port of the first one owns it.
struct SharedPieces {
  static constexpr std::uint64_t kMemberBytes = 256 * 1024;
  static constexpr std::uint64_t kSlots = 2;
  // Pieces since the memory was made; written by one member, apart from what others write.
  struct alignas(128) Count {
    std::atomic<std::uint64_t> pieces;
  };
  struct Member {
    Count laid;      // for all others
    Count combined;  // of its part
  };

  // The memory of `size` members together.
  static constexpr std::uint64_t bytes(int size) {
    return sizeof(SharedPieces) + static_cast<std::uint64_t>(size) * kMemberBytes;
  }
  // A piece is so long that few are waited for, and so short that it stays in second-level caches.
  // docs/performance-diary.md has others.
  static constexpr std::uint64_t piece_bytes(int size) {
    return kMemberBytes / kSlots / static_cast<std::uint64_t>(size - 1) / 64 * 64;
  }
  std::byte* memory_of(int member) {
    return reinterpret_cast<std::byte*>(this + 1) +
           static_cast<std::uint64_t>(member) * kMemberBytes;
  }

  alignas(4096) Member members[kBoardRanks];
};
static_assert(sizeof(SharedPieces) % 4096 == 0);

// At the first member: makes the memory if it is not there. False: none is left.
bool make_shared_pieces(Process& process, Comm& comm);
// Gives it back; no member uses it any more.
void drop_shared_pieces(Process& process, Comm& comm);

// All members, once the first one has made the memory.
void reduce_through_shared(const LargeReduction& reduction);

}  // namespace fairlead::mpi
