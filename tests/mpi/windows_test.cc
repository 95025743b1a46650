// One-sided communication in every world: each way to make a window, each kind of epoch, each kind
// of access.
#include "tests/mpi/windows.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "fairlead/base/sanitized.h"

namespace fairlead::mpi_test {
namespace {

struct Windows : PerWorld {};
INSTANTIATE_MPI_TESTS(Windows);

TEST_P(Windows, FencesSeparatePutsAndGets) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    for (const bool allocates : {false, true}) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{3000}, std::size_t{150000}}) {
        const Made made(allocates, bytes + 16, 2);
        const auto seed = [&](int of) { return static_cast<unsigned>(of) * 7 + allocates; };
        const auto sent = patterned(bytes, seed(rank));
        const auto count = static_cast<int>(bytes);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, made.win);
        MPI_Put(sent.data(), count, MPI_BYTE, right, 4, count, MPI_BYTE, made.win);
        MPI_Put(sent.data(), count, MPI_BYTE, MPI_PROC_NULL, 4, count, MPI_BYTE, made.win);
        MPI_Win_fence(0, made.win);
        const auto* const here = made.as<unsigned char>();
        good &= MPI_TEST_CHECK(
            std::memcmp(here + 8, patterned(bytes, seed(left)).data(), bytes) == 0, rank, bytes);
        good &= MPI_TEST_CHECK(here[7] == 0 && here[8 + bytes] == 0, rank, bytes);
        // What this rank has put there itself, and its own by a get from itself.
        std::vector<unsigned char> back(bytes);
        std::vector<unsigned char> own(bytes);
        MPI_Get(back.data(), count, MPI_BYTE, right, 4, count, MPI_BYTE, made.win);
        MPI_Get(own.data(), count, MPI_BYTE, rank, 4, count, MPI_BYTE, made.win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, made.win);
        good &= MPI_TEST_CHECK(back == sent, rank, bytes);
        good &= MPI_TEST_CHECK(own == patterned(bytes, seed(left)), rank, bytes);
      }
    }
    return good;
  });
}

constexpr int kRounds = 3;
constexpr int kLong = 700;

// What all ranks add to one rank's memory.
bool adds(const Made& made, int rank, int size) {
  auto* const numbers = made.as<std::int64_t>();
  bool good = true;
  MPI_Win_fence(0, made.win);
  // Elements of 8, 4, 2 and 16 bytes, at their own places; a vector of more than one packet.
  const double value = 0.5 * (rank + 1);
  const int one = 1;
  const short few[3] = {1, 2, 3};
  struct {
    double value;
    int index;
  } pair = {10.0 - rank, rank}, least = {1000, 1000};
  std::vector<double> all(kLong, value);
  if (rank == 0) std::memcpy(numbers + 8, &least, sizeof least);
  MPI_Win_fence(0, made.win);
  for (int i = 0; i < kRounds; ++i) {
    MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, made.win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_SUM, made.win);
    MPI_Accumulate(few, 3, MPI_SHORT, 0, 16, 3, MPI_SHORT, MPI_SUM, made.win);
    MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, 64, 1, MPI_DOUBLE_INT, MPI_MINLOC, made.win);
    MPI_Accumulate(all.data(), kLong, MPI_DOUBLE, 0, 256, kLong, MPI_DOUBLE, MPI_SUM, made.win);
  }
  MPI_Win_fence(0, made.win);
  if (rank == 0) {
    const double sum = 0.25 * size * (size + 1) * kRounds;
    double got = 0;
    std::memcpy(&got, numbers, sizeof got);
    good &= MPI_TEST_CHECK(got == sum, rank, got * 100);
    good &= MPI_TEST_CHECK(*reinterpret_cast<int*>(numbers + 1) == size * kRounds, rank, 0);
    good &= MPI_TEST_CHECK(made.as<short>()[10] == 3 * size * kRounds, rank, made.as<short>()[10]);
    std::memcpy(&least, numbers + 8, sizeof least);
    good &= MPI_TEST_CHECK(least.value == 11.0 - size && least.index == size - 1, rank, 0);
    std::memcpy(all.data(), numbers + 32, kLong * sizeof(double));
    for (const double each : all) good &= MPI_TEST_CHECK(each == sum, rank, each * 100);
    std::memset(numbers, 0, 6400);
  }
  MPI_Win_fence(0, made.win);
  return good;
}

