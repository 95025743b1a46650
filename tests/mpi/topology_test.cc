// Graph topologies, whole and distributed, and neighborhood collectives on them and on grids.
#include <algorithm>
#include <vector>

#include "tests/mpi/forms.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Topologies : PerWorld {};
INSTANTIATE_MPI_TESTS(Topologies);

using Ints = std::vector<int>;

// The edges among five ranks: 0 with 1, 2 and 3; 1 with 0; 2 with 0 and itself; 3 with 0.
MPI_Comm star(MPI_Comm comm) {
  const Ints index{3, 4, 6, 7};
  const Ints edges{1, 2, 3, 0, 0, 2, 0};
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Graph_create(comm, 4, index.data(), edges.data(), 1, &made);
  return made;
}
const std::vector<Ints> kStar{{1, 2, 3}, {0}, {0, 2}, {0}};

TEST_P(Topologies, GraphsAreKnownWhole) {
  run_ranks(GetParam(), 5, [](int rank, int) {
    const MPI_Comm graph = star(MPI_COMM_WORLD);
    if (graph == MPI_COMM_NULL) return MPI_TEST_CHECK(rank == 4, rank, 0);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(graph, &copy);
    bool good = true;
    int kind = 0, nodes = 0, count = 0, place = -1;
    for (const MPI_Comm each : {graph, copy}) {
      MPI_Topo_test(each, &kind);
      good &= MPI_TEST_CHECK(kind == MPI_GRAPH, rank, kind);
      MPI_Graphdims_get(each, &nodes, &count);
      good &= MPI_TEST_CHECK(nodes == 4 && count == 7, rank, count);
    }
    Ints index(4), edges(7), few(2, -1), neighbors(3, -1);
    MPI_Graph_get(graph, 4, 7, index.data(), edges.data());
    good &= MPI_TEST_CHECK((index == Ints{3, 4, 6, 7} && edges[4] == 0), rank, index[1]);
    MPI_Graph_get(graph, 0, 2, nullptr, few.data());
    good &= MPI_TEST_CHECK((few == Ints{1, 2}), rank, few[0]);
    for (int other = 0; other < 4; ++other) {
      MPI_Graph_neighbors_count(graph, other, &count);
      neighbors.assign(3, -1);
      MPI_Graph_neighbors(graph, other, 3, neighbors.data());
      neighbors.resize(static_cast<std::size_t>(count));
      good &= MPI_TEST_CHECK(neighbors == kStar[static_cast<std::size_t>(other)], rank, other);
      neighbors.resize(3);
    }
    const int no_edges[] = {0, 0};
    MPI_Graph_map(graph, 2, no_edges, nullptr, &place);
    good &= MPI_TEST_CHECK(place == (rank < 2 ? rank : MPI_UNDEFINED), rank, place);
    MPI_Comm_free(&copy);
    MPI_Comm made = graph;
    MPI_Comm_free(&made);
    return good;
  });
}

// The distributed graph of this rank's neighbors: who they are, and weights.
struct Known {
  Ints sources, destinations, source_weights, destination_weights;
  int is_weighted = -1;

  explicit Known(MPI_Comm comm) {
    int in = 0, out = 0;
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
    sources.assign(static_cast<std::size_t>(in), -1);
    source_weights = sources;
    destinations.assign(static_cast<std::size_t>(out), -1);
    destination_weights = destinations;
    MPI_Dist_graph_neighbors(comm, in, sources.data(), source_weights.data(), out,
                             destinations.data(), destination_weights.data());
  }
};

