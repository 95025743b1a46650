// MPI_THREAD_MULTIPLE: threads of each rank call at once, where ranks are processes.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "fairlead/run/context.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

class Threads : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Worlds, Threads, ::testing::Values("shm", "udp", "lossy", "nirx"),
                         [](const ::testing::TestParamInfo<std::string>& each) {
                           return each.param;
                         });

// As run_ranks(), with threads.
void run_threaded(const std::string& world, unsigned ranks,
                  const std::function<bool(int, int)>& program) {
  const run::RunReport report = run_bare(world, ranks, [&program] {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    int rank = -1;
    int size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool good =
        MPI_TEST_CHECK(provided == MPI_THREAD_MULTIPLE, rank, provided) && program(rank, size);
    MPI_Finalize();
    return good ? 0 : 1;
  });
  EXPECT_EQ(report.exit_code, 0) << world << ": " << report.failure;
  EXPECT_EQ(report.failure, "");
}

// Runs thread(number) on so many threads, the caller among them; whether all answered true.
template <class Thread>
bool in_threads(int count, Thread&& thread) {
  std::atomic<int> good = 0;
  std::vector<std::thread> others;
  run::Context* const rank = run::current();
  for (int t = 1; t < count; ++t) {
    others.emplace_back([&, t] {
      run::set_current(rank);
      good += thread(t) ? 1 : 0;
    });
  }
  good += thread(0) ? 1 : 0;
  for (std::thread& each : others) each.join();
  return good == count;
}

