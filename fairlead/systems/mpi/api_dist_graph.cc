// Graph topologies of which each member knows its own edges.
#include <algorithm>
#include <memory>
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/comm_making.h"
#include "fairlead/systems/mpi/graph_arguments.h"

namespace fairlead::mpi::api {
namespace {

// An edge as it travels to its two ends.
struct Edge {
  std::int32_t source;
  std::int32_t destination;
  std::int32_t weight;
};

// Ranks and weights of so many edges; an error is raised.
int check_ends(const Call& call, const Comm& comm, int count, const int* ranks, const int* weights,
               const char* which) {
  if (count < 0) {
    return call.fail(&comm, MPI_ERR_ARG, fmt::format("the number of {} is {}", which, count));
  }
  const bool is_weighted = weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
  if (count > 0 && (ranks == nullptr || weights == nullptr || weights == MPI_WEIGHTS_EMPTY)) {
    return call.fail(&comm, MPI_ERR_ARG,
                     fmt::format("{} or their weights are a null pointer, or MPI_WEIGHTS_EMPTY, "
                                 "but there are {}",
                                 which, count));
  }
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0 || ranks[i] >= comm.size) {
      return call.fail(&comm, MPI_ERR_RANK,
                       fmt::format("{}[{}] is {}, but the ranks are 0 to {}", which, i, ranks[i],
                                   comm.size - 1));
    }
    if (is_weighted && weights[i] < 0) {
      return call.fail(&comm, MPI_ERR_ARG,
                       fmt::format("the weight of {}[{}] is {}", which, i, weights[i]));
    }
  }
  return MPI_SUCCESS;
}

int check_info(const Call& call, const Comm& comm, MPI_Info info) {
  if (is_info(info)) return MPI_SUCCESS;
  return call.fail(&comm, MPI_ERR_INFO, "info is no info object, or was freed");
}

// The edges that MPI_Dist_graph_create is given by this member.
int read_edges(const Call& call, const Comm& comm, int n, const int* sources, const int* degrees,
               const int* destinations, const int* weights, std::vector<Edge>* edges) {
  if (n < 0) return call.fail(&comm, MPI_ERR_COUNT, fmt::format("n is {}", n));
  if (n > 0 && (sources == nullptr || degrees == nullptr)) {
    return call.fail(&comm, MPI_ERR_ARG, "sources or degrees is a null pointer");
  }
  if (const int error = check_ends(call, comm, n, sources, MPI_UNWEIGHTED, "sources")) return error;
  int all = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) {
      return call.fail(&comm, MPI_ERR_ARG, fmt::format("degrees[{}] is {}", i, degrees[i]));
    }
    all += degrees[i];
  }
  if (const int error = check_ends(call, comm, all, destinations, weights, "destinations")) {
    return error;
  }
  int next = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < degrees[i]; ++j, ++next) {
      const int weight = weights == MPI_UNWEIGHTED ? 0 : weights[next];
      edges->push_back({sources[i], destinations[next], weight});
    }
  }
  return MPI_SUCCESS;
}

// Sends each edge to the rank that `end` tells. Answers those for this member, by who gave them and
// then in the order in which they were given: the same at both ends.
template <class End>
std::vector<Edge> hand_out(const Call& call, Comm& comm, const std::vector<Edge>& edges,
                           End&& end) {
  const auto size = static_cast<std::size_t>(comm.size);
  std::vector<MPI_Count> out(size), in(size), out_at(size), in_at(size);
  for (const Edge& each : edges) ++out[static_cast<std::size_t>(end(each))];
  alltoall(call.process(), comm, call.name(), out.data(), in.data(), sizeof out[0]);
  MPI_Count total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    out_at[i] = i == 0 ? 0 : out_at[i - 1] + out[i - 1];
    in_at[i] = total;
    total += in[i];
  }
  std::vector<Edge> sorted(edges.size());
  std::vector<MPI_Count> next = out_at;
  for (const Edge& each : edges) {
    sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(end(each))]++)] = each;
  }
  std::vector<Edge> received(static_cast<std::size_t>(total));
  for (std::size_t i = 0; i < size; ++i) {
    constexpr auto kBytes = static_cast<MPI_Count>(sizeof(Edge));
    for (std::vector<MPI_Count>* each : {&out, &in, &out_at, &in_at}) (*each)[i] *= kBytes;
  }
  const Blocks from(sorted.data(), Counts(out.data()), Counts(out_at.data()), MPI_BYTE);
  const Blocks to(received.data(), Counts(in.data()), Counts(in_at.data()), MPI_BYTE);
  alltoallv(call.process(), comm, CollectiveKind::alltoallv, call.name(), &from, to);
  return received;
}

// Has the members of `parent` in their order.
int make(const Call& call, Comm& parent, std::shared_ptr<Graph> graph, MPI_Comm* handle) {
  graph->is_distributed = true;
  const MadeComm made = split_comm(call, parent, CollectiveKind::dist_graph_create, 0, parent.rank,
                                   fmt::format("a distributed graph of {}", parent.name));
  if (made.error != MPI_SUCCESS) return made.error;
  made.comm->graph = std::move(graph);
  *handle = Process::handle_of(made.comm);
  return MPI_SUCCESS;
}