// Everybody sends to 0 with weight 10 + rank, and 0 twice to the last.
TEST_P(Topologies, DistributedGraphsAreKnownAtTheirEnds) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    // Rank 1 knows all edges but those of rank 0, which knows its own.
    Ints sources, degrees, destinations, weights;
    if (rank == 0) {
      sources = {0};
      degrees = {2};
      destinations = {size - 1, size - 1};
      weights = {1, 2};
    } else if (rank == 1) {
      for (int r = 1; r < size; ++r) {
        sources.push_back(r);
        degrees.push_back(1);
        destinations.push_back(0);
        weights.push_back(10 + r);
      }
    }
    const auto n = static_cast<int>(sources.size());
    MPI_Comm graph, plain, adjacent;
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources.data(), degrees.data(), destinations.data(),
                          n > 0 ? weights.data() : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources.data(), degrees.data(), destinations.data(),
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &plain);
    const Known of(graph);
    const bool last = rank == size - 1;
    bool good = MPI_TEST_CHECK(of.is_weighted == 1, rank, of.is_weighted);
    good &= MPI_TEST_CHECK(of.sources == (rank == 0 ? Ints{1, 2, 3}
                                          : last    ? Ints{0, 0}
                                                    : Ints{}),
                           rank, 0);
    good &= MPI_TEST_CHECK(of.source_weights == (rank == 0 ? Ints{11, 12, 13}
                                                 : last    ? Ints{1, 2}
                                                           : Ints{}),
                           rank, 0);
    good &= MPI_TEST_CHECK(of.destinations == (rank == 0 ? Ints{3, 3} : Ints{0}), rank, 0);
    good &= MPI_TEST_CHECK(of.destination_weights == (rank == 0 ? Ints{1, 2} : Ints{10 + rank}),
                           rank, 0);
    const Known without(plain);
    good &= MPI_TEST_CHECK(without.is_weighted == 0 && without.sources == of.sources, rank, 0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(of.sources.size()),
                                   of.sources.data(), of.source_weights.data(),
                                   static_cast<int>(of.destinations.size()), of.destinations.data(),
                                   of.destination_weights.data(), MPI_INFO_NULL, 0, &adjacent);
    const Known again(adjacent);
    good &= MPI_TEST_CHECK(again.sources == of.sources, rank, 0);
    good &= MPI_TEST_CHECK(again.destination_weights == of.destination_weights, rank, 0);
    int kind = 0;
    MPI_Topo_test(adjacent, &kind);
    good &= MPI_TEST_CHECK(kind == MPI_DIST_GRAPH, rank, kind);
    // Expect: the two messages of 0 to the last in their order.
    for (int form = 0; form < kForms; ++form) {
      const Ints out{100 * rank, 100 * rank + 1};
      Ints in(3, -1);
      MPI_TEST_FORM(form, Neighbor_alltoall, neighbor_alltoall, out.data(), 1, MPI_INT, in.data(),
                    1, MPI_INT, graph);
      const Ints expected = rank == 0 ? Ints{100, 200, 300} : last ? Ints{0, 1, -1} : Ints(3, -1);
      good &= MPI_TEST_CHECK(in == expected, rank, in[0]);
    }
    for (MPI_Comm* each : {&graph, &plain, &adjacent}) MPI_Comm_free(each);
    return good;
  });
}

