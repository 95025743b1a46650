// Collectives that were begun go on while a rank computes: no call of MPI is made until the result
// is there, so that a rank whose collectives only go on in calls computes for ever.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "fairlead/base/sanitized.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Background : PerWorld {
  void SetUp() override {
#ifdef FAIRLEAD_TSAN
    GTEST_SKIP() << "its tests look at memory while the library writes it";
#endif
    PerWorld::SetUp();
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, Background,
                         ::testing::Values("shm", "udp", "lossy", "nirx", "ofitcp"),
                         [](const ::testing::TestParamInfo<std::string>& each) {
                           return test_name(each.param);
                         });

// Computes for a millisecond and until `word` has become `value`; false: that took 20 s.
bool computes_until(const int& word, int value) {
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < begin + std::chrono::milliseconds(1)) sched_yield();
  std::atomic_ref<int> looked_at(const_cast<int&>(word));
  while (looked_at.load(std::memory_order_acquire) != value) {
    if (std::chrono::steady_clock::now() > end) return false;
    sched_yield();  // ranks share processors in tests
  }
  return true;
}

// Elements a rank: few, and what is offered first.
constexpr int kCounts[] = {2, 30'000};

TEST_P(Background, ABroadcastEndsInARankThatComputes) {
  run_ranks(GetParam(), 4, [](int rank, int) {
    bool good = true;
    for (const int n : kCounts) {
      for (int round = 1; round <= 5; ++round) {
        std::vector<int> data(static_cast<std::size_t>(n), rank == 0 ? round : 0);
        MPI_Request request;
        // Expect: rank 2, which passes it on, and rank 3, to which it does, have it without a call.
        MPI_Ibcast(data.data(), n, MPI_INT, 0, MPI_COMM_WORLD, &request);
        if (rank >= 2) good &= MPI_TEST_CHECK(computes_until(data.back(), round), rank, n);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good &= MPI_TEST_CHECK(data.front() == round && data.back() == round, rank, n);
      }
    }
    return good;
  });
}

TEST_P(Background, AnAllreduceOfSeveralRoundsEndsInRanksThatAllCompute) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    for (const int n : kCounts) {
      for (int round = 1; round <= 5; ++round) {
        const std::vector<int> in(static_cast<std::size_t>(n), rank + round);
        std::vector<int> out(static_cast<std::size_t>(n), -1);
        const int sum = size * (size - 1) / 2 + size * round;
        MPI_Request request;
        MPI_Iallreduce(in.data(), out.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        good &= MPI_TEST_CHECK(computes_until(out.back(), sum), rank, n);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good &= MPI_TEST_CHECK(out.front() == sum && out.back() == sum, rank, out.front());
      }
    }
    return good;
  });
}

TEST_P(Background, AnAlltoallStartedAgainEndsInRanksThatAllCompute) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    for (const int n : kCounts) {
      const auto count = static_cast<std::size_t>(n * size);
      std::vector<int> in(count);
      std::vector<int> out(count);
      MPI_Request request;
      MPI_Alltoall_init(in.data(), n, MPI_INT, out.data(), n, MPI_INT, MPI_COMM_WORLD,
                        MPI_INFO_NULL, &request);
      for (int round = 1; round <= 4; ++round) {
        in.assign(count, 10 * rank + round);
        MPI_Start(&request);
        for (int from = 0; from < size; ++from) {
          const int& last = out[static_cast<std::size_t>(n * (from + 1) - 1)];
          good &= MPI_TEST_CHECK(computes_until(last, 10 * from + round), rank, from);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      MPI_Request_free(&request);
    }
    return good;
  });
}

