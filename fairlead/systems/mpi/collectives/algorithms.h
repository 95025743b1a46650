// The table of the collectives' algorithms: which one serves which size at which number of ranks
// and at what kind of place. choose.h has the numbers, with what each was measured by; here is how
// they are combined. The calls take their choices from these functions, and explain.h prints them.
//
// All are functions of what every member knows alike (sizes, number of members, what the members
// agreed on), so that every rank answers the same. Sizes are bytes: the message of a broadcast, the
// whole vector of a reduction, one rank's block of the others. They cost a few comparisons.
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/choose.h"
#include "fairlead/systems/mpi/job_options.h"

namespace fairlead::mpi {

enum class Algorithm : std::uint8_t {
  nothing,         // one member
  board,           // a cache line each, in memory that all map (board.h)
  direct,          // all read it where the root has it (direct_call.h)
  parts,           // each member combines a part, without messages (reduce_without_messages.h)
  network,         // the network or its interfaces do it (by_network.h)
  network_result,  // a tree of hosts combines, the network brings the result to all
  multicast,       // one message to all
  binomial,        // messages along a binomial tree
  binary,          // messages along a binary tree
  split,           // scattered along a binomial tree, then gathered around a ring
  ring,            // around a ring, in as many steps as members
  doubling,        // recursive doubling
  bruck,           // Bruck's
  pairwise,        // one exchange with every other member
  straight,        // root and member without others between them
  dissemination,   // a barrier in log2(P) rounds
  reduce_bcast,    // a reduction to one member, then a broadcast as the user told
  reduce_scatter,  // a reduction to one member, which sends the parts
  levels,          // in each node, and between one member of each (nodes.h)
  node_split,      // as split, with the ring from node to node
  node_ring,       // as ring, from node to node
};

enum class Collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce_scatter,
  scan,
};

// How the members are spread over nodes (nodes.h).
struct NodeSpread {
  int nodes = 1;         // 1 also where each member has a node of its own
  bool in_order = true;  // the members of a node follow each other

  constexpr bool several() const { return nodes > 1; }
};

// What the members of a communicator can do where they are.
struct CollectivePlace {
  int ranks = 1;
  NodeSpread spread;
  BcastWay way = BcastWay::automatic;
  bool board = false;               // they have one (Comm::board)
  bool copies = false;              // and read each other's memory (Comm::board_copies)
  bool network_meets = false;       // as elan::Members says
  bool network_broadcasts = false;  // likewise
  bool network_reduces = false;     // likewise, the operation in question
  bool multicasts = false;          // a message to all reaches them (group_call.h)
  bool commutes = true;             // the operation does
};

// What goes before messages, where the place offers it.
constexpr bool asks_network(int ranks, BcastWay way) {
  return ranks >= kNetworkRanks && way == BcastWay::automatic;
}
constexpr bool network_reduces(std::uint64_t bytes) { return bytes <= kNetworkReductionBytes; }
constexpr bool network_brings_result(std::uint64_t bytes) { return bytes <= kNetworkResultBytes; }
constexpr bool enters_board(std::uint64_t bytes) { return bytes <= kBoardBytes; }
constexpr bool reads_at_root(std::uint64_t bytes, int ranks) {
  return ranks >= kDirectBcastRanks && bytes >= kDirectBcastBytesMin &&
         bytes <= kDirectBcastBytesMax;
}
constexpr bool reduces_in_parts(std::uint64_t bytes, int ranks) {
  return ranks >= 2 && bytes / static_cast<std::uint64_t>(ranks) >= kLargeReductionPartBytes;
}

// Whether a broadcast of so many bytes goes by one message to all, where that reaches them.
constexpr bool goes_to_all(std::uint64_t bytes, BcastWay way) {
  return bytes <= kMulticastBytes || way != BcastWay::automatic;
}

// Whether operands combined in each node and then from node to node are in an order that will do.
constexpr bool combines_in_levels(BcastWay way, bool commutes, NodeSpread spread) {
  return spread.several() && way == BcastWay::automatic && (commutes || spread.in_order);
}