// Every call of the family on `comm`, whose blocks come from `sources`: rank `r` sends 1000 r + 10
// k to its neighbor k, and the block of source i is its neighbor's of number `slot[i]`.
bool all_calls(MPI_Comm comm, int form, const Ints& sources, const Ints& slots, int degree) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  const std::size_t count = sources.size();
  const auto out_count = static_cast<std::size_t>(degree);
  Ints out(2 * out_count), expected(2 * count), gathered(2 * count);
  for (std::size_t k = 0; k < 2 * out_count; ++k) out[k] = 1000 * rank + 5 * static_cast<int>(k);
  for (std::size_t i = 0; i < 2 * count; ++i) {
    const bool nobody = sources[i / 2] == MPI_PROC_NULL;
    expected[i] = nobody ? -1 : 1000 * sources[i / 2] + 10 * slots[i / 2] + 5 * (i % 2 != 0);
    gathered[i] = nobody ? -1 : 1000 * sources[i / 2] + 5 * (i % 2 != 0);
  }
  const Ints empty(2 * count, -1);
  Ints in = empty;
  bool good = true;
  const auto expect = [&](const Ints& answer, const char* what) {
    good &= check(in == answer, what, rank, form);
    in = empty;
  };
  MPI_TEST_FORM(form, Neighbor_alltoall, neighbor_alltoall, out.data(), 2, MPI_INT, in.data(), 2,
                MPI_INT, comm);
  expect(expected, "Neighbor_alltoall");
  MPI_TEST_FORM(form, Neighbor_allgather, neighbor_allgather, out.data(), 2, MPI_INT, in.data(), 2,
                MPI_INT, comm);
  expect(gathered, "Neighbor_allgather");
  const Ints twos(std::max(count, out_count), 2);
  Ints places(std::max(count, out_count));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = 2 * static_cast<int>(i);
  MPI_TEST_FORM(form, Neighbor_alltoallv, neighbor_alltoallv, out.data(), twos.data(),
                places.data(), MPI_INT, in.data(), twos.data(), places.data(), MPI_INT, comm);
  expect(expected, "Neighbor_alltoallv");
  MPI_TEST_FORM(form, Neighbor_allgatherv, neighbor_allgatherv, out.data(), 2, MPI_INT, in.data(),
                twos.data(), places.data(), MPI_INT, comm);
  expect(gathered, "Neighbor_allgatherv");
  // Two elements are a vector with a stride, which lies in the memory in the other order.
  MPI_Datatype swapped;
  const int ones[] = {1, 1}, order[] = {1, 0};
  MPI_Type_indexed(2, ones, order, MPI_INT, &swapped);
  MPI_Type_commit(&swapped);
  const std::vector<MPI_Datatype> types(places.size(), swapped);
  const std::vector<MPI_Datatype> pairs(places.size(), MPI_INT);
  const Ints single(places.size(), 1);
  std::vector<MPI_Aint> bytes(places.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<MPI_Aint>(2 * sizeof(int) * i);
  }
  MPI_TEST_FORM(form, Neighbor_alltoallw, neighbor_alltoallw, out.data(), twos.data(), bytes.data(),
                pairs.data(), in.data(), single.data(), bytes.data(), types.data(), comm);
  for (std::size_t i = 0; i + 1 < in.size(); i += 2) std::swap(in[i], in[i + 1]);
  expect(expected, "Neighbor_alltoallw");
  MPI_TEST_FORM(form, Neighbor_allgather, neighbor_allgather, out.data(), 1, swapped, in.data(), 1,
                swapped, comm);
  expect(gathered, "Neighbor_allgather of a type");
  MPI_Type_free(&swapped);
  return good;
}

TEST_P(Topologies, NeighborsOnGraphs) {
  run_ranks(GetParam(), 5, [](int rank, int) {
    MPI_Comm graph = star(MPI_COMM_WORLD);
    if (graph == MPI_COMM_NULL) return true;
    const Ints& sources = kStar[static_cast<std::size_t>(rank)];
    Ints slots;
    for (const int source : sources) {
      const Ints& theirs = kStar[static_cast<std::size_t>(source)];
      slots.push_back(
          static_cast<int>(std::find(theirs.begin(), theirs.end(), rank) - theirs.begin()));
    }
    bool good = true;
    for (int form = 0; form < kForms; ++form) {
      good &= all_calls(graph, form, sources, slots, static_cast<int>(sources.size()));
    }
    MPI_Comm_free(&graph);
    return good;
  });
}

// What goes to the neighbor ahead comes from the one behind, in rings of one and two members, too;
// beyond the edge of a grid there is nobody, and nothing is written.
TEST_P(Topologies, NeighborsOnGrids) {
  run_ranks(GetParam(), 4, [](int rank, int) {
    struct Shape {
      int dims[2], periods[2];
    };
    bool good = true;
    for (const Shape& shape : {Shape{{4, 1}, {1, 1}}, Shape{{2, 2}, {1, 0}}}) {
      MPI_Comm grid = MPI_COMM_NULL;
      MPI_Cart_create(MPI_COMM_WORLD, 2, shape.dims, shape.periods, 0, &grid);
      Ints sources(4);
      for (int d = 0; d < 2; ++d) {
        MPI_Cart_shift(grid, d, 1, &sources[static_cast<std::size_t>(2 * d)],
                       &sources[static_cast<std::size_t>(2 * d + 1)]);
      }
      for (int form = 0; form < kForms; ++form) {
        good &= all_calls(grid, form, sources, {1, 0, 3, 2}, 4);
      }
      MPI_Comm_free(&grid);
    }
    return good & MPI_TEST_CHECK(rank >= 0, rank, 0);
  });
}

