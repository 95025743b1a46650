// Accesses that come after the first one of their epoch, which take shorter ways where the target's
// memory can be mapped: they do, check and tell what the first ones do.
#include "tests/mpi/windows.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace fairlead::mpi_test {
namespace {

struct WindowAccess : PerWorld {};
INSTANTIATE_MPI_TESTS(WindowAccess);

constexpr int kBytes = 64;

// Accesses of `target`, whose displacements count `unit` bytes, that are wrong in one argument
// each; the same call with right ones has succeeded before, and does again.
bool tells_wrong_accesses(MPI_Win win, int rank, int target, int unit, int size) {
  std::int64_t data[2] = {7, 7};
  const auto put = [&](int to, MPI_Aint disp, int count, int there, MPI_Datatype type) {
    return MPI_Put(data, count, type, to, disp, there, type, win);
  };
  const MPI_Aint last = (kBytes - 8) / unit;
  const auto right = [&] { return put(target, last, 1, 1, MPI_INT64_T) == MPI_SUCCESS; };
  bool good = MPI_TEST_CHECK(right(), rank, target) && MPI_TEST_CHECK(right(), rank, target);
  const auto expect = [&](int error, int expected) {
    good &= MPI_TEST_CHECK(error == expected, rank, error * 1000 + expected);
    good &= MPI_TEST_CHECK(right(), rank, expected);
  };
  expect(put(target, last + 1, 1, 1, MPI_INT64_T), MPI_ERR_RMA_RANGE);
  expect(put(target, last, 2, 2, MPI_INT64_T), MPI_ERR_RMA_RANGE);
  expect(put(target, std::numeric_limits<MPI_Aint>::max() / unit, 1, 1, MPI_INT64_T),
         MPI_ERR_RMA_RANGE);
  expect(put(target, std::numeric_limits<MPI_Aint>::max(), 1, 1, MPI_INT64_T), MPI_ERR_RMA_RANGE);
  expect(put(target, -1, 1, 1, MPI_INT64_T), MPI_ERR_DISP);
  expect(put(size, 0, 1, 1, MPI_INT64_T), MPI_ERR_RANK);
  expect(put(-77, 0, 1, 1, MPI_INT64_T), MPI_ERR_RANK);
  expect(put(target, 0, -1, -1, MPI_INT64_T), MPI_ERR_COUNT);
  expect(put(target, 0, 1, 2, MPI_INT64_T), MPI_ERR_ARG);
  expect(put(target, 0, 1, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
  expect(MPI_Put(nullptr, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win), MPI_ERR_BUFFER);
  expect(MPI_Put(nullptr, 0, MPI_INT64_T, target, 0, 0, MPI_INT64_T, win), MPI_SUCCESS);
  expect(put(MPI_PROC_NULL, 0, 1, 1, MPI_INT64_T), MPI_SUCCESS);
  expect(MPI_Get(data, 1, MPI_INT64_T, target, last + 1, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
  expect(MPI_Get(nullptr, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win), MPI_ERR_BUFFER);
  expect(MPI_Accumulate(data, 1, MPI_INT64_T, target, last + 1, 1, MPI_INT64_T, MPI_SUM, win),
         MPI_ERR_RMA_RANGE);
  expect(MPI_Accumulate(data, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_OP_NULL, win),
         MPI_ERR_OP);
  expect(MPI_Fetch_and_op(data, nullptr, MPI_INT64_T, target, 0, MPI_SUM, win), MPI_ERR_BUFFER);
  expect(MPI_Fetch_and_op(nullptr, data, MPI_INT64_T, target, 0, MPI_SUM, win), MPI_ERR_BUFFER);
  expect(MPI_Compare_and_swap(data, data, data + 1, MPI_INT64_T, target, -1, win), MPI_ERR_DISP);
  expect(MPI_Compare_and_swap(data, data, data + 1, MPI_DOUBLE, target, 0, win), MPI_ERR_TYPE);
  return good;
}

TEST_P(WindowAccess, IsCheckedAsTheFirstOneOfItsEpoch) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group to = MPI_GROUP_NULL;
    MPI_Group from = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    for (const bool allocates : {false, true}) {
      // Each rank counts displacements in a unit of its own.
      const Made made(allocates, kBytes, 1 << rank);
      MPI_Win win = made.win;
      MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
      std::int64_t word = 0;
      const auto error_to = [&](int target) {
        return MPI_Put(&word, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win);
      };
      const auto is_closed_to = [&](int target) {
        good &= MPI_TEST_CHECK(error_to(target) == MPI_ERR_RMA_SYNC, rank, target);
        good &= MPI_TEST_CHECK(MPI_Win_flush(target, win) == MPI_ERR_RMA_SYNC, rank, target);
        good &= MPI_TEST_CHECK(MPI_Win_flush_all(win) == MPI_ERR_RMA_SYNC, rank, target);
      };
      const auto try_out = [&] { return tells_wrong_accesses(win, rank, right, 1 << right, size); };
      MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
      good &= try_out();
      good &= MPI_TEST_CHECK(error_to(left) == MPI_ERR_RMA_SYNC, rank, left);
      MPI_Win_unlock(right, win);
      is_closed_to(right);
      MPI_Win_lock_all(0, win);
      good &= try_out();
      good &= MPI_TEST_CHECK(error_to(left) == MPI_SUCCESS, rank, left);
      MPI_Win_unlock_all(win);
      is_closed_to(right);
      is_closed_to(left);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_fence(0, win);
      good &= try_out();
      MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
      is_closed_to(right);
      MPI_Win_post(from, 0, win);
      MPI_Win_start(to, 0, win);
      good &= try_out();
      good &= MPI_TEST_CHECK(error_to(left) == MPI_ERR_RMA_SYNC, rank, left);
      MPI_Win_complete(win);
      is_closed_to(right);
      MPI_Win_wait(win);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
    return good;
  });
}

TEST_P(WindowAccess, OfEverySmallSizeTouchesItsBytesOnly) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    bool good = true;
    constexpr int kMost = 70;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, kMost + 2, 1);
      const int right = (rank + 1) % size;
      for (int bytes = 1; bytes <= kMost; ++bytes) {
        auto* const here = made.as<unsigned char>();
        std::memset(here, 0xee, kMost + 2);
        MPI_Win_fence(0, made.win);
        const auto sent = patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(rank));
        const auto expected =
            patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(right));
        // Twice: the first access of an epoch may go another way.
        for (int i = 0; i < 2; ++i) {
          MPI_Put(sent.data(), bytes, MPI_BYTE, right, 1, bytes, MPI_BYTE, made.win);
        }
        MPI_Win_fence(0, made.win);
        std::vector<unsigned char> got(static_cast<std::size_t>(bytes));
        MPI_Get(got.data(), 1, MPI_BYTE, right, 0, 1, MPI_BYTE, made.win);
        MPI_Get(got.data(), bytes, MPI_BYTE, right, 1, bytes, MPI_BYTE, made.win);
        MPI_Win_fence(0, made.win);
        good &= MPI_TEST_CHECK(got == sent, rank, bytes);
        good &= MPI_TEST_CHECK(
            std::memcmp(here + 1, expected.data(), static_cast<std::size_t>(bytes)) == 0, rank,
            bytes);
        good &= MPI_TEST_CHECK(here[0] == 0xee && here[bytes + 1] == 0xee, rank, bytes);
        MPI_Win_fence(0, made.win);
      }
    }
    return good;
  });
}