// What all swap there, and get for it.
bool swaps(const Made& made, int rank, int size) {
  bool good = true;
  // Every rank draws numbers: together each exactly once.
  const std::int64_t step = 1;
  std::vector<std::int64_t> drawn(kRounds);
  for (std::int64_t& each : drawn) {
    MPI_Fetch_and_op(&step, &each, MPI_INT64_T, 0, 0, MPI_SUM, made.win);
  }
  MPI_Win_fence(0, made.win);
  std::int64_t sum = std::accumulate(drawn.begin(), drawn.end(), std::int64_t{0});
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const std::int64_t n = std::int64_t{size} * kRounds;
  good &= MPI_TEST_CHECK(sum == n * (n - 1) / 2, rank, sum);
  for (int i = 1; i < kRounds; ++i) good &= MPI_TEST_CHECK(drawn[i] > drawn[i - 1], rank, i);
  // One of them gets the word that was 0.
  const int mine = rank + 1;
  const int nobody = 0;
  int was = -1;
  MPI_Compare_and_swap(&mine, &nobody, &was, MPI_INT, 0, 80, made.win);
  // And what was there, by whoever comes, is somebody's.
  std::vector<std::int64_t> old(kLong, -1);
  std::vector<std::int64_t> own(kLong, mine);
  MPI_Get_accumulate(own.data(), kLong, MPI_INT64_T, old.data(), kLong, MPI_INT64_T, 0, 256, kLong,
                     MPI_INT64_T, MPI_REPLACE, made.win);
  MPI_Win_fence(0, made.win);
  int winners = was == 0;
  MPI_Allreduce(MPI_IN_PLACE, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(winners == 1, rank, winners);
  std::int64_t last = 0;
  std::vector<std::int64_t> now(kLong, -1);
  MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, now.data(), kLong, MPI_INT64_T, 0, 256, kLong,
                     MPI_INT64_T, MPI_NO_OP, made.win);
  MPI_Get(&last, 1, MPI_INT64_T, 0, 256 + 8 * (kLong - 1), 1, MPI_INT64_T, made.win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, made.win);
  // Elementwise, every value but the last was replaced once: the sum over ranks tells.
  for (const int i : {0, kLong / 2, kLong - 1}) {
    std::int64_t seen = old[static_cast<std::size_t>(i)];
    MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    const std::int64_t expected = std::int64_t{size} * (size + 1) / 2;
    good &= MPI_TEST_CHECK(seen + now[static_cast<std::size_t>(i)] == expected, rank, seen);
  }
  return good && MPI_TEST_CHECK(last == now[kLong - 1], rank, last);
}

TEST_P(Windows, CallsThatCombineAreAtomic) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, 6400, 1);
      good &= adds(made, rank, size);
      good &= swaps(made, rank, size);
    }
    return good;
  });
}

TEST_P(Windows, LocksExcludeAndShare) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, 64, 8);
      // A counter that is read and written apart: only a lock makes it right.
      for (int i = 0; i < kRounds; ++i) {
        std::int64_t count = 0;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, made.win);
        MPI_Get(&count, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, made.win);
        MPI_Win_flush(1, made.win);
        ++count;
        MPI_Put(&count, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, made.win);
        MPI_Win_unlock(1, made.win);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      std::int64_t count = -1;
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, made.win);
      MPI_Get(&count, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, made.win);
      MPI_Win_unlock(1, made.win);
      good &= MPI_TEST_CHECK(count == size * kRounds, rank, count);
      // Readers are in at the same time: all pass the barrier with the lock.
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, made.win);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_unlock(0, made.win);
      MPI_Win_lock_all(0, made.win);
      const std::int64_t mine = rank + 100;
      for (int to = 0; to < size; ++to) {
        MPI_Put(&mine, 1, MPI_INT64_T, to, 1 + rank, 1, MPI_INT64_T, made.win);
      }
      MPI_Win_flush_local_all(made.win);
      MPI_Win_flush_all(made.win);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_sync(made.win);
      std::int64_t got[4] = {};
      MPI_Get(got, size, MPI_INT64_T, (rank + 1) % size, 1, size, MPI_INT64_T, made.win);
      MPI_Win_flush_local((rank + 1) % size, made.win);
      for (int r = 0; r < size; ++r) {
        good &= MPI_TEST_CHECK(made.as<std::int64_t>()[1 + r] == r + 100, rank, r);
        good &= MPI_TEST_CHECK(got[r] == r + 100, rank, r);
      }
      MPI_Win_unlock_all(made.win);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    return good;
  });
}

