// What real_nodes_test.py starts on several nodes.
//
//   mpi_node_program check EACH    every collective on communicators spread over the nodes
//                                  (node_collectives.h), EACH ranks a node
//   mpi_node_program wrong RANK    RANK is in another collective than the others
//   mpi_node_program small COUNT   so many barriers and small sums
//   mpi_node_program sizes 0       each rank prints itself and how many share its node
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/mpi/node_collectives.h"

namespace {

void one_in_another_call(int rank, int other) {
  int value = rank;
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == other) {
    MPI_Bcast(&value, 1, MPI_INT, 1 - other % 2, MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

bool small_ones(int rank, int size, int count) {
  bool good = true;
  for (int i = 0; i < count; ++i) {
    const int own = rank + i;
    int sum = -1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    good = good && sum == size * (size - 1) / 2 + i * size;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string what = argv[1];
  const int number = std::atoi(argv[2]);
  int rank = -1;
  int size = -1;
  bool good = true;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (what == "check") good = fairlead::mpi_test::node_collectives(number);
  if (what == "wrong") one_in_another_call(rank, number);
  if (what == "small") good = small_ones(rank, size, number);
  if (what == "sizes") {
    MPI_Comm node;
    int sharing = -1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &sharing);
    MPI_Comm_free(&node);
    std::printf("%d %d\n", rank, sharing);
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
