// Which protocol carries a message of which size. One place, so that a measurement can move a
// number without a search.
#pragma once
#include <cstdint>

namespace fairlead::mpi {

// Largest message sent unasked. Asking first saves memory at the receiver and, when the receive is
// late, the copy out of it; what a receiver may have to hold for a peer stays small.
constexpr std::uint64_t kEagerBytesMax = 32 * 1024;

// From here on the receiver copies once, from the sender's memory (paths with kSingleCopy); below,
// sender and receiver copy at the same time, piece by piece through the path's buffers. Two ranks
// on two cores, one-way 64 KiB 6.2 us in pieces and 11 us by process_vm_readv, 1 MiB 61 and 141 us;
// windowed bandwidth 4 MiB 15.8 and 14.2 GB/s. One copy wins where the buffers no longer fit the
// caches.
constexpr std::uint64_t kSingleCopyBytesMin = 8 << 20;

// What unexpected messages may hold at one rank: a program beyond it has a receive that never
// comes, and is told so.
constexpr std::uint64_t kUnexpectedBytesMax = std::uint64_t{4} << 30;

// Segments that rendezvous sends expose: the upper half of the names, which other systems leave.
constexpr std::uint32_t kSegmentBase = 0x80000000u;

// Work of one message above the Port for the modelled world, in simple operations: instructions of
// an 8-byte MPI_Send (140) and MPI_Recv with its matching (350), counted by callgrind.
constexpr std::uint64_t kSendOps = 140;
constexpr std::uint64_t kMatchOps = 350;

}  // namespace fairlead::mpi