// A lock of the program's: whoever waits calls and flushes until it is free.
TEST_P(Windows, WaitingByAtomicsLetsOthersGoOn) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    const Made made(true, 16, 8);
    const std::int64_t mine = rank + 1;
    const std::int64_t nobody = 0;
    std::int64_t count = 0;
    MPI_Win_lock_all(0, made.win);
    for (int i = 0; i < kRounds; ++i) {
      std::int64_t holder = -1;
      while (holder != 0) {
        MPI_Compare_and_swap(&mine, &nobody, &holder, MPI_INT64_T, 0, 0, made.win);
        MPI_Win_flush(0, made.win);
      }
      MPI_Get(&count, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, made.win);
      MPI_Win_flush_local(0, made.win);
      ++count;
      // Others try meanwhile.
      std::vector<char> gone(40000);
      MPI_Sendrecv_replace(gone.data(), 40000, MPI_CHAR, rank, 0, rank, 0, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
      MPI_Put(&count, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, made.win);
      MPI_Win_flush(0, made.win);
      MPI_Accumulate(&nobody, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, made.win);
      MPI_Win_flush(0, made.win);
    }
    MPI_Win_unlock_all(made.win);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t all = made.as<std::int64_t>()[1];
    return rank != 0 || MPI_TEST_CHECK(all == std::int64_t{size} * kRounds, rank, all);
  });
}

TEST_P(Windows, PostStartCompleteWait) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group to = MPI_GROUP_NULL;
    MPI_Group from = MPI_GROUP_NULL;
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    for (const bool allocates : {false, true}) {
      const Made made(allocates, 40000, 1);
      for (int round = 0; round < 3; ++round) {
        const auto sent = patterned(20000, static_cast<unsigned>(rank + round));
        const int one = 1;
        MPI_Win_post(from, 0, made.win);
        MPI_Win_start(to, 0, made.win);
        MPI_Put(sent.data(), 20000, MPI_BYTE, right, 100, 20000, MPI_BYTE, made.win);
        MPI_Accumulate(&one, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, made.win);
        MPI_Win_complete(made.win);
        int over = 0;
        while (round == 1 && over == 0) MPI_Win_test(made.win, &over);
        if (round != 1) MPI_Win_wait(made.win);
        const auto expected = patterned(20000, static_cast<unsigned>(left + round));
        good &= MPI_TEST_CHECK(
            std::memcmp(made.as<char>() + 100, expected.data(), expected.size()) == 0, rank, round);
        good &= MPI_TEST_CHECK(*made.as<int>() == round + 1, rank, *made.as<int>());
      }
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
    return good;
  });
}

