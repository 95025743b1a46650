// Numbers of MPI past their wrap, in every world.
#include <cstdint>
#include <string>

#include "fairlead/systems/mpi/process.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Wraps : PerWorld {};
INSTANTIATE_MPI_TESTS(Wraps);

// By the board and by messages: what goes by which is the world's.
TEST_P(Wraps, CollectivesPast32BitsOfTheirNumber) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    MPI_Barrier(MPI_COMM_WORLD);
    mpi::Process::current()->world().collectives = (std::uint64_t{1} << 32) - 6;
    std::vector<int> sums(5000);
    for (int i = 0; i < 12; ++i) {
      // Expect: nobody leaves a reduction before all have entered it, over the wrap.
      const int mine = rank + i * 10;
      int sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(sum == size * (size - 1) / 2 + size * i * 10, rank, sum);
      const std::vector<int> many(sums.size(), mine);
      MPI_Allreduce(many.data(), sums.data(), static_cast<int>(many.size()), MPI_INT, MPI_SUM,
                    MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(sums.back() == sum, rank, sums.back());
      MPI_Barrier(MPI_COMM_WORLD);
    }
    return good;
  });
}

// Contexts do not wrap: their end is an error.
TEST_P(Wraps, ContextsEndWithAnError) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    mpi::Process::current()->next_context = mpi::Process::kContextsEnd - 3;
    MPI_Comm last = MPI_COMM_NULL;
    bool good = MPI_TEST_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &last) == MPI_SUCCESS, rank, 0);
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, last);
    good &= MPI_TEST_CHECK(sum == 2, rank, sum);
    MPI_Comm none = MPI_COMM_NULL;
    good &= MPI_TEST_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &none) == MPI_ERR_OTHER, rank, 0);
    MPI_Comm_free(&last);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
