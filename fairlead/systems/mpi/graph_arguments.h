// The communicator of a call on graph topologies, checked.
#pragma once
#include "fairlead/systems/mpi/call.h"

namespace fairlead::mpi {

// `graph` nullptr: an error was raised.
struct FoundGraph {
  const Comm* comm = nullptr;
  const Graph* graph = nullptr;
  int error = MPI_SUCCESS;
};

inline FoundGraph find_graph(const Call& call, MPI_Comm handle, bool is_distributed) {
  const Comm* const comm = call.process().find(handle);
  if (comm == nullptr) return {nullptr, nullptr, call.check_comm(handle)};
  const Graph* const graph = comm->graph.get();
  if (graph != nullptr && graph->is_distributed == is_distributed) {
    return {comm, graph, MPI_SUCCESS};
  }
  return {
      comm, nullptr,
      call.fail(comm, MPI_ERR_TOPOLOGY,
                is_distributed ? "comm was not made by MPI_Dist_graph_create or _create_adjacent"
                               : "comm was not made by MPI_Graph_create")};
}

}  // namespace fairlead::mpi
