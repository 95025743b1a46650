#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "tests/expect_words.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Errors : PerWorld {};
INSTANTIATE_MPI_TESTS(Errors);

// Runs a program that must end the job; answers the job's last words.
std::string failure_of(const std::string& world, unsigned ranks,
                       const std::function<void(int)>& f) {
  const run::RunReport report = run_bare(world, ranks, [&f] {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    f(rank);
    MPI_Finalize();
    return 0;
  });
  EXPECT_NE(report.exit_code, 0) << "the job ended well";
  return report.failure;
}

TEST_P(Errors, TextsNameCallRankAndArgument) {
  int value = 0;
  expect_words(failure_of(GetParam(), 2,
                          [&](int rank) {
                            if (rank == 1)
                              MPI_Send(&value, 1, MPI_INT, 9, 0, MPI_COMM_WORLD);
                            else
                              MPI_Barrier(MPI_COMM_WORLD);
                          }),
               {"MPI_Send", "rank 1 of MPI_COMM_WORLD", "dest is 9", "0 to 1", "MPI_ERR_RANK"});
  expect_words(
      failure_of(GetParam(), 1,
                 [&](int) { MPI_Recv(&value, -3, MPI_INT, 0, 0, MPI_COMM_WORLD, nullptr); }),
      {"MPI_Recv", "count is -3", "MPI_ERR_COUNT"});
  expect_words(failure_of(GetParam(), 1,
                          [&](int) { MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD); }),
               {"MPI_Bcast", "MPI_DATATYPE_NULL", "MPI_ERR_TYPE"});
  double number = 0;
  expect_words(failure_of(GetParam(), 1,
                          [&](int) {
                            MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_BAND,
                                          MPI_COMM_WORLD);
                          }),
               {"MPI_Allreduce", "MPI_BAND", "MPI_DOUBLE", "MPI_ERR_OP"});
}

TEST_P(Errors, CallsOutsideInitAndFinalizeAreNamed) {
  const run::RunReport before = run_bare(GetParam(), 1, [] {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return 0;
  });
  expect_words(before.failure, {"MPI_Comm_rank was called before MPI_Init"});
  const run::RunReport after = run_bare(GetParam(), 1, [] {
    MPI_Init(nullptr, nullptr);
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  });
  expect_words(after.failure, {"MPI_Barrier was called after MPI_Finalize"});
}

TEST_P(Errors, AbortEndsEveryRankWithItsCode) {
  const run::RunReport report = run_bare(GetParam(), 3, [] {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
  });
  EXPECT_EQ(report.exit_code, 7);
  expect_words(report.failure, {"MPI_Abort", "7", "rank 2"});
}

TEST_P(Errors, RanksInDifferentCollectivesAreTold) {
  int value = 0;
  expect_words(failure_of(GetParam(), 2,
                          [&](int rank) {
                            if (rank == 0)
                              MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
                            else
                              MPI_Barrier(MPI_COMM_WORLD);
                            MPI_Barrier(MPI_COMM_WORLD);
                          }),
               {"do not agree", "MPI_Bcast", "MPI_Barrier"});
}

// Some of them may meet in shared lines while the others wait for messages, or the other way round.
TEST_P(Errors, RanksInCollectivesOfOtherWaysAreTold) {
  char bytes[64] = {};
  for (const bool gather : {false, true}) {
    expect_words(failure_of(GetParam(), 4,
                            [&](int rank) {
                              MPI_Barrier(MPI_COMM_WORLD);
                              if (rank == 0) {
                                MPI_Barrier(MPI_COMM_WORLD);
                              } else if (gather) {
                                MPI_Gather(bytes, 4, MPI_BYTE, bytes, 4, MPI_BYTE, 0,
                                           MPI_COMM_WORLD);
                              } else {
                                MPI_Bcast(bytes, 4, MPI_BYTE, 0, MPI_COMM_WORLD);
                              }
                            }),
                 // The others may be further already, where they wait for nobody.
                 {"do not agree", "MPI_Barrier", "number 2"});
  }
}

