// Which protocol carries a message of which size. One place, so that a measurement can move a
// number without a search.
#pragma once
#include <cstdint>

#include "fairlead/run/names.h"

namespace fairlead::mpi {

// Largest message sent unasked. Asking first saves memory at the receiver and, when the receive is
// late, the copy out of it; what a receiver may have to hold for a peer stays small.
constexpr std::uint64_t kEagerBytesMax = 32 * 1024;

// What the panda device sends of a longer message at once.
constexpr std::uint64_t kPandaBlockBytes = 32 * 1024;

// Chunks of a message that sender and receiver copy at once, each straight from one's memory to the
// other's. Two processes on two cores that share no second-level cache, by process_vm_readv and
// process_vm_writev: 1 MiB 73 us by one, 32 us by both; 64 KiB 3.9 and 3.1 us.
constexpr std::uint64_t kChunkBytesMin = 32 << 10;
constexpr std::uint64_t kChunkBytesMax = 256 << 10;

// How often in a row what a rank waits for may be looked for alone, before all else that comes.
constexpr std::uint32_t kStraightMax = 32;

// Messages sent at once before a sender looks for what has come, where a look costs a system call.
constexpr std::uint32_t kUnlookedMax = 64;

// What unexpected messages may hold at one rank, unless the job's user says otherwise, before it
// asks those that send more to wait for their receives. At half of it they need no longer.
constexpr std::uint64_t kUnexpectedBytesSlow = std::uint64_t{64} << 20;
constexpr std::uint64_t kUnexpectedBytesLeast = std::uint64_t{64} << 10;

// What they may hold in any case: a program beyond it has a receive that never comes, and is told
// so.
constexpr std::uint64_t kUnexpectedBytesMax = std::uint64_t{4} << 30;

// MPI's share of what a Port names.
constexpr run::Names kNames = run::names_of(run::System::mpi);

// Segments of collectives, by context (24 bits): the memory where members of a communicator meet,
// what they reduce through, and the vectors that they read from each other, in and out.
constexpr std::uint32_t kBoardSegment = kNames.segments.first;
constexpr std::uint32_t kSharedSegment = kBoardSegment + (1u << 24);
constexpr std::uint32_t kVectorSegment = kBoardSegment + (1u << 25);

// Segments of large messages. First what receivers expose, by their claim slots (claims.h), then
// the slots themselves, then the words of collectives by the network (collectives/network.h), then
// those of the rsm device's peers (devices/rsm/connection.h), then what senders expose, as many as
// are left.
constexpr std::uint32_t kSegmentBase = kBoardSegment + (1u << 26);
constexpr std::uint32_t kClaimSegment = kSegmentBase + 0x100;
constexpr std::uint32_t kNetworkSegment = kSegmentBase + 0x800;
constexpr std::uint32_t kRsmSegment = kSegmentBase + 0x1000;
constexpr std::uint32_t kSendSegmentBase = kRsmSegment + 0x100000;
constexpr std::uint32_t kSendSegments =
    kNames.segments.count - (1u << 24) - (kSendSegmentBase - kNames.segments.first);

// Segments of windows, by context, which is even: a member's memory, and what says how to reach it.
constexpr std::uint32_t kWindowSegment = kSendSegmentBase + kSendSegments;
constexpr std::uint32_t kWindowLockSegment = kWindowSegment + 1;

// Work of one message above the Port for the modelled world, in simple operations: instructions of
// an 8-byte MPI_Send (140) and MPI_Recv with its matching (350), counted by callgrind.
constexpr std::uint64_t kSendOps = 140;
constexpr std::uint64_t kMatchOps = 350;

}  // namespace fairlead::mpi