// By messages, of several members. `multicasts`: as CollectivePlace, asked where goes_to_all().
// A part of a communicator (subgroup.h) has no spread.
constexpr Algorithm barrier_by_messages(bool finalize, int ranks, NodeSpread spread) {
  if (spread.several()) return Algorithm::levels;
  return finalize && ranks >= kTreeFinalizeRanks ? Algorithm::binomial : Algorithm::dissemination;
}
constexpr Algorithm choose_bcast(std::uint64_t bytes, int ranks, BcastWay way, bool multicasts,
                                 NodeSpread spread) {
  if (multicasts && goes_to_all(bytes, way)) return Algorithm::multicast;
  if (way == BcastWay::binary) return Algorithm::binary;
  if (way != BcastWay::automatic) return Algorithm::binomial;
  if (bytes < kBcastSplitBytes || ranks < kBcastSplitRanks) {
    return spread.several() ? Algorithm::levels : Algorithm::binomial;
  }
  return spread.in_order ? Algorithm::split : Algorithm::node_split;
}
constexpr Algorithm choose_reduce(BcastWay way, bool commutes, NodeSpread spread) {
  return combines_in_levels(way, commutes, spread) ? Algorithm::levels : Algorithm::binomial;
}
constexpr Algorithm choose_allreduce(std::uint64_t bytes, int ranks, BcastWay way, bool commutes,
                                     NodeSpread spread) {
  if (way != BcastWay::automatic) return Algorithm::reduce_bcast;
  const std::uint64_t piece = bytes / static_cast<std::uint64_t>(ranks);
  const bool ring = bytes >= kAllreduceRingBytes && piece >= kAllreduceRingPieceBytes && commutes;
  if (!ring) {
    return combines_in_levels(way, commutes, spread) ? Algorithm::levels : Algorithm::doubling;
  }
  return spread.in_order ? Algorithm::ring : Algorithm::node_ring;
}
constexpr Algorithm choose_reduce_scatter(std::uint64_t bytes, int ranks, bool commutes) {
  const std::uint64_t average = bytes / static_cast<std::uint64_t>(ranks);
  const bool pays = average >= kReduceScatterPairsBytes || ranks == 2;
  return commutes && pays ? Algorithm::pairwise : Algorithm::reduce_scatter;
}
// Gather, and scatter the other way.
constexpr Algorithm choose_gather(std::uint64_t block, int ranks, NodeSpread spread) {
  if (block == 0 || block > kTreeBlockBytes || ranks < kTreeRanks) return Algorithm::straight;
  return spread.several() ? Algorithm::levels : Algorithm::binomial;
}
constexpr Algorithm choose_allgather(std::uint64_t block, int ranks, NodeSpread spread) {
  const std::uint64_t total = block * static_cast<std::uint64_t>(ranks);
  if (block != 0 && total <= kAllgatherBruckBytes) {
    return spread.several() ? Algorithm::levels : Algorithm::bruck;
  }
  return spread.in_order ? Algorithm::ring : Algorithm::node_ring;
}
// Not in place: that is pairwise whatever the size.
constexpr Algorithm choose_alltoall(std::uint64_t block, int ranks) {
  return block != 0 && block <= kAlltoallBruckBlockBytes && ranks >= kAlltoallBruckRanks
             ? Algorithm::bruck
             : Algorithm::pairwise;
}

// The algorithm of a blocking collective of `bytes`, in the order in which the calls try the ways.
// Those that do not block, or are persistent, are schedules of messages: as at a place without a
// board, a network that does collectives, and multicasts.
constexpr Algorithm choose(Collective collective, std::uint64_t bytes, const CollectivePlace& at) {
  if (at.ranks == 1) return Algorithm::nothing;
  const auto ranks = static_cast<std::uint64_t>(at.ranks);
  const bool told = at.way != BcastWay::automatic;
  const bool network = asks_network(at.ranks, at.way);
  const bool reduced = network && at.network_reduces && bytes != 0 && network_reduces(bytes);
  switch (collective) {
    case Collective::barrier:
      if (at.board) return Algorithm::board;
      return network && at.network_meets ? Algorithm::network
                                         : barrier_by_messages(false, at.ranks, at.spread);
    case Collective::bcast:
      if (network && at.network_broadcasts) return Algorithm::network;
      if (!told && at.board && at.copies && reads_at_root(bytes, at.ranks)) {
        return Algorithm::direct;
      }
      return choose_bcast(bytes, at.ranks, at.way, at.multicasts, at.spread);
    case Collective::reduce:
      if (reduced) return Algorithm::network;
      return at.board && reduces_in_parts(bytes, at.ranks)
                 ? Algorithm::parts
                 : choose_reduce(at.way, at.commutes, at.spread);
    case Collective::allreduce:
      if (reduced) return Algorithm::network;
      if (network && at.network_broadcasts && bytes != 0 && at.commutes &&
          network_brings_result(bytes)) {
        return Algorithm::network_result;
      }
      if (!told && at.board && enters_board(bytes)) return Algorithm::board;
      if (!told && at.board && reduces_in_parts(bytes, at.ranks)) return Algorithm::parts;
      return choose_allreduce(bytes, at.ranks, at.way, at.commutes, at.spread);
    case Collective::gather:
    case Collective::scatter:
      return choose_gather(bytes, at.ranks, at.spread);
    case Collective::allgather:
      return at.board && enters_board(bytes) ? Algorithm::board
                                             : choose_allgather(bytes, at.ranks, at.spread);
    case Collective::alltoall:
      return at.board && enters_board(bytes * ranks) ? Algorithm::board
                                                     : choose_alltoall(bytes, at.ranks);
    case Collective::reduce_scatter:
      if (at.board && enters_board(bytes)) return Algorithm::board;
      return at.copies && reduces_in_parts(bytes, at.ranks)
                 ? Algorithm::parts
                 : choose_reduce_scatter(bytes, at.ranks, at.commutes);
    case Collective::scan:
      if (at.board && enters_board(bytes)) return Algorithm::board;
      return at.copies && reduces_in_parts(bytes, at.ranks) ? Algorithm::parts
                                                            : Algorithm::doubling;
  }
  return Algorithm::nothing;
}

}  // namespace fairlead::mpi
