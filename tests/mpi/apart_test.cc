// Buffers of collective calls must be apart, and operations defined on the elements.
#include <vector>

#include "tests/mpi/forms.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Apart : PerWorld {};
INSTANTIATE_MPI_TESTS(Apart);

// The buffers of two ranks with a block of two elements each, and what collectives say of them.
struct Buffers {
  static constexpr int kBlock = 2;
  explicit Buffers(int rank) : own(&all[rank * kBlock]) {}

  int all[4] = {1, 2, 3, 4};
  int other[4] = {};
  int* own;  // this rank's block of `all`
  const int counts[2] = {kBlock, kBlock};
  const int places[2] = {0, kBlock};
  const int bytes[2] = {0, kBlock* int{sizeof(int)}};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
};

TEST_P(Apart, OneAddressForBothSidesIsAnError) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const MPI_Comm kWorld = MPI_COMM_WORLD;
    constexpr int kBlock = Buffers::kBlock;
    Buffers b(rank);
    bool good = true;
    const auto refused = [&](int error, const char* what) {
      good &= check(error == MPI_ERR_BUFFER, what, rank, error);
    };
    refused(MPI_Allreduce(b.all, b.all, 4, MPI_INT, MPI_SUM, kWorld), "allreduce");
    refused(MPI_Scan(b.all, b.all, 4, MPI_INT, MPI_SUM, kWorld), "scan");
    // The first member of an exclusive scan has one side.
    if (rank != 0) refused(MPI_Exscan(b.all, b.all, 4, MPI_INT, MPI_SUM, kWorld), "exscan");
    refused(MPI_Reduce_local(b.all, b.all, 4, MPI_INT, MPI_SUM), "reduce_local");
    refused(MPI_Reduce_scatter(b.all, b.all, b.counts, MPI_INT, MPI_SUM, kWorld), "reduce_scatter");
    refused(MPI_Reduce_scatter_block(b.all, b.all, kBlock, MPI_INT, MPI_SUM, kWorld), "block");
    refused(MPI_Allgather(b.own, kBlock, MPI_INT, b.all, kBlock, MPI_INT, kWorld), "allgather");
    refused(MPI_Allgatherv(b.own, kBlock, MPI_INT, b.all, b.counts, b.places, MPI_INT, kWorld),
            "allgatherv");
    refused(MPI_Alltoall(b.all, kBlock, MPI_INT, b.all, kBlock, MPI_INT, kWorld), "alltoall");
    refused(MPI_Alltoallv(b.all, b.counts, b.places, MPI_INT, b.all, b.counts, b.places, MPI_INT,
                          kWorld),
            "alltoallv");
    refused(
        MPI_Alltoallw(b.all, b.counts, b.bytes, b.types, b.all, b.counts, b.bytes, b.types, kWorld),
        "alltoallw");
    MPI_Request request = MPI_REQUEST_NULL;
    refused(MPI_Iallreduce(b.all, b.all, 4, MPI_INT, MPI_SUM, kWorld, &request), "iallreduce");
    refused(MPI_Allreduce_init(b.all, b.all, 4, MPI_INT, MPI_SUM, kWorld, MPI_INFO_NULL, &request),
            "allreduce_init");
    good &= check(request == MPI_REQUEST_NULL, "no request is made", rank);
    if (rank == 0) {
      // Expect: the buffers of the root alone have two sides.
      refused(MPI_Reduce(b.all, b.all, 4, MPI_INT, MPI_SUM, 0, kWorld), "reduce");
      refused(MPI_Gather(b.own, kBlock, MPI_INT, b.all, kBlock, MPI_INT, 0, kWorld), "gather");
      refused(MPI_Gatherv(b.own, kBlock, MPI_INT, b.all, b.counts, b.places, MPI_INT, 0, kWorld),
              "gatherv");
      refused(MPI_Scatter(b.all, kBlock, MPI_INT, b.own, kBlock, MPI_INT, 0, kWorld), "scatter");
      refused(MPI_Scatterv(b.all, b.counts, b.places, MPI_INT, b.own, kBlock, MPI_INT, 0, kWorld),
              "scatterv");
    }
    // Expect: nothing was sent, and the next calls work.
    MPI_Reduce(b.all, rank == 0 ? b.other : b.all, 4, MPI_INT, MPI_SUM, 0, kWorld);
    good &= check(rank != 0 || b.other[3] == 8, "the sum", rank, b.other[3]);
    MPI_Gather(b.own, kBlock, MPI_INT, b.other, kBlock, MPI_INT, 0, kWorld);
    good &= check(rank != 0 || b.other[3] == 4, "the whole", rank, b.other[3]);
    return good;
  });
}