TEST_P(Windows, RequestsAndDynamicMemory) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    bool good = true;
    const int right = (rank + 1) % size;
    {
      const Made made(true, 64, 8);
      MPI_Win_lock_all(0, made.win);
      const std::int64_t mine[2] = {rank, 5};
      std::int64_t got[2] = {-1, -1};
      std::int64_t was = -1;
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      MPI_Rput(mine, 2, MPI_INT64_T, right, 0, 2, MPI_INT64_T, made.win, &requests[0]);
      MPI_Raccumulate(mine + 1, 1, MPI_INT64_T, right, 2, 1, MPI_INT64_T, MPI_SUM, made.win,
                      &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Win_flush(right, made.win);
      MPI_Rget(got, 2, MPI_INT64_T, right, 0, 2, MPI_INT64_T, made.win, &requests[0]);
      MPI_Rget_accumulate(mine, 1, MPI_INT64_T, &was, 1, MPI_INT64_T, right, 2, 1, MPI_INT64_T,
                          MPI_SUM, made.win, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      good &= MPI_TEST_CHECK(got[0] == rank && got[1] == 5 && was == 5, rank, was);
      MPI_Win_unlock_all(made.win);
    }
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    std::vector<int> here(3000, rank);
    std::vector<std::int64_t> more(8, 0);
    // In pieces that touch: accesses may cross their edge.
    MPI_Win_attach(win, here.data(), 1000 * MPI_Aint{sizeof(int)});
    MPI_Win_attach(win, here.data() + 1000, 2000 * MPI_Aint{sizeof(int)});
    MPI_Win_attach(win, more.data(), 64);
    good &= MPI_TEST_CHECK(MPI_Win_attach(win, here.data() + 1, 4) == MPI_ERR_RMA_ATTACH, rank, 0);
    MPI_Aint where[2] = {};
    MPI_Get_address(here.data(), &where[0]);
    MPI_Get_address(more.data(), &where[1]);
    std::vector<MPI_Aint> all(2 * static_cast<std::size_t>(size));
    MPI_Allgather(where, 2, MPI_AINT, all.data(), 2, MPI_AINT, MPI_COMM_WORLD);
    const MPI_Aint* const there = &all[2 * static_cast<std::size_t>(right)];
    const std::vector<int> sent(1500, rank + 50);
    const std::int64_t one = 1;
    std::vector<int> got(1500, -1);
    MPI_Win_lock_all(0, win);
    MPI_Put(sent.data(), 1500, MPI_INT, right, there[0], 1500, MPI_INT, win);
    MPI_Get(got.data(), 1500, MPI_INT, right, there[0] + 6000, 1500, MPI_INT, win);
    for (int to = 0; to < size; ++to) {
      MPI_Accumulate(&one, 1, MPI_INT64_T, to, all[2 * static_cast<std::size_t>(to) + 1], 1,
                     MPI_INT64_T, MPI_SUM, win);
    }
    MPI_Win_flush_all(win);
    good &= MPI_TEST_CHECK(got == std::vector<int>(1500, right), rank, got[0]);
    // Expect: what is attached nowhere is told of at the end of the access.
    for (const int to : {rank, right}) {
      MPI_Put(&one, 1, MPI_INT64_T, to, 8, 1, MPI_INT64_T, win);
      good &= MPI_TEST_CHECK(MPI_Win_flush(to, win) == MPI_ERR_RMA_RANGE, rank, to);
      good &= MPI_TEST_CHECK(MPI_Win_flush(to, win) == MPI_SUCCESS, rank, to);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    const int left = (rank + size - 1) % size;
    good &= MPI_TEST_CHECK(here[0] == left + 50 && here[1499] == left + 50, rank, here[0]);
    good &= MPI_TEST_CHECK(here[1500] == rank && more[0] == size, rank, more[0]);
    MPI_Win_detach(win, here.data());
    good &= MPI_TEST_CHECK(MPI_Win_detach(win, here.data()) == MPI_ERR_RMA_ATTACH, rank, 0);
    MPI_Win_free(&win);
    return good;
  });
}

// Whoever computes is reached, too: by mapped memory, the network, or an interrupt. Not by the
// panda device, between ranks of one thread, and where the Port has no interrupts.
TEST_P(Windows, TargetsMayCompute) {
  if (GetParam().starts_with("panda") || GetParam().starts_with("rsm") || GetParam() == "loop" ||
      GetParam() == "generic-hca" || GetParam() == "firelink@2") {
    GTEST_SKIP() << "targets serve in calls of MPI only";
  }
#ifdef FAIRLEAD_TSAN
  GTEST_SKIP() << "the test looks at memory while the library writes it";
#endif
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, 64, 8);
      auto* const word = static_cast<volatile std::int64_t*>(made.base);
      const std::int64_t one = 1;
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 0) {
        for (int i = 0; i < 5; ++i) {
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, made.win);
          MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 1, 1, MPI_INT64_T, MPI_SUM, made.win);
          MPI_Win_flush(1, made.win);
          if (i == 4) MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, made.win);
          MPI_Win_unlock(1, made.win);
        }
      } else {
        const double begin = MPI_Wtime();
        while (word[0] == 0 && MPI_Wtime() - begin < 10) {
        }
        good &= MPI_TEST_CHECK(word[0] == 1 && word[1] == 5, rank, word[1]);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    return good;
  });
}