TEST_P(Background, ABarrierEndsForOthersThroughARankThatComputes) {
  run_ranks(GetParam(), 4, [](int rank, int) {
    bool good = true;
    for (int round = 1; round <= 3; ++round) {
      MPI_Request barrier;
      MPI_Request word;
      int told = rank == 1 ? round : 0;
      MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
      // Expect: rank 1 leaves the barrier, which takes two rounds of messages, while the others
      // compute until it says so.
      if (rank == 1) MPI_Wait(&barrier, MPI_STATUS_IGNORE);
      MPI_Ibcast(&told, 1, MPI_INT, 1, MPI_COMM_WORLD, &word);
      if (rank != 1) {
        good &= MPI_TEST_CHECK(computes_until(told, round), rank, round);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
      }
      MPI_Wait(&word, MPI_STATUS_IGNORE);
    }
    return good;
  });
}

// Adds, and counts calls while the program computes.
std::atomic<int> computing_calls = 0;
bool computes = false;
void add_when_called(void* in, void* inout, int* length, MPI_Datatype*) {
  if (computes) ++computing_calls;
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

TEST_P(Background, AnOperationOfTheProgramRunsInItsCallsOnly) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    bool good = true;
    MPI_Op own;
    MPI_Op_create(add_when_called, 1, &own);
    for (int round = 0; round < 3; ++round) {
      const int in = rank + 1;
      int sum = 0;
      int all = 0;
      MPI_Request requests[2];
      MPI_Iallreduce(&in, &sum, 1, MPI_INT, own, MPI_COMM_WORLD, &requests[0]);
      MPI_Iallreduce(&in, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
      computes = true;
      // Expect: what came with the second one has come behind the first one's message.
      good &= MPI_TEST_CHECK(computes_until(all, size * (size + 1) / 2), rank, all);
      computes = false;
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      good &= MPI_TEST_CHECK(sum == size * (size + 1) / 2, rank, sum);
      good &= MPI_TEST_CHECK(computing_calls == 0, rank, computing_calls);
    }
    MPI_Op_free(&own);
    return good;
  });
}

TEST_P(Background, AProgramThatComputesLaterIsNoticed) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    const int all = size * (size + 1) / 2;
    bool good = true;
    const int in = rank + 1;
    const auto begin = [&](int& sum, MPI_Request& request) {
      sum = 0;
      MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    };
    int sum = 0;
    MPI_Request request;
    for (int round = 0; round < 100; ++round) {
      begin(sum, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(sum == all, rank, sum);
    }
    // Expect: of the collectives whose rank computes, those from some on end without a call.
    bool without_call = false;
    for (int round = 0; round < 400; ++round) {
      begin(sum, request);
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      while (std::chrono::steady_clock::now() < end) sched_yield();
      without_call |= std::atomic_ref<int>(sum).load(std::memory_order_acquire) == all;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(sum == all, rank, sum);
    }
    good &= MPI_TEST_CHECK(without_call, rank, size);
    return good;
  });
}

TEST_P(Background, OtherCallsAndWindowsMeanwhileWorkAsEver) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    bool good = true;
    for (int round = 1; round <= 50; ++round) {
      std::vector<int> out(2000, 0);
      const std::vector<int> in(2000, round);
      MPI_Request request;
      MPI_Iallreduce(in.data(), out.data(), 2000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
      int got = -1;
      MPI_Sendrecv(&round, 1, MPI_INT, 1 - rank, 0, &got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(got == round, rank, got);
      std::vector<int> memory(16, 0);
      MPI_Win window;
      MPI_Win_create(memory.data(), 16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &window);
      MPI_Win_fence(0, window);
      MPI_Put(&round, 1, MPI_INT, 1 - rank, 3, 1, MPI_INT, window);
      MPI_Win_fence(0, window);
      good &= MPI_TEST_CHECK(memory[3] == round, rank, memory[3]);
      // A window that waits for this rank's processor may be what the Port wakes for.
      int nothing = 0;
      if (round % 2 == 0) (void)computes_until(nothing, 0);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(out.front() == size * round, rank, out.front());
      MPI_Win_free(&window);
    }
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
