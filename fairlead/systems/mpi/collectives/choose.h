// Which algorithm serves which size and number of ranks. One table, so that a measurement moves a
// number without a search; every rank computes the same answer from the same arguments.
#pragma once
#include <cstdint>

namespace fairlead::mpi {

// Where several members share a node, collectives in levels (nodes.h) take the place of the
// binomial trees, of recursive doubling, of Bruck's allgather and of dissemination; the algorithms
// of long messages stay. bench/node_collectives.c, 16 ranks on 4 nodes of myrinet-p3, of the flat
// times: barrier 0.61, allreduce of 8 bytes to 8 KiB 0.44 to 0.68, allgather of 1 KiB together
// 0.71, reduce 0.71 to 1, gather and scatter of 128 bytes together 0.62 and 0.52 where ranks are
// dealt out to the nodes (1 where they are in order); but where rings serve, allreduce of 32
// KiB 1.9, allgather of 8 KiB 1.25, and broadcast of 128 KiB 1.3. All-to-alls have no levels:
// blocks of 8 bytes would take 0.67 of the flat time, of 64 bytes 1.15, and on generic-hca all
// sizes twice the time.

// Bcast: a binomial tree sends the whole message log2(P) times one after the other; splitting it
// (scatter, then ring allgather) moves it about twice, in P + log2(P) steps.
constexpr std::uint64_t kBcastSplitBytes = 128 * 1024;
constexpr int kBcastSplitRanks = 4;

// Where the network interfaces forward a message to all, a broadcast to all ranks of a job goes so
// from this number of ranks on, up to these bytes. bench/bcast_to_all.c, PPro with I-pio: 8 bytes
// to 64 ranks take 64 us, by a binomial tree of messages (--mpi-bcast binomial) 95; 64 KiB to 16
// ranks 1.1 ms, and 4.2.
constexpr int kMulticastRanks = 8;
constexpr std::uint64_t kMulticastBytes = 64 * 1024;
// No answer tells the root how many of them lie unread at a member: at one in so many on the
// average all members meet.
constexpr std::uint32_t kMulticastsAhead = 64;

// Where members may read each other's memory, each reads the whole message at the root: 8 ranks on
// 2 processors, 64 KiB 120 to 75 us, 1 MiB 1,330 to 860. Few members are faster as they were, as
// sender and receiver of a message share its copying; so are messages that do not stay in a cache.
constexpr std::uint64_t kDirectBcastBytesMin = 64 * 1024;
constexpr std::uint64_t kDirectBcastBytesMax = 1024 * 1024;
constexpr int kDirectBcastRanks = 4;

// Where the network or its interfaces do collectives (by_network.h): from so many members on. Two
// are a message apart.
constexpr int kNetworkRanks = 3;
// Reductions in the network, and those in a tree of hosts whose result it brings to all.
constexpr std::uint64_t kNetworkReductionBytes = 64 * 1024;
constexpr std::uint64_t kNetworkResultBytes = 4 * 1024;

// The barrier of MPI_Finalize: from so many ranks on, fewer messages matter more than its time.
constexpr int kTreeFinalizeRanks = 256;

// Allreduce: recursive doubling combines the whole vector log2(P) times; a ring combines each byte
// once at each rank but takes 2 (P - 1) steps, so its pieces must be worth a message.
constexpr std::uint64_t kAllreduceRingBytes = 32 * 1024;
constexpr std::uint64_t kAllreduceRingPieceBytes = 1024;
// A piece is combined while it lies in the caches and the next one comes. Two ranks, 1 MiB:
// 220 us, in blocks of 64 KiB 250, of 16 KiB 300.
constexpr std::uint64_t kAllreduceBlockBytes = 512 * 1024;

// Reductions, scans and reduce-scatters without messages: from such parts of a vector on, of which
// each member combines one. Those by the kernel's copies: in blocks that lie in the second-level
// cache.
constexpr std::uint64_t kLargeReductionPartBytes = 16 * 1024;
constexpr std::uint64_t kDirectReductionBlockBytes = 128 * 1024;

// Reduce_scatter: in pairs each rank combines its part with P - 1 others', which must be worth
// their messages; a tree to one rank combines the whole vector log2(P) times and sends the parts.
// Two ranks have one exchange instead of two messages one after the other.
constexpr std::uint64_t kReduceScatterPairsBytes = 1024;  // of an average part

// Gather and scatter: the binomial tree saves messages at the root and copies blocks up to log2(P)
// times; large blocks go straight, and those of so few ranks that it saves none.
constexpr std::uint64_t kTreeBlockBytes = 8 * 1024;
constexpr int kTreeRanks = 3;

// Allgather: Bruck's log2(P) steps need a rotation of the result; the ring needs none.
constexpr std::uint64_t kAllgatherBruckBytes = 4 * 1024;  // of the whole result

// Alltoall: Bruck sends log2(P) messages of half the data each instead of P - 1 blocks.
constexpr std::uint64_t kAlltoallBruckBlockBytes = 256;
constexpr int kAlltoallBruckRanks = 8;

}  // namespace fairlead::mpi