// Windows of each kind tell their memory to those that can load and store it, and no other.
TEST_P(Windows, MemoryOfEveryKindOfWindowIsAskedFor) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, 8 * sizeof(int), sizeof(int));
      MPI_Win_lock_all(0, made.win);
      made.as<int>()[7] = rank + 40;
      MPI_Win_sync(made.win);
      MPI_Barrier(MPI_COMM_WORLD);
      for (int r = 0; r < size; ++r) {
        MPI_Aint bytes = -1;
        int unit = -1;
        int* theirs = made.as<int>();
        good &= MPI_TEST_CHECK(
            MPI_Win_shared_query(made.win, r, &bytes, &unit, &theirs) == MPI_SUCCESS, rank, r);
        good &= MPI_TEST_CHECK(unit == sizeof(int), rank, unit);
        good &= MPI_TEST_CHECK((bytes == 0) == (theirs == nullptr), rank, bytes);
        if (r == rank) good &= MPI_TEST_CHECK(theirs == made.base, rank, r);
        if (theirs == nullptr) continue;
        good &= MPI_TEST_CHECK(bytes == 8 * MPI_Aint{sizeof(int)}, rank, bytes);
        good &= MPI_TEST_CHECK(theirs[7] == r + 40, rank, theirs[7]);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_unlock_all(made.win);
    }
    MPI_Win dynamic = MPI_WIN_NULL;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Aint bytes = -1;
    int unit = -1;
    void* theirs = &bytes;
    MPI_Win_shared_query(dynamic, MPI_PROC_NULL, &bytes, &unit, &theirs);
    good &= MPI_TEST_CHECK(bytes == 0 && theirs == nullptr, rank, bytes);
    MPI_Win_free(&dynamic);
    return good;
  });
}

// Where memory can be mapped ranks share it; elsewhere all are told.
TEST_P(Windows, SharedMemoryIsOneArray) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win win = MPI_WIN_NULL;
    int* mine = nullptr;
    // Rank 0 gives nothing.
    const int error =
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(sizeof(int)) * rank, sizeof(int),
                                MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    if (error != MPI_SUCCESS) return MPI_TEST_CHECK(error == MPI_ERR_RMA_SHARED, rank, error);
    bool good = true;
    MPI_Aint bytes = -1;
    int unit = -1;
    int* first = nullptr;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
    good &= MPI_TEST_CHECK(bytes == sizeof(int) && unit == sizeof(int), rank, bytes);
    int* of_right = nullptr;
    const int right = (rank + 1) % size;
    MPI_Win_shared_query(win, 0, &bytes, &unit, &of_right);
    good &= MPI_TEST_CHECK(bytes == 0 && of_right == nullptr, rank, bytes);
    MPI_Win_shared_query(win, right, &bytes, &unit, &of_right);
    good &= MPI_TEST_CHECK(bytes == MPI_Aint{sizeof(int)} * right, rank, bytes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < right; ++i) of_right[i] = 10 * right + i;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    // 10; 20 21; 30 31 32: one after the other.
    const int expected[] = {10, 20, 21, 30, 31, 32};
    good &= MPI_TEST_CHECK(std::memcmp(first, expected, sizeof expected) == 0, rank, first[0]);
    good &= MPI_TEST_CHECK(rank == 0 || mine[rank - 1] == 11 * rank - 1, rank, 0);
    int got = -1;
    MPI_Get(&got, 1, MPI_INT, size - 1, size - 2, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    good &= MPI_TEST_CHECK(got == 32, rank, got);
    MPI_Win_free(&win);
    return good;
  });
}

// Expect: ranks that MPI_COMM_TYPE_SHARED puts together can have a window of shared memory, in
// every world; where none can map another's memory, each is alone.
TEST_P(Windows, RanksSaidToShareMemoryDo) {
  run_ranks(GetParam(), 4, [](int rank, int) {
    MPI_Comm near = MPI_COMM_NULL, node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &near);
    MPI_Info kind = MPI_INFO_NULL;
    MPI_Info_create(&kind);
    MPI_Info_set(kind, "mpi_hw_resource_type", "hwloc://Machine");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, kind, &node);
    MPI_Info_free(&kind);
    int place = -1, near_size = -1, node_size = -1;
    MPI_Comm_rank(near, &place);
    MPI_Comm_size(near, &near_size);
    MPI_Comm_size(node, &node_size);
    bool good = MPI_TEST_CHECK(near_size >= 1 && near_size <= node_size, near_size, node_size);
    MPI_Win win = MPI_WIN_NULL;
    int* mine = nullptr;
    const int error =
        MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, near, &mine, &win);
    good &= MPI_TEST_CHECK(error == MPI_SUCCESS, rank, error);
    // Each stores its place at its right neighbour.
    MPI_Aint bytes = 0;
    int unit = 0;
    int* right = nullptr;
    MPI_Win_shared_query(win, (place + 1) % near_size, &bytes, &unit, &right);
    MPI_Win_fence(0, win);
    *right = place;
    MPI_Win_fence(0, win);
    const int left = (place + near_size - 1) % near_size;
    good &= MPI_TEST_CHECK(*mine == left, *mine, left);
    MPI_Win_free(&win);
    MPI_Comm_free(&near);
    MPI_Comm_free(&node);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
