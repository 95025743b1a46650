// Runs a piece of MPI program on every rank of a job, in each world the tests know.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "fairlead/systems/mpi/copy_choice.h"
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi_test {

// The worlds every system test runs in: one list, so that a new one is one line. lossy: udp, with
// one packet in 25 going wrong; nirx: NI engines, of two ranks each, and lossynirx. ofitcp, ofishm:
// libfabric's providers. @2: two ranks a node; /rcpy: that implementation. panda*, rsm*, tports*:
// MPI on that device.
std::vector<std::string> worlds();
// Where the suites run that stand for all on the tports device.
std::vector<std::string> tports_worlds();
// A world's name as it may stand in a test's: its letters and digits.
std::string test_name(const std::string& world);

// A test by world: INSTANTIATE_MPI_TESTS(Suite), where Suite derives from PerWorld. Skipped where
// libfabric lacks the provider.
class PerWorld : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
};
#define INSTANTIATE_MPI_TESTS(suite)                                                           \
  INSTANTIATE_TEST_SUITE_P(Worlds, suite, ::testing::ValuesIn(::fairlead::mpi_test::worlds()), \
                           [](const ::testing::TestParamInfo<std::string>& each) {             \
                             return ::fairlead::mpi_test::test_name(each.param);               \
                           })

#define INSTANTIATE_ON_TPORTS(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(Tports, suite,                                              \
                           ::testing::ValuesIn(::fairlead::mpi_test::tports_worlds()), \
                           [](const ::testing::TestParamInfo<std::string>& each) {     \
                             return ::fairlead::mpi_test::test_name(each.param);       \
                           })

// One rank's part of run_ranks(): its exit code.
int run_between(const std::function<bool(int, int)>& program);

// Runs `program` between MPI_Init and MPI_Finalize; it returns whether all was as it should be.
// Failed expectations inside a rank print and must make it return false: a rank may be a process of
// its own. Expects that every rank answered true.
void run_ranks(const std::string& world, unsigned ranks,
               const std::function<bool(int, int)>& program);

// As above, without MPI_Init, MPI_Finalize and expectations: what became of the job.
run::RunReport run_bare(const std::string& world, unsigned ranks, const std::function<int()>& body);

// While it lives, what the ranks of jobs are told about copies: a text of CopyChoice.
class SingleCopy {
 public:
  explicit SingleCopy(const char* text) { setenv(mpi::CopyChoice::kVariable, text, 1); }
  ~SingleCopy() { unsetenv(mpi::CopyChoice::kVariable); }
  SingleCopy(const SingleCopy&) = delete;
  SingleCopy& operator=(const SingleCopy&) = delete;
};

// A byte that tells position and seed apart.
inline unsigned char pattern(std::size_t i, unsigned seed) {
  return static_cast<unsigned char>((i * 131 + i / 256 + seed * 17) & 0xff);
}
std::vector<unsigned char> patterned(std::size_t size, unsigned seed);

// Prints where a rank saw something else than it should.
bool check(bool ok, const char* what, int rank, long long detail = 0);
#define MPI_TEST_CHECK(condition, rank, detail) \
  ::fairlead::mpi_test::check((condition), #condition, rank, static_cast<long long>(detail))

}  // namespace fairlead::mpi_test