// What all ranks do to one word of rank 0's: the last value is that of any order.
template <class T>
bool combines(const Made& made, MPI_Datatype type, int rank, int size) {
  constexpr int kRounds = 20;
  bool good = true;
  auto* const words = made.as<T>();
  struct Case {
    MPI_Op op;
    T first;
    T own;
    T last;
  };
  const auto n = static_cast<T>(size);
  const auto rounds = static_cast<T>(kRounds);
  std::vector<Case> cases = {{MPI_SUM, T{5}, static_cast<T>(rank + 1),
                              static_cast<T>(T{5} + rounds * n * (n + T{1}) / T{2})},
                             {MPI_MAX, T{1}, static_cast<T>(rank + 3), static_cast<T>(size + 2)},
                             {MPI_PROD, T{3}, T{1}, T{3}}};
  if constexpr (std::numeric_limits<T>::is_integer) {
    const auto bit = static_cast<T>(1 << rank);
    const auto bits = static_cast<T>((1 << size) - 1);
    cases.push_back({MPI_BOR, T{0}, bit, bits});
    cases.push_back({MPI_BAND, bits, static_cast<T>(bits ^ bit), T{0}});
    // Each bit is turned over an even number of times.
    cases.push_back({MPI_BXOR, T{1}, bit, T{1}});
  }
  for (const Case& each : cases) {
    if (rank == 0) words[1] = words[2] = each.first;
    MPI_Win_fence(0, made.win);
    T old{};
    for (int i = 0; i < kRounds; ++i) {
      MPI_Accumulate(&each.own, 1, type, 0, 1, 1, type, each.op, made.win);
      MPI_Fetch_and_op(&each.own, &old, type, 0, 2, each.op, made.win);
    }
    MPI_Win_fence(0, made.win);
    if (rank != 0) continue;
    const auto which = reinterpret_cast<std::intptr_t>(each.op);
    good &= MPI_TEST_CHECK(words[1] == each.last, rank, which);
    good &= MPI_TEST_CHECK(words[2] == each.last, rank, which);
  }
  // What was there goes round: of all values put in and the first one, one is left.
  if (rank == 0) words[1] = T{100};
  MPI_Win_fence(MPI_MODE_NOSUCCEED, made.win);
  MPI_Win_lock_all(0, made.win);
  T gone{};
  T seen{};
  for (int i = 0; i < kRounds; ++i) {
    const auto own = static_cast<T>(rank + 1);
    T old{};
    MPI_Fetch_and_op(&own, &old, type, 0, 1, MPI_REPLACE, made.win);
    // NO_OP reads, and does not look at the origin's buffer.
    MPI_Fetch_and_op(nullptr, &seen, type, 0, 1, MPI_NO_OP, made.win);
    MPI_Win_flush(0, made.win);
    gone = static_cast<T>(gone + old);
  }
  MPI_Win_unlock_all(made.win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &gone, 1, type, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    const auto in = static_cast<T>(T{100} + rounds * n * (n + T{1}) / T{2});
    good &= MPI_TEST_CHECK(static_cast<T>(gone + words[1]) == in, rank, words[1]);
  }
  good &= MPI_TEST_CHECK(seen >= T{1} && seen <= T{100}, rank, seen);
  MPI_Barrier(MPI_COMM_WORLD);
  return good;
}

