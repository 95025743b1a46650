#include "fairlead/systems/mpi/collectives/nodes.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace fairlead::mpi {

CommNodes::CommNodes(std::span<const std::uint32_t> node_of, int rank)
    : map_(node_of), own_(this->node_of(rank)), own_place_(place_of(rank)) {
  for (Peer node = 0; node < map_.count(); ++node) {
    const std::span<const Rank> members = map_.ranks_of(node);
    leaders_.push_back(members.front());
    begins_.push_back(static_cast<int>(by_node_.size()));
    by_node_.insert(by_node_.end(), members.begin(), members.end());
  }
  in_rank_order_ = std::is_sorted(by_node_.begin(), by_node_.end());
}

const CommNodes* settle_nodes(Process& process, Comm& comm) {
  comm.nodes_settled = true;
  if (comm.size <= 2) return nullptr;
  const run::Context& context = process.context();
  // Nodes are numbered from 0: with that number there are as many as ranks, and nobody need ask for
  // each member.
  const auto last = static_cast<Rank>(process.world().size - 1);
  if (context.node_of(last) == last) return nullptr;
  std::vector<std::uint32_t> node_of(static_cast<std::size_t>(comm.size));
  for (int r = 0; r < comm.size; ++r) {
    node_of[static_cast<std::size_t>(r)] = context.node_of(comm.job_rank(r));
  }
  auto made = std::make_shared<const CommNodes>(node_of, comm.rank);
  if (made->count() > 1 && made->count() < comm.size) comm.nodes = std::move(made);
  return comm.nodes.get();
}

}  // namespace fairlead::mpi