// What the others sent came before this rank waits, and nothing will come after.
TEST_P(Errors, RanksThatWentOnBeforeAreTold) {
  char bytes[64] = {};
  expect_words(failure_of(GetParam(), 4,
                          [&](int rank) {
                            MPI_Barrier(MPI_COMM_WORLD);
                            if (rank != 0) {
                              MPI_Gather(bytes, 0, MPI_BYTE, bytes, 0, MPI_BYTE, 0, MPI_COMM_WORLD);
                              MPI_Send(bytes, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
                              MPI_Recv(bytes, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                              return;
                            }
                            for (int i = 1; i < 4; ++i) {
                              MPI_Recv(bytes, 1, MPI_BYTE, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                            }
                            MPI_Barrier(MPI_COMM_WORLD);
                          }),
               {"do not agree", "MPI_Barrier", "MPI_Gather", "number 2"});
}

TEST_P(Errors, BroadcastCountsThatDifferAreTold) {
  std::vector<char> data(100'000);
  for (const int longer : {0, 1, 3}) {
    const std::string told = failure_of(GetParam(), 4, [&](int rank) {
      MPI_Bcast(data.data(), rank == longer ? 100'000 : 1000, MPI_BYTE, 0, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    });
    expect_words(told, {"MPI_Bcast"});
    // With other lengths the root may be in the barrier by then.
    if (longer == 0) expect_words(told, {"its count or datatype differs"});
  }
}

TEST_P(Errors, CountsThatDifferAreTold) {
  for (const std::pair<int, int>& counts : {std::pair{1, 2}, std::pair{100'000, 90'000}}) {
    const int mine = counts.first, theirs = counts.second;
    std::vector<double> own(static_cast<std::size_t>(std::max(mine, theirs)));
    std::vector<double> sum(own.size());
    expect_words(failure_of(GetParam(), 2,
                            [&](int rank) {
                              MPI_Allreduce(own.data(), sum.data(), rank == 0 ? mine : theirs,
                                            MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                            }),
                 {"MPI_Allreduce", "its count or datatype differs"});
  }
}

TEST(LargeSums, CountsThatDifferAreToldByEitherWay) {
  for (const char* text : {"0", "never"}) {
    const SingleCopy choice(text);
    // Longer and shorter than what goes without messages.
    for (const int theirs : {90'000, 1'000, 1}) {
      std::vector<double> own(100'000);
      std::vector<double> sum(own.size());
      expect_words(failure_of("shm", 2,
                              [&](int rank) {
                                MPI_Allreduce(own.data(), sum.data(), rank == 0 ? 100'000 : theirs,
                                              MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                              }),
                   {"MPI_Allreduce", "its count or datatype differs"});
    }
  }
}

// In the middle of a sum by either way, or between two: the job ends, and says whose fault it is.
TEST(LargeSums, EndWhenARankDies) {
  for (const char* text : {"0", "never"}) {
    const SingleCopy choice(text);
    const std::string told = failure_of("shm", 2, [](int rank) {
      std::vector<double> own(1 << 20, 1.0);
      std::vector<double> sum(own.size());
      if (rank == 1) {
        signal(SIGALRM, SIG_DFL);
        const itimerval soon{{0, 0}, {0, 50'000}};
        setitimer(ITIMER_REAL, &soon, nullptr);
      }
      for (;;) {
        MPI_Allreduce(own.data(), sum.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
      }
    });
    expect_words(told, {"rank 1"});
  }
}

TEST_P(Errors, ReturnedWhenAskedTo) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    bool good = MPI_TEST_CHECK(handler == MPI_ERRORS_RETURN, rank, 0);
    int v[2] = {1, 2};
    const auto same = [&](int error, int expected) {
      good &= MPI_TEST_CHECK(error == expected, rank, error * 1000 + expected);
    };
    same(MPI_Send(v, 1, MPI_INT, 2, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    same(MPI_Send(v, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
    same(MPI_Send(nullptr, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    same(MPI_Send(v, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    same(MPI_Reduce(v, v + 1, 1, MPI_INT, MPI_SUM, 5, MPI_COMM_WORLD), MPI_ERR_ROOT);
    same(MPI_Allreduce(v, v + 1, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    MPI_Comm world = MPI_COMM_WORLD;
    same(MPI_Comm_free(&world), MPI_ERR_COMM);
    // A message that does not fit: the class, what fits received, the rest dropped. Small, eager of
    // several packets, rendezvous.
    for (const int count : {2, 5000, 200000}) {
      std::vector<int> data(static_cast<std::size_t>(count), 9);
      if (rank == 0) {
        same(MPI_Send(data.data(), count, MPI_INT, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
      } else {
        std::vector<int> part(static_cast<std::size_t>(count), 5);
        MPI_Status status;
        same(MPI_Recv(part.data(), count - 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status),
             MPI_ERR_TRUNCATE);
        good &= MPI_TEST_CHECK(part[static_cast<std::size_t>(count) - 2] == 9, rank, count);
        good &= MPI_TEST_CHECK(part[static_cast<std::size_t>(count) - 1] == 5, rank, count);
      }
    }
    int error_class = 0;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_class(MPI_ERR_TRUNCATE, &error_class);
    MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
    good &= MPI_TEST_CHECK(error_class == MPI_ERR_TRUNCATE, rank, error_class);
    good &= MPI_TEST_CHECK(std::string(text).find("TRUNCATE") != std::string::npos, rank, length);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
