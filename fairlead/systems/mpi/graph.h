// Graph topologies: of MPI_Graph_create, whose every member knows the whole graph, and distributed
// ones, of which a member knows its own neighbors.
#pragma once
#include <cstddef>
#include <vector>

namespace fairlead::mpi {

struct Graph {
  bool is_distributed = false;

  // Whole: the neighbors of rank r are edges[index[r - 1]] .. edges[index[r]] (from 0 for rank 0).
  std::vector<int> index;
  std::vector<int> edges;

  // Distributed: this member's edges. The order of those between two members, where there are
  // several, is the same at both.
  std::vector<int> sources;
  std::vector<int> destinations;
  bool is_weighted = false;
  std::vector<int> source_weights;
  std::vector<int> destination_weights;

  // The neighbors of a member of a whole graph (not of a distributed one).
  std::vector<int> neighbors(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {edges.begin() + (rank == 0 ? 0 : index[r - 1]), edges.begin() + index[r]};
  }
};

}  // namespace fairlead::mpi