TEST_P(WindowAccess, CombinesElementsOfEverySizeAtOnceForAll) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    for (const bool allocates : {false, true}) {
      {
        const Made made(allocates, kBytes, 8);
        MPI_Win_set_errhandler(made.win, MPI_ERRORS_RETURN);
        good &= combines<std::int64_t>(made, MPI_INT64_T, rank, size);
        good &= combines<std::uint64_t>(made, MPI_UNSIGNED_LONG, rank, size);
        good &= combines<MPI_Aint>(made, MPI_AINT, rank, size);
        good &= combines<double>(made, MPI_DOUBLE, rank, size);
      }
      {
        const Made made(allocates, kBytes, 4);
        MPI_Win_set_errhandler(made.win, MPI_ERRORS_RETURN);
        good &= combines<int>(made, MPI_INT, rank, size);
        good &= combines<std::uint32_t>(made, MPI_UINT32_T, rank, size);
        good &= combines<float>(made, MPI_FLOAT, rank, size);
      }
      const Made made(allocates, kBytes, 2);
      MPI_Win_set_errhandler(made.win, MPI_ERRORS_RETURN);
      good &= combines<short>(made, MPI_SHORT, rank, size);
    }
    return good;
  });
}

// A counter that all count up by comparing and swapping loses none.
TEST_P(WindowAccess, ComparesAndSwapsAtOnceForAll) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    constexpr int kRounds = 10;
    bool good = true;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, kBytes, 8);
      MPI_Win_lock_all(0, made.win);
      std::int64_t wide = 0;
      std::int32_t narrow = 0;
      for (int i = 0; i < kRounds; ++i) {
        for (bool done = false; !done;) {
          const std::int64_t next = wide + 1;
          std::int64_t was = -1;
          MPI_Compare_and_swap(&next, &wide, &was, MPI_INT64_T, 0, 0, made.win);
          MPI_Win_flush(0, made.win);
          done = was == wide;
          wide = was;
        }
        for (bool done = false; !done;) {
          const std::int32_t next = narrow - 1;
          std::int32_t was = 1;
          MPI_Compare_and_swap(&next, &narrow, &was, MPI_INT, 0, 1, made.win);
          MPI_Win_flush(0, made.win);
          done = was == narrow;
          narrow = was;
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
      std::array<std::int64_t, 2> now = {-1, -1};
      MPI_Get(&now[0], 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, made.win);
      MPI_Get(&narrow, 1, MPI_INT, 0, 1, 1, MPI_INT, made.win);
      MPI_Win_flush(0, made.win);
      good &= MPI_TEST_CHECK(now[0] == std::int64_t{size} * kRounds, rank, now[0]);
      good &= MPI_TEST_CHECK(narrow == -size * kRounds, rank, narrow);
      MPI_Win_unlock_all(made.win);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    return good;
  });
}

