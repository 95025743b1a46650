#include "fairlead/systems/mpi/neighbours.h"

#include <numeric>

namespace fairlead::mpi {
namespace {

Neighbours neighbours_in_grid(const Cartesian& grid, int rank) {
  Neighbours made;
  std::vector<int> place = grid.coordinates(rank);
  for (int i = 0; i < grid.dimensions(); ++i) {
    int& at = place[static_cast<std::size_t>(i)];
    for (const int by : {-1, 1}) {
      at += by;
      made.sources.push_back(grid.rank(place.data()));
      at -= by;
    }
    made.order.push_back(2 * i + 1);
    made.order.push_back(2 * i);
  }
  made.destinations = made.sources;
  return made;
}

}  // namespace

Neighbours neighbours_of(const Comm& comm) {
  if (comm.cartesian != nullptr) return neighbours_in_grid(*comm.cartesian, comm.rank);
  const Graph& graph = *comm.graph;
  Neighbours made;
  if (graph.is_distributed) {
    made.sources = graph.sources;
    made.destinations = graph.destinations;
  } else {
    made.sources = graph.neighbors(comm.rank);
    made.destinations = made.sources;
  }
  made.order.resize(made.destinations.size());
  std::iota(made.order.begin(), made.order.end(), 0);
  return made;
}

}  // namespace fairlead::mpi
