// Graph topologies that every member knows whole.
#include <algorithm>
#include <memory>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/comm_making.h"
#include "fairlead/systems/mpi/graph_arguments.h"

namespace fairlead::mpi::api {
namespace {

// Reads the arguments of MPI_Graph_create and MPI_Graph_map.
int read_graph(const Call& call, const Comm& comm, int nnodes, const int* index, const int* edges,
               Graph* graph) {
  if (nnodes < 0 || nnodes > comm.size || (nnodes > 0 && index == nullptr)) {
    return call.fail(&comm, MPI_ERR_ARG,
                     fmt::format("nnodes is {}, or indx a null pointer; it is at most the {} ranks",
                                 nnodes, comm.size));
  }
  int before = 0;
  for (int i = 0; i < nnodes; ++i) {
    if (index[i] < before) {
      return call.fail(&comm, MPI_ERR_ARG,
                       fmt::format("indx[{}] is {}, less than the one before", i, index[i]));
    }
    before = index[i];
  }
  if (before > 0 && edges == nullptr) return call.check_output(&comm, edges, "edges");
  for (int i = 0; i < before; ++i) {
    if (edges[i] >= 0 && edges[i] < nnodes) continue;
    return call.fail(
        &comm, MPI_ERR_ARG,
        fmt::format("edges[{}] is {}, but the nodes are 0 to {}", i, edges[i], nnodes - 1));
  }
  graph->index.assign(index, index + nnodes);
  graph->edges.assign(edges, edges + before);
  return MPI_SUCCESS;
}

// The neighbors of `rank`, or an error raised.
int neighbors_of(const Call& call, const FoundGraph& of, int rank, std::vector<int>* neighbors) {
  if (rank < 0 || rank >= of.comm->size) {
    return call.fail(of.comm, MPI_ERR_RANK,
                     fmt::format("rank is {}, but the ranks are 0 to {}", rank, of.comm->size - 1));
  }
  *neighbors = of.graph->neighbors(rank);
  return MPI_SUCCESS;
}

// Copies what there is room for.
int give(const Call& call, const Comm* comm, const std::vector<int>& from, int room, int* to,
         const char* which) {
  const auto count = std::min(static_cast<std::size_t>(std::max(room, 0)), from.size());
  if (count > 0) {
    if (const int error = call.check_output(comm, to, which)) return error;
  }
  std::copy_n(from.begin(), count, to);
  return MPI_SUCCESS;
}

}  // namespace

int graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int,
                 MPI_Comm* comm_graph) {
  const Call call("MPI_Graph_create");
  Comm* const parent = call.process().find(comm_old);
  if (parent == nullptr) return call.check_comm(comm_old);
  if (const int error = check_no_intercomm(call, *parent)) return error;
  if (const int error = call.check_output(parent, comm_graph, "comm_graph")) return error;
  auto graph = std::make_shared<Graph>();
  if (const int error = read_graph(call, *parent, nnodes, indx, edges, graph.get())) return error;
  const int color = parent->rank < nnodes ? 0 : MPI_UNDEFINED;
  const MadeComm made = split_comm(call, *parent, CollectiveKind::graph_create, color, parent->rank,
                                   fmt::format("a graph of {}", parent->name));
  if (made.comm != nullptr) made.comm->graph = std::move(graph);
  if (made.error == MPI_SUCCESS) *comm_graph = Process::handle_or_null(made.comm);
  return made.error;
}

// Ranks are not reordered.
int graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  const Call call("MPI_Graph_map");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = check_no_intercomm(call, *found)) return error;
  if (const int error = call.check_output(found, newrank, "newrank")) return error;
  Graph graph;
  if (const int error = read_graph(call, *found, nnodes, indx, edges, &graph)) return error;
  *newrank = found->rank < nnodes ? found->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  const Call call("MPI_Graphdims_get");
  const FoundGraph of = find_graph(call, comm, false);
  if (of.graph == nullptr) return of.error;
  if (const int error = call.check_output(of.comm, nnodes, "nnodes")) return error;
  if (const int error = call.check_output(of.comm, nedges, "nedges")) return error;
  *nnodes = static_cast<int>(of.graph->index.size());
  *nedges = static_cast<int>(of.graph->edges.size());
  return MPI_SUCCESS;
}

int graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
  const Call call("MPI_Graph_get");
  const FoundGraph of = find_graph(call, comm, false);
  if (of.graph == nullptr) return of.error;
  if (const int error = give(call, of.comm, of.graph->index, maxindex, indx, "indx")) return error;
  return give(call, of.comm, of.graph->edges, maxedges, edges, "edges");
}

int graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  const Call call("MPI_Graph_neighbors_count");
  const FoundGraph of = find_graph(call, comm, false);
  if (of.graph == nullptr) return of.error;
  if (const int error = call.check_output(of.comm, nneighbors, "nneighbors")) return error;
  std::vector<int> all;
  if (const int error = neighbors_of(call, of, rank, &all)) return error;
  *nneighbors = static_cast<int>(all.size());
  return MPI_SUCCESS;
}

int graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  const Call call("MPI_Graph_neighbors");
  const FoundGraph of = find_graph(call, comm, false);
  if (of.graph == nullptr) return of.error;
  std::vector<int> all;
  if (const int error = neighbors_of(call, of, rank, &all)) return error;
  return give(call, of.comm, all, maxneighbors, neighbors, "neighbors");
}

}  // namespace fairlead::mpi::api