// Whoever is told of a put after its flush finds it, by plain loads too.
TEST_P(WindowAccess, IsSeenByWhoeverIsToldAfterItsFlush) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    bool good = true;
    constexpr int kRounds = 50;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, kBytes, 8);
      MPI_Win_lock_all(0, made.win);
      for (std::int64_t i = 1; i <= kRounds; ++i) {
        if (rank == 0) {
          const std::int64_t both[2] = {i, -i};
          MPI_Put(both, 2, MPI_INT64_T, 1, 0, 2, MPI_INT64_T, made.win);
          MPI_Accumulate(&i, 1, MPI_INT64_T, 1, 3, 1, MPI_INT64_T, MPI_SUM, made.win);
          MPI_Win_flush(1, made.win);
          MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
          MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
          MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          MPI_Win_sync(made.win);
          const auto* const words = made.as<std::int64_t>();
          good &= MPI_TEST_CHECK(words[0] == i && words[1] == -i, rank, i);
          good &= MPI_TEST_CHECK(words[3] == i * (i + 1) / 2, rank, i);
          MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
      }
      MPI_Win_unlock_all(made.win);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    return good;
  });
}

// Few bytes may go by the target's processor where it is in a call, and without it where it
// computes: one after the other, and several at once.
TEST_P(WindowAccess, ReachesTargetsThatWaitAndThatCompute) {
  if (GetParam().starts_with("panda") || GetParam().starts_with("rsm") || GetParam() == "loop" ||
      GetParam() == "generic-hca" || GetParam() == "firelink@2") {
    GTEST_SKIP() << "targets serve in calls of MPI only";
  }
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kRounds = 100;
    constexpr int kWords = 40;
    bool good = true;
    std::vector<std::int64_t> memory(kWords + 1);
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create(memory.data(), 8 * (kWords + 1), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (const bool computes : {false, true, false}) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 1 && computes) {
        const volatile std::int64_t* const end = &memory[kWords];
        const double begin = MPI_Wtime();
        while (*end == 0 && MPI_Wtime() - begin < 20) {
        }
        good &= MPI_TEST_CHECK(*end == 1, rank, *end);
      } else if (rank == 0) {
        for (std::int64_t i = 0; i < kRounds; ++i) {
          const std::int64_t own = 3 * i + (computes ? 1 : 2);
          std::int64_t got = -1;
          MPI_Put(&own, 1, MPI_INT64_T, 1, i % kWords, 1, MPI_INT64_T, win);
          MPI_Win_flush(1, win);
          MPI_Get(&got, 1, MPI_INT64_T, 1, i % kWords, 1, MPI_INT64_T, win);
          MPI_Win_flush_local(1, win);
          good &= MPI_TEST_CHECK(got == own, rank, i);
        }
        std::vector<std::int64_t> got(kWords, -1);
        std::vector<std::int64_t> given(kWords);
        for (std::size_t i = 0; i < kWords; ++i) {
          given[i] = -static_cast<std::int64_t>(i);
          MPI_Put(&given[i], 1, MPI_INT64_T, 1, static_cast<MPI_Aint>(i), 1, MPI_INT64_T, win);
        }
        MPI_Win_flush_all(win);
        for (std::size_t i = 0; i < kWords; ++i) {
          MPI_Get(&got[i], 1, MPI_INT64_T, 1, static_cast<MPI_Aint>(i), 1, MPI_INT64_T, win);
        }
        MPI_Win_flush_all(win);
        good &= MPI_TEST_CHECK(got == given, rank, got[0]);
        const std::int64_t end = computes ? 1 : 0;
        MPI_Put(&end, 1, MPI_INT64_T, 1, kWords, 1, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