// Each thread with its counterpart, by messages of all lengths that go different ways.
bool exchange(int rank, int size, int thread, int rounds) {
  bool good = true;
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  for (int i = 0; i < rounds; ++i) {
    const std::size_t bytes = i % 10 == 9 ? 100000 : static_cast<std::size_t>(i % 7) * 700;
    const auto sent = patterned(bytes, static_cast<unsigned>(rank * 31 + thread + i));
    std::vector<unsigned char> got(bytes + 1);
    const auto count = static_cast<int>(bytes);
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    if (i % 3 == 0) {
      MPI_Isend(sent.data(), count, MPI_BYTE, right, thread, MPI_COMM_WORLD, &request);
      MPI_Recv(got.data(), count + 1, MPI_BYTE, left, thread, MPI_COMM_WORLD, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (i % 3 == 1) {
      MPI_Irecv(got.data(), count + 1, MPI_BYTE, left, thread, MPI_COMM_WORLD, &request);
      MPI_Send(sent.data(), count, MPI_BYTE, right, thread, MPI_COMM_WORLD);
      int done = 0;
      while (done == 0) MPI_Test(&request, &done, &status);
    } else {
      MPI_Isend(sent.data(), count, MPI_BYTE, right, thread, MPI_COMM_WORLD, &request);
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Mprobe(left, thread, MPI_COMM_WORLD, &message, &status);
      int probed = -1;
      MPI_Get_count(&status, MPI_BYTE, &probed);
      good &= MPI_TEST_CHECK(probed == count, rank, probed);
      MPI_Mrecv(got.data(), count + 1, MPI_BYTE, &message, &status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    got.pop_back();
    good &= MPI_TEST_CHECK(got == patterned(bytes, static_cast<unsigned>(left * 31 + thread + i)),
                           rank, i);
    good &= MPI_TEST_CHECK(status.MPI_SOURCE == left && status.MPI_TAG == thread, rank, i);
  }
  return good;
}

bool collectives(MPI_Comm comm, int rank, int size, int rounds) {
  bool good = true;
  for (int i = 0; i < rounds; ++i) {
    int sum = rank + i;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    good &= MPI_TEST_CHECK(sum == size * (size - 1) / 2 + size * i, rank, sum);
    std::vector<int> all(static_cast<std::size_t>(size) * 50, rank * 1000 + i);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all.data(), 50, MPI_INT, comm);
    for (int r = 0; r < size; ++r) {
      good &= MPI_TEST_CHECK(all[static_cast<std::size_t>(r) * 50 + 49] == r * 1000 + i, rank, r);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<int> many(5000, rank == i % size ? i : -1);
    MPI_Ibcast(many.data(), 5000, MPI_INT, i % size, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good &= MPI_TEST_CHECK(many[4999] == i, rank, many[4999]);
    MPI_Barrier(comm);
  }
  return good;
}

// Counts at each rank by atomics, and reads what the left one has written.
bool one_sided(MPI_Win win, std::int64_t* base, int rank, int size, int rounds) {
  bool good = true;
  MPI_Win_lock_all(0, win);
  const std::int64_t one = 1;
  for (int i = 0; i < rounds; ++i) {
    const int to = (rank + i) % size;
    std::int64_t was = -1;
    MPI_Fetch_and_op(&one, &was, MPI_INT64_T, to, 0, MPI_SUM, win);
    MPI_Win_flush(to, win);
    good &= MPI_TEST_CHECK(was >= 0 && was < std::int64_t{rounds} * size, rank, was);
    std::array<std::int64_t, 100> numbers;
    numbers.fill(i * size + rank);
    MPI_Put(numbers.data(), 100, MPI_INT64_T, to, 1 + 100 * rank, 100, MPI_INT64_T, win);
    MPI_Win_flush(to, win);
    numbers.fill(-1);
    MPI_Get(numbers.data(), 100, MPI_INT64_T, to, 1 + 100 * rank, 100, MPI_INT64_T, win);
    MPI_Win_flush_local(to, win);
    good &= MPI_TEST_CHECK(numbers[99] == i * size + rank, rank, numbers[99]);
  }
  MPI_Win_unlock_all(win);
  (void)base;
  return good;
}

TEST_P(Threads, MessagesOfManyThreadsAreKeptApart) {
  run_threaded(GetParam(), 2, [](int rank, int size) {
    return in_threads(4, [&](int thread) { return exchange(rank, size, thread, 30); });
  });
}

TEST_P(Threads, MessagesProbesCollectivesAndWindowsAtOnce) {
  run_threaded(GetParam(), 2, [](int rank, int size) {
    bool good = true;
    std::array<MPI_Comm, 2> comms = {};
    for (MPI_Comm& each : comms) MPI_Comm_dup(MPI_COMM_WORLD, &each);
    MPI_Win win = MPI_WIN_NULL;
    std::int64_t* base = nullptr;
    MPI_Win_allocate(8 * (1 + 100 * size), 8, MPI_INFO_NULL, comms[0], &base, &win);
    constexpr int kRounds = 20;
    good &= in_threads(5, [&](int thread) {
      if (thread < 2)
        return collectives(comms[static_cast<std::size_t>(thread)], rank, size, kRounds);
      if (thread == 2) return one_sided(win, base, rank, size, kRounds);
      return exchange(rank, size, thread, kRounds);
    });
    MPI_Barrier(MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(base[0] == kRounds, rank, base[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    for (MPI_Comm& each : comms) MPI_Comm_free(&each);
    return good;
  });
}

// Whoever waits for long is found again: by a message from elsewhere, by one of its own rank, by
// what another thread completes, while others call and while nobody does.
// Threads make communicators at once, each with its counterparts: no two of a rank may have one
// context, or messages of one would come to the other.
TEST_P(Threads, CommunicatorsMadeAtOnceAreKeptApart) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 10;
  run_threaded(GetParam(), 3, [](int rank, int size) {
    std::array<MPI_Comm, kThreads> own;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (MPI_Comm& each : own) MPI_Comm_dup(MPI_COMM_WORLD, &each);
    const bool good = in_threads(kThreads, [&](int thread) {
      bool fine = true;
      const MPI_Comm mine = own[static_cast<std::size_t>(thread)];
      for (int i = 0; i < kRounds; ++i) {
        std::array<MPI_Comm, 3> made;
        MPI_Comm_dup(mine, &made[0]);
        MPI_Comm_split(mine, 0, -rank, &made[1]);
        MPI_Comm_create_group(MPI_COMM_WORLD, world, thread, &made[2]);
        for (MPI_Comm& each : made) {
          const int value = rank + 100 * thread;
          int sum = 0;
          MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, each);
          const int expected = size * (size - 1) / 2 + 100 * thread * size;
          fine &= MPI_TEST_CHECK(sum == expected, rank, sum);
        }
        for (MPI_Comm& each : made) MPI_Comm_free(&each);
      }
      return fine;
    });
    for (MPI_Comm& each : own) MPI_Comm_free(&each);
    MPI_Group_free(&world);
    return good;
  });
}

// A thread's call for its own message may bring another's, who waits: with nothing else to come,
// only that thread can tell it.
TEST_P(Threads, WhatOneBringsForAnotherIsTold) {
  const int rounds = GetParam() == "shm" ? 20000 : 1000;
  run_threaded(GetParam(), 2, [rounds](int rank, int) {
    constexpr int kThreads = 2;
    return in_threads(kThreads, [&](int thread) {
      bool good = true;
      char byte = 0;
      for (int tag = thread; tag < rounds; tag += kThreads) {
        if (rank == 0) MPI_Send(&byte, 1, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
        MPI_Status status;
        MPI_Recv(&byte, 1, MPI_CHAR, 1 - rank, tag, MPI_COMM_WORLD, &status);
        good &= MPI_TEST_CHECK(status.MPI_TAG == tag, rank, tag);
        if (rank == 1) MPI_Send(&byte, 1, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
      }
      return good;
    });
  });
}

// Asks for what the standard's own example of such a function asks for, and combines by another
// operation.
void sum_of_columns(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  int size = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  MPI_Type_size(*type, &size);
  for (int i = 0; i < *count; ++i) {
    const MPI_Aint at = i * extent;
    MPI_Reduce_local(static_cast<char*>(in) + at, static_cast<char*>(inout) + at,
                     size / static_cast<int>(sizeof(int)), MPI_INT, MPI_SUM);
  }
}

TEST_P(Threads, FunctionsOfTheProgramMayCallMpi) {
  run_threaded(GetParam(), 3, [](int rank, int size) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    std::array<MPI_Comm, 3> own;
    for (MPI_Comm& each : own) MPI_Comm_dup(MPI_COMM_WORLD, &each);
    MPI_Op_create(&sum_of_columns, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const bool good = in_threads(3, [&](int thread) {
      const MPI_Comm mine = own[static_cast<std::size_t>(thread)];
      bool fine = true;
      for (int i = 0; i < 20; ++i) {
        const std::array<int, 2> in = {rank + i, thread};
        std::array<int, 2> out = {};
        if (i % 2 == 0) {
          MPI_Allreduce(in.data(), out.data(), 1, pair, op, mine);
        } else {
          MPI_Request request = MPI_REQUEST_NULL;
          MPI_Iallreduce(in.data(), out.data(), 1, pair, op, mine, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        const int sum = size * (size - 1) / 2 + size * i;
        fine &= MPI_TEST_CHECK(out[0] == sum && out[1] == size * thread, rank, out[0]);
      }
      return fine;
    });
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    for (MPI_Comm& each : own) MPI_Comm_free(&each);
    return good;
  });
}

int handled_of_windows = 0;
void count_error_of_window(MPI_Win*, int*, ...) { ++handled_of_windows; }

TEST_P(Threads, HandlersOfWindowsAreCalled) {
  run_threaded(GetParam(), 2, [](int rank, int) {
    MPI_Win win = MPI_WIN_NULL;
    int* base = nullptr;
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Win_create_errhandler(&count_error_of_window, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    MPI_Put(base, 1, MPI_INT, 5, 0, 1, MPI_INT, win);
    const bool good = MPI_TEST_CHECK(handled_of_windows == 2, rank, handled_of_windows);
    MPI_Win_free(&win);
    return good;
  });
}

TEST_P(Threads, ThreadsThatSleepAreCalled) {
  run_threaded(GetParam(), 2, [](int rank, int) {
    constexpr auto kLong = std::chrono::milliseconds(60);
    return in_threads(4, [&](int thread) {
      bool good = true;
      int number = -1;
      MPI_Status status;
      const int one = 1;
      if (thread == 0) {
        std::this_thread::sleep_for(kLong);
        good &= exchange(rank, 2, 10, 10);
        const int sent = 100 + rank;
        MPI_Send(&sent, 1, MPI_INT, 1 - rank, 20, MPI_COMM_WORLD);
        std::this_thread::sleep_for(kLong);
        MPI_Send(&one, 1, MPI_INT, rank, 21, MPI_COMM_WORLD);
        std::this_thread::sleep_for(kLong);
        MPI_Ssend(&one, 1, MPI_INT, rank, 22, MPI_COMM_WORLD);
      } else if (thread == 1) {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
        good &= MPI_TEST_CHECK(number == 100 + 1 - rank, rank, number);
      } else if (thread == 2) {
        MPI_Probe(rank, 21, MPI_COMM_WORLD, &status);
        MPI_Recv(&number, 1, MPI_INT, rank, 21, MPI_COMM_WORLD, &status);
        good &= MPI_TEST_CHECK(number == 1, rank, number);
      } else {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(&number, 1, MPI_INT, rank, 22, MPI_COMM_WORLD, &requests[0]);
        int which = -1;
        MPI_Waitany(2, requests, &which, &status);
        good &= MPI_TEST_CHECK(which == 0 && number == 1, rank, which);
      }
      return good;
    });
  });
}

// Each thread has a communicator of its own that it makes intercommunicators from, at a time with
// the others: what is sent in one must not come to another thread.
TEST_P(Threads, IntercommunicatorsMadeAtOnceAreApart) {
  run_threaded(GetParam(), 2, [](int rank, int) {
    constexpr int kThreads = 4;
    MPI_Comm own[kThreads];
    for (MPI_Comm& comm : own) MPI_Comm_dup(MPI_COMM_SELF, &comm);
    const bool good = in_threads(kThreads, [&](int thread) {
      bool fine = true;
      for (int round = 0; round < 8; ++round) {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Intercomm_create(own[thread], 0, MPI_COMM_WORLD, 1 - rank, 50 + thread, &made);
        const int sent = 1000 * round + 10 * thread + rank;
        int number = -1;
        MPI_Sendrecv(&sent, 1, MPI_INT, 0, 9, &number, 1, MPI_INT, 0, 9, made, MPI_STATUS_IGNORE);
        fine &= MPI_TEST_CHECK(number == sent + 1 - 2 * rank, rank, number);
        MPI_Comm_free(&made);
      }
      return fine;
    });
    for (MPI_Comm& comm : own) MPI_Comm_free(&comm);
    return good;
  });
}

// One thread alone, which takes the short ways under the lock.
TEST_P(Threads, OneCallingThread) {
  run_threaded(GetParam(), 2, [](int rank, int size) {
    bool good = exchange(rank, size, 1, 40);
    for (int i = 0; i < 300; ++i) {
      int number = i + rank;
      if (rank == 0) {
        MPI_Send(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        good &= MPI_TEST_CHECK(number == 2 * i + 1, rank, number);
      } else {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        number += got;
        MPI_Send(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
      }
    }
    // An error of a receive that went the short way is raised outside the lock.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int few = 0;
    const int many[2] = {1, 2};
    MPI_Send(many, 2, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
    const int error = MPI_Recv(&few, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return good && MPI_TEST_CHECK(error == MPI_ERR_TRUNCATE, rank, error);
  });
}

// Threads of the sender make partitions ready, threads of the receiver wait for theirs.
TEST_P(Threads, PartitionsOfEach) {
  run_threaded(GetParam(), 2, [](int rank, int) {
    constexpr int kThreads = 3;
    constexpr int kEach = 100;
    std::vector<int> data(kThreads * kEach);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
      MPI_Psend_init(data.data(), kThreads, kEach, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
    } else {
      MPI_Precv_init(data.data(), kThreads, kEach, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
    }
    bool good = true;
    for (int round = 1; round <= 20; ++round) {
      MPI_Start(&request);
      good &= in_threads(kThreads, [&](int thread) {
        int* const own = &data[static_cast<std::size_t>(thread) * kEach];
        if (rank == 0) {
          for (int i = 0; i < kEach; ++i) own[i] = thread * 1000 + i * 7 + round;
          return MPI_Pready(thread, request) == MPI_SUCCESS;
        }
        int flag = 0;
        while (flag == 0) MPI_Parrived(request, thread, &flag);
        bool right = true;
        for (int i = 0; i < kEach; ++i) right &= own[i] == thread * 1000 + i * 7 + round;
        return right;
      });
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
