// Which protocol carries a message of which size. One place, so that a measurement can move a
// number without a search.
#pragma once
#include <cstdint>

#include "fairlead/lci/port.h"

namespace fairlead::mpi {

// Largest message sent unasked.
// - With single-copy paths the offer costs one message each way and one system call (about 1 us),
//   which the saved copy repays from this size on.
// - Else both ways copy twice, and asking first only saves memory at the receiver and the copy out
//   of it when the receive is late: keep what the receiver may have to hold for a peer small.
constexpr std::uint64_t kEagerBytesMaxSingleCopy = 16 * 1024;
constexpr std::uint64_t kEagerBytesMax = 32 * 1024;

inline std::uint64_t eager_bytes_max(const lci::Caps& caps) {
  return (caps.flags & lci::kSingleCopy) != 0 ? kEagerBytesMaxSingleCopy : kEagerBytesMax;
}

// What unexpected messages may hold at one rank: a program beyond it has a receive that never
// comes, and is told so.
constexpr std::uint64_t kUnexpectedBytesMax = std::uint64_t{4} << 30;

// Segments that rendezvous sends expose: the upper half of the names, which other systems leave.
constexpr std::uint32_t kSegmentBase = 0x80000000u;

// Work of one message for the modelled world, in simple operations: what the instruction counts of
// the message path come to (callgrind over 8-byte MPI_Send/MPI_Recv).
constexpr std::uint64_t kSendOps = 60;
constexpr std::uint64_t kMatchOps = 90;

}  // namespace fairlead::mpi