// Rows of two matrices that lie in one another: the layouts begin at one address.
TEST_P(Apart, OneAddressIsNoErrorWhereNothingMeets) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const MPI_Comm kWorld = MPI_COMM_WORLD;
    const int one = 1;
    const MPI_Aint first = 0;
    const MPI_Aint second = sizeof(int);
    MPI_Datatype left, right;
    MPI_Type_create_hindexed(1, &one, &first, MPI_INT, &left);
    MPI_Type_create_hindexed(1, &one, &second, MPI_INT, &right);
    MPI_Datatype wide;
    MPI_Type_create_resized(right, 0, 4 * MPI_Aint{sizeof(int)}, &wide);
    MPI_Type_commit(&left);
    MPI_Type_commit(&wide);
    int values[8] = {rank + 5};
    int error = MPI_Allgather(values, 1, left, values, 1, wide, kWorld);
    bool good = MPI_TEST_CHECK(error == MPI_SUCCESS, rank, error);
    good &= MPI_TEST_CHECK(values[1] == 5 && values[5] == 6, rank, values[5]);
    for (MPI_Datatype* each : {&left, &right, &wide}) MPI_Type_free(each);
    // Expect: empty buffers, and the address 0, meet nothing.
    error = MPI_Allreduce(values, values, 0, MPI_INT, MPI_SUM, kWorld);
    good &= MPI_TEST_CHECK(error == MPI_SUCCESS, rank, error);
    error = MPI_Alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, kWorld);
    good &= MPI_TEST_CHECK(error == MPI_SUCCESS, rank, error);
    error = MPI_Gather(values, 0, MPI_INT, values, 0, MPI_INT, 0, kWorld);
    return good & MPI_TEST_CHECK(error == MPI_SUCCESS, rank, error);
  });
}

// Characters are for printing: the standard gives no meaning to their sum. Only for MPI_CHAR other
// libraries have one, which programs rely on: it is an integer.
TEST_P(Apart, CharactersAreNotReduced) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    alignas(16) char own[32] = {};
    alignas(16) char all[32] = {};
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_WCHAR, &two);
    MPI_Type_commit(&two);
    bool good = true;
    for (const MPI_Datatype type : {MPI_WCHAR, MPI_CHARACTER, MPI_PACKED, two}) {
      for (const MPI_Op op : {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR,
                              MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC}) {
        const int errors[] = {MPI_Reduce(own, all, 1, type, op, 0, MPI_COMM_WORLD),
                              MPI_Allreduce(own, all, 1, type, op, MPI_COMM_WORLD),
                              MPI_Allreduce(MPI_IN_PLACE, all, 0, type, op, MPI_COMM_WORLD),
                              MPI_Scan(own, all, 1, type, op, MPI_COMM_WORLD),
                              MPI_Reduce_scatter_block(own, all, 1, type, op, MPI_COMM_WORLD),
                              MPI_Reduce_local(own, all, 1, type, op)};
        for (const int error : errors) good &= MPI_TEST_CHECK(error == MPI_ERR_OP, rank, error);
      }
    }
    MPI_Type_free(&two);
    own[0] = static_cast<char>(rank + 1);
    MPI_Allreduce(own, all, 1, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    return good & MPI_TEST_CHECK(all[0] == 3, rank, all[0]);
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
