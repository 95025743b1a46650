// What the devices differ in, and what a user is told about them.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "fairlead/systems/mpi/job_options.h"
#include "tests/mpi/mpi_worlds.h"
#include "tests/mpi/variable.h"

namespace fairlead::mpi_test {
namespace {

using mpi::JobOptions;

run::RunReport start_only() {
  return run_bare("shm", 2, [] {
    MPI_Init(nullptr, nullptr);
    MPI_Finalize();
    return 0;
  });
}

TEST(Devices, UnknownNamesAreAnsweredWithTheList) {
  {
    const Variable device(JobOptions::kDeviceVariable, "pandas");
    const run::RunReport report = start_only();
    EXPECT_NE(report.exit_code, 0);
    EXPECT_NE(report.failure.find("MPI_Init: there is no MPI device 'pandas'; there are: auto, "
                                  "direct, panda"),
              std::string::npos)
        << report.failure;
  }
  {
    const Variable bcast(JobOptions::kBcastVariable, "ring");
    const run::RunReport report = start_only();
    EXPECT_NE(report.failure.find("no way 'ring'; it has: auto, multicast, binomial, binary"),
              std::string::npos)
        << report.failure;
  }
  const Variable bcast(JobOptions::kBcastVariable, "multicast");
  const run::RunReport report = start_only();
  EXPECT_NE(report.failure.find("multicast needs the device panda"), std::string::npos)
      << report.failure;
}

TEST(Devices, PandaGrantsNoConcurrentCalls) {
  const auto granted = [](int wanted) {
    const run::RunReport report = run_bare("shm", 2, [wanted] {
      int provided = -1;
      MPI_Init_thread(nullptr, nullptr, wanted, &provided);
      MPI_Finalize();
      return provided == std::min<int>(wanted, MPI_THREAD_SERIALIZED) ? 0 : 1;
    });
    return report.exit_code == 0;
  };
  const Variable device(JobOptions::kDeviceVariable, "panda");
  EXPECT_TRUE(granted(MPI_THREAD_MULTIPLE));
  EXPECT_TRUE(granted(MPI_THREAD_FUNNELED));
}

TEST(Devices, ALostRankIsNamed) {
  for (const char* name : {"direct", "panda", "rsm", "tports"}) {
    const Variable device(JobOptions::kDeviceVariable, name);
    const run::RunReport report = run_bare("shm", 3, [] {
      MPI_Init(nullptr, nullptr);
      int rank = -1;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 1) std::raise(SIGKILL);
      int value = 0;
      MPI_Recv(&value, 1, MPI_INT, 2 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      return 0;
    });
    EXPECT_NE(report.exit_code, 0);
    EXPECT_NE(report.failure.find("rank 1"), std::string::npos) << name << ": " << report.failure;
  }
}

struct Case {
  const char* world;
  const char* device;
  const char* bcast;
};

struct Broadcasts : testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Ways, Broadcasts,
                         testing::Values(Case{"shm", "direct", "binomial"},
                                         Case{"shm", "direct", "binary"},
                                         Case{"shm", "panda", "multicast"},
                                         Case{"lossy", "panda", "binary"},
                                         Case{"myrinet-ppro", "panda", "binomial"},
                                         Case{"myrinet-ppro", "panda", "multicast"}),
                         [](const auto& one) {
                           return test_name(one.param.world) + one.param.device + one.param.bcast;
                         });

bool broadcasts_and_sums(MPI_Comm comm, int rank, int size) {
  bool good = true;
  for (const int count : {0, 1, 9000, 70'000}) {
    for (int root = 0; root < size; ++root) {
      const auto seed = static_cast<unsigned>(root + count);
      std::vector<unsigned char> data(static_cast<std::size_t>(count));
      if (rank == root) data = patterned(data.size(), seed);
      MPI_Bcast(data.data(), count, MPI_BYTE, root, comm);
      good &= MPI_TEST_CHECK(data == patterned(data.size(), seed), rank, root);
    }
    std::vector<int> own(static_cast<std::size_t>(count), rank);
    std::vector<int> sum(own.size(), -1);
    MPI_Allreduce(own.data(), sum.data(), count, MPI_INT, MPI_SUM, comm);
    good &= MPI_TEST_CHECK(sum == std::vector<int>(own.size(), size * (size - 1) / 2), rank, count);
  }
  return good;
}

// Communicators of all ranks, in two orders, and of some, whose broadcasts reach nobody else.
TEST_P(Broadcasts, OfEveryCommunicator) {
  const Variable device(JobOptions::kDeviceVariable, GetParam().device);
  const Variable bcast(JobOptions::kBcastVariable, GetParam().bcast);
  run_ranks(GetParam().world, 5, [](int rank, int size) {
    bool good = broadcasts_and_sums(MPI_COMM_WORLD, rank, size);
    MPI_Comm turned = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    good &= broadcasts_and_sums(turned, size - 1 - rank, size);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    good &= broadcasts_and_sums(part, rank / 2, rank % 2 == 0 ? 3 : 2);
    return good;
  });
}

// A broadcast may overtake what its root sent before by itself, and the other way round: neither is
// taken for the other, whatever the tags.
TEST(Devices, BroadcastsAreNotTakenForMessages) {
  const Variable device(JobOptions::kDeviceVariable, "panda");
  for (const char* world : {"shm", "lossy", "myrinet-ppro"}) {
    run_ranks(world, 4, [](int rank, int size) {
      bool good = true;
      for (int round = 0; round < 50; ++round) {
        const int root = round % size;
        int told = rank == root ? 1000 + round : -1;
        int sum = 0;
        const int one = 1;
        int blocks[4] = {};
        MPI_Gather(&round, 1, MPI_INT, blocks, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Bcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        good &= MPI_TEST_CHECK(told == 1000 + round, rank, told);
        good &= MPI_TEST_CHECK(sum == size, rank, sum);
        good &= MPI_TEST_CHECK(rank != root || blocks[3] == round, rank, blocks[3]);
      }
      return good;
    });
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