TEST_P(Topologies, WrongArgumentsAreTold) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm made = MPI_COMM_NULL;
    int number = 0, other = 0;
    bool good = true;
    const auto expect = [&](int error, int expected, const char* what) {
      int answer = MPI_SUCCESS;
      MPI_Error_class(error, &answer);
      good &= check(answer == expected, what, rank, answer);
    };
    const int down[] = {2, 1, 2}, index[] = {1, 2, 3}, ring[] = {1, 2, 0}, beyond[] = {1, 2, 3};
    expect(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, ring, 0, &made), MPI_ERR_ARG, "nodes");
    expect(MPI_Graph_create(MPI_COMM_WORLD, 3, down, ring, 0, &made), MPI_ERR_ARG, "index");
    expect(MPI_Graph_create(MPI_COMM_WORLD, 3, index, beyond, 0, &made), MPI_ERR_ARG, "edges");
    expect(MPI_Graphdims_get(MPI_COMM_WORLD, &number, &other), MPI_ERR_TOPOLOGY, "no graph");
    expect(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &number, &number, &other),
           MPI_ERR_TOPOLOGY, "no distributed graph");
    expect(MPI_Neighbor_allgather(&number, 1, MPI_INT, &other, 1, MPI_INT, MPI_COMM_WORLD),
           MPI_ERR_TOPOLOGY, "no neighbors");
    // Expect: all hear that one member's arguments are wrong.
    const int source = rank == 1 ? size : 0, degree = 1, dest = 0, weight = rank == 2 ? -1 : 1;
    expect(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, &dest, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made),
           rank == 1 ? MPI_ERR_RANK : MPI_ERR_OTHER, "source");
    expect(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &dest, &weight, 0, nullptr,
                                          MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &made),
           rank == 2 ? MPI_ERR_ARG : MPI_ERR_OTHER, "weight");
    good &= MPI_TEST_CHECK(made == MPI_COMM_NULL, rank, 0);
    // Expect: the next correct calls work.
    MPI_Graph_create(MPI_COMM_WORLD, 3, index, ring, 0, &made);
    const int lengths[] = {-1};
    const int places[] = {0};
    expect(MPI_Graph_neighbors_count(made, 3, &number), MPI_ERR_RANK, "rank");
    expect(MPI_Neighbor_alltoallv(&number, lengths, places, MPI_INT, &other, lengths, places,
                                  MPI_INT, made),
           MPI_ERR_COUNT, "counts");
    expect(MPI_Neighbor_allgather(&number, 1, MPI_DATATYPE_NULL, &other, 1, MPI_INT, made),
           MPI_ERR_TYPE, "type");
    MPI_Comm_free(&made);
    const int behind = (rank + size - 1) % size, ahead = (rank + 1) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &behind, MPI_UNWEIGHTED, 1, &ahead,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &other, 1, MPI_INT, made);
    MPI_Comm_free(&made);
    return good & MPI_TEST_CHECK(other == behind, rank, other);
  });
}

TEST_P(Topologies, CountsThatDifferEndTheJob) {
  const run::RunReport told = run_bare(GetParam(), 2, [] {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm grid;
    const int two = 2, no = 0, places[] = {0, 0}, count[] = {rank, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &two, &no, 0, &grid);
    int out = 0, in[2] = {};
    // Rank 0 sends nothing backwards nor forwards, and rank 1 expects one element from behind.
    const int sent[] = {rank, rank};
    MPI_Neighbor_alltoallv(&out, sent, places, MPI_INT, in, rank == 0 ? sent : count, places,
                           MPI_INT, grid);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  });
  EXPECT_NE(told.failure.find("MPI_Neighbor_alltoallv"), std::string::npos) << told.failure;
  EXPECT_NE(told.failure.find("expected"), std::string::npos) << told.failure;
}

}  // namespace
}  // namespace fairlead::mpi_test