int give(const Call& call, const Comm* comm, const std::vector<int>& ranks,
         const std::vector<int>& weights, int room, int* to, int* weights_to, const char* which) {
  const auto count = std::min(static_cast<std::size_t>(std::max(room, 0)), ranks.size());
  if (count == 0) return MPI_SUCCESS;
  if (const int error = call.check_output(comm, to, which)) return error;
  std::copy_n(ranks.begin(), count, to);
  if (weights.empty() || weights_to == MPI_UNWEIGHTED || weights_to == MPI_WEIGHTS_EMPTY) {
    return MPI_SUCCESS;
  }
  if (const int error = call.check_output(comm, weights_to, which)) return error;
  std::copy_n(weights.begin(), count, weights_to);
  return MPI_SUCCESS;
}

}  // namespace

// Ranks are not reordered. All members learn that one has wrong arguments.
int dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                               const int sourceweights[], int outdegree, const int destinations[],
                               const int destweights[], MPI_Info info, int,
                               MPI_Comm* comm_dist_graph) {
  const Call call("MPI_Dist_graph_create_adjacent");
  Comm* const parent = call.process().find(comm_old);
  if (parent == nullptr) return call.check_comm(comm_old);
  if (const int error = check_no_intercomm(call, *parent)) return error;
  int own = call.check_output(parent, comm_dist_graph, "comm_dist_graph");
  if (own == 0) own = check_info(call, *parent, info);
  if (own == 0) own = check_ends(call, *parent, indegree, sources, sourceweights, "sources");
  if (own == 0) {
    own = check_ends(call, *parent, outdegree, destinations, destweights, "destinations");
  }
  if (const int error = agree_on_error(call, *parent, own)) return error;
  auto graph = std::make_shared<Graph>();
  graph->sources.assign(sources, sources + indegree);
  graph->destinations.assign(destinations, destinations + outdegree);
  graph->is_weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
  if (graph->is_weighted && indegree > 0) {
    graph->source_weights.assign(sourceweights, sourceweights + indegree);
  }
  if (graph->is_weighted && outdegree > 0) {
    graph->destination_weights.assign(destweights, destweights + outdegree);
  }
  return make(call, *parent, std::move(graph), comm_dist_graph);
}

int dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int,
                      MPI_Comm* comm_dist_graph) {
  const Call call("MPI_Dist_graph_create");
  Comm* const parent = call.process().find(comm_old);
  if (parent == nullptr) return call.check_comm(comm_old);
  if (const int error = check_no_intercomm(call, *parent)) return error;
  std::vector<Edge> edges;
  int own = call.check_output(parent, comm_dist_graph, "comm_dist_graph");
  if (own == 0) own = check_info(call, *parent, info);
  if (own == 0) {
    own = read_edges(call, *parent, n, sources, degrees, destinations, weights, &edges);
  }
  if (const int error = agree_on_error(call, *parent, own)) return error;
  auto graph = std::make_shared<Graph>();
  graph->is_weighted = weights != MPI_UNWEIGHTED;
  for (const Edge& each : hand_out(call, *parent, edges, [](const Edge& e) { return e.source; })) {
    graph->destinations.push_back(each.destination);
    if (graph->is_weighted) graph->destination_weights.push_back(each.weight);
  }
  const auto to_destination = [](const Edge& e) { return e.destination; };
  for (const Edge& each : hand_out(call, *parent, edges, to_destination)) {
    graph->sources.push_back(each.source);
    if (graph->is_weighted) graph->source_weights.push_back(each.weight);
  }
  return make(call, *parent, std::move(graph), comm_dist_graph);
}

int dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  const Call call("MPI_Dist_graph_neighbors_count");
  const FoundGraph of = find_graph(call, comm, true);
  if (of.graph == nullptr) return of.error;
  if (const int error = call.check_output(of.comm, indegree, "indegree")) return error;
  if (const int error = call.check_output(of.comm, outdegree, "outdegree")) return error;
  if (const int error = call.check_output(of.comm, weighted, "weighted")) return error;
  *indegree = static_cast<int>(of.graph->sources.size());
  *outdegree = static_cast<int>(of.graph->destinations.size());
  *weighted = of.graph->is_weighted ? 1 : 0;
  return MPI_SUCCESS;
}

int dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                         int maxoutdegree, int destinations[], int destweights[]) {
  const Call call("MPI_Dist_graph_neighbors");
  const FoundGraph of = find_graph(call, comm, true);
  if (of.graph == nullptr) return of.error;
  const Graph& graph = *of.graph;
  if (const int error = give(call, of.comm, graph.sources, graph.source_weights, maxindegree,
                             sources, sourceweights, "sources")) {
    return error;
  }
  return give(call, of.comm, graph.destinations, graph.destination_weights, maxoutdegree,
              destinations, destweights, "destinations");
}

}  // namespace fairlead::mpi::api
