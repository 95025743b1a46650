#include "fairlead/systems/mpi/collectives/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "fairlead/systems/mpi/collectives/group_call.h"
#include "fairlead/systems/mpi/collectives/network.h"
#include "fairlead/systems/mpi/collectives/nodes.h"
#include "fairlead/systems/mpi/watch/options.h"

namespace fairlead::mpi {
namespace {

constexpr std::pair<Collective, const char*> kCollectives[] = {
    {Collective::barrier, "MPI_Barrier"},
    {Collective::bcast, "MPI_Bcast"},
    {Collective::reduce, "MPI_Reduce"},
    {Collective::allreduce, "MPI_Allreduce"},
    {Collective::gather, "MPI_Gather"},
    {Collective::scatter, "MPI_Scatter"},
    {Collective::allgather, "MPI_Allgather"},
    {Collective::alltoall, "MPI_Alltoall"},
    {Collective::reduce_scatter, "MPI_Reduce_scatter"},
    {Collective::scan, "MPI_Scan"}};

// Every number of choose.h and board.h that sizes are compared with.
constexpr std::uint64_t kBounds[] = {
    kBoardBytes,          kBcastSplitBytes,         kMulticastBytes,
    kDirectBcastBytesMin, kDirectBcastBytesMax,     kNetworkReductionBytes,
    kNetworkResultBytes,  kAllreduceRingBytes,      kAllreduceRingPieceBytes,
    kTreeBlockBytes,      kLargeReductionPartBytes, kReduceScatterPairsBytes,
    kAllgatherBruckBytes, kAlltoallBruckBlockBytes};

const char* text_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::nothing:
      return "nothing to do";
    case Algorithm::board:
      return "a cache line each in shared memory";
    case Algorithm::direct:
      return "all read the root's memory";
    case Algorithm::parts:
      return "each combines a part in shared memory";
    case Algorithm::network:
      return "by the network";
    case Algorithm::network_result:
      return "tree of hosts, result by the network";
    case Algorithm::multicast:
      return "one message to all";
    case Algorithm::binomial:
      return "binomial tree";
    case Algorithm::binary:
      return "binary tree";
    case Algorithm::split:
      return "scatter, then ring";
    case Algorithm::ring:
      return "ring";
    case Algorithm::doubling:
      return "recursive doubling";
    case Algorithm::bruck:
      return "Bruck";
    case Algorithm::pairwise:
      return "pairwise exchange";
    case Algorithm::straight:
      return "straight";
    case Algorithm::dissemination:
      return "dissemination";
    case Algorithm::reduce_bcast:
      return "reduction to one, then broadcast";
    case Algorithm::reduce_scatter:
      return "reduction to one, then its parts";
    case Algorithm::levels:
      return "in each node, and between nodes";
    case Algorithm::node_split:
      return "scatter, then ring from node to node";
    case Algorithm::node_ring:
      return "ring from node to node";
  }
  return "";
}

std::string sizes_of(const AlgorithmRow& row) {
  if (row.last == AlgorithmRow::kEnd) return fmt::format("{} and more", row.first);
  return fmt::format("{} to {}", row.first, row.last);
}

std::string offers_of(const CollectivePlace& place) {
  std::string text;
  const auto add = [&](bool has, const char* what) {
    if (has) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(place.board, "memory that all map");
  add(place.copies, "copies between processes");
  add(place.network_meets, "barriers by the network");
  add(place.network_broadcasts, "broadcasts by the network");
  add(place.network_reduces, "reductions by the network");
  add(place.multicasts, "messages to all");
  return text.empty() ? "messages" : "messages, " + text;
}

std::string nodes_text(NodeSpread spread) {
  if (!spread.several()) return "";
  return fmt::format(" on {} nodes{}", spread.nodes, spread.in_order ? "" : ", not node by node");
}

}  // namespace

std::vector<AlgorithmRow> rows_of(Collective collective, const CollectivePlace& place) {
  const auto ranks = static_cast<std::uint64_t>(place.ranks);
  // A choice can only change here: a bound is that of a size, of a size a rank, or of all ranks'.
  std::vector<std::uint64_t> firsts = {1};
  for (const std::uint64_t bound : kBounds) {
    for (const std::uint64_t size : {bound, bound * ranks, bound / ranks}) {
      firsts.push_back(std::max<std::uint64_t>(size, 1));
      firsts.push_back(size + 1);
    }
  }
  std::sort(firsts.begin(), firsts.end());
  std::vector<AlgorithmRow> rows;
  for (const std::uint64_t first : firsts) {
    const Algorithm algorithm = choose(collective, first, place);
    if (!rows.empty() && rows.back().algorithm == algorithm) continue;
    if (!rows.empty()) rows.back().last = first - 1;
    rows.push_back({first, AlgorithmRow::kEnd, algorithm});
  }
  return rows;
}

std::string explanation_of(const CollectivePlace& place) {
  std::string text = fmt::format("algorithms of collectives, {} ranks{}; the place has {}\n",
                                 place.ranks, nodes_text(place.spread), offers_of(place));
  if (place.ranks == 1) return text;
  text += fmt::format("{:<18}  {:>19}  {}\n", "call", "bytes", "algorithm");
  for (const auto& [collective, name] : kCollectives) {
    if (collective == Collective::barrier) {
      text += fmt::format("{:<18}  {:>19}  {}\n", name, "", text_of(choose(collective, 0, place)));
      continue;
    }
    const char* shown = name;
    for (const AlgorithmRow& row : rows_of(collective, place)) {
      text += fmt::format("{:<18}  {:>19}  {}\n", shown, sizes_of(row), text_of(row.algorithm));
      shown = "";
    }
  }
  return text;
}

CollectivePlace place_of(Process& process) {
  Comm& world = process.world();
  Engine& engine = process.engine();
  CollectivePlace place;
  place.ranks = world.size;
  place.way = process.bcast_way;
  if (place.ranks == 1) return place;
  place.spread = spread_of(nodes_of(process, world));
  place.multicasts = multicasts(process, world);
  if (world.board_settled) {
    place.board = world.board != nullptr;
    place.copies = place.board && world.board_copies;
  } else if (world.size <= kBoardRanks) {
    std::uint64_t flags = ~std::uint64_t{0};
    for (int r = 0; r < world.size; ++r) {
      if (r != world.rank) flags &= engine.flags(world.job_rank(r));
    }
    place.board = (flags & lci::kMappable) != 0;
    place.copies =
        place.board && (flags & lci::kSingleCopy) != 0 && engine.choice().permits_single_copy();
  }
  if (world.network != nullptr && world.network->members != nullptr) {
    const elan::Members& members = *world.network->members;
    place.network_meets = members.meets();
    place.network_broadcasts = members.broadcasts();
    place.network_reduces = members.reduces(ReduceOp::sum, ReduceType::int32);
  }
  return place;
}

void explain_collectives(Process& process) {
  if (process.world().rank != 0) return;
  const char* const told = std::getenv(WatchOptions::kExplainVariable);
  if (told == nullptr || *told == '\0') return;
  std::fputs(explanation_of(place_of(process)).c_str(), stderr);
}

}  // namespace fairlead::mpi
