// One-sided communication of data that lies anywhere, in every world: each kind of access, with the
// layouts of either end against what MPI_Pack and MPI_Unpack say of them.
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/mpi/windows.h"

namespace fairlead::mpi_test {
namespace {

struct WindowTypes : PerWorld {};
INSTANTIATE_MPI_TESTS(WindowTypes);

constexpr int kInts = 12;          // of an element of each type
constexpr MPI_Aint kRoom = 16384;  // bytes of a buffer or window
constexpr MPI_Aint kPlace = 4096;  // of the first element in it, as some lie before it

// Twelve ints, in more and more ways.
std::vector<MPI_Datatype> made_types() {
  std::vector<MPI_Datatype> types(7);
  MPI_Type_contiguous(kInts, MPI_INT, &types[0]);
  MPI_Type_vector(4, 3, 5, MPI_INT, &types[1]);
  MPI_Type_create_hvector(6, 2, -12, MPI_INT, &types[2]);
  const int lengths[4] = {5, 1, 4, 2};
  const int places[4] = {9, 0, 2, 20};
  MPI_Type_indexed(4, lengths, places, MPI_INT, &types[3]);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_create_hvector(6, 1, 20, pair, &types[4]);
  MPI_Type_free(&pair);
  const MPI_Datatype parts[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  const MPI_Aint offsets[4] = {-40, 8, 60, 36};
  MPI_Type_create_struct(4, lengths, offsets, parts, &types[5]);
  MPI_Type_create_resized(types[1], -8, 100, &types[6]);
  for (MPI_Datatype& each : types) MPI_Type_commit(&each);
  return types;
}
void free_types(std::vector<MPI_Datatype>& types) {
  for (MPI_Datatype& each : types) MPI_Type_free(&each);
}

using Bytes = std::vector<unsigned char>;

Bytes pack(const Bytes& buffer, int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  Bytes row(static_cast<std::size_t>(size * count));
  int position = 0;
  MPI_Pack(buffer.data() + kPlace, count, type, row.data(), size * count, &position,
           MPI_COMM_WORLD);
  return row;
}
void unpack(const Bytes& row, unsigned char* buffer, int count, MPI_Datatype type) {
  int position = 0;
  MPI_Unpack(row.data(), static_cast<int>(row.size()), &position, buffer + kPlace, count, type,
             MPI_COMM_WORLD);
}

TEST_P(WindowTypes, PutsAndGetsHaveAnyLayoutAtEitherEnd) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    std::vector<MPI_Datatype> types = made_types();
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, kRoom, 1);
      for (std::size_t i = 0; i < types.size() * types.size(); ++i) {
        const MPI_Datatype here = types[i / types.size()];
        const MPI_Datatype there = types[i % types.size()];
        const int count = i % 5 == 0 ? 40 : 1 + static_cast<int>(i % 3);
        const auto seed = [&](int of) { return static_cast<unsigned>(i) * 5 + of; };
        const Bytes sent = patterned(kRoom, seed(rank));
        std::memset(made.base, 7, kRoom);
        MPI_Win_fence(0, made.win);
        MPI_Put(sent.data() + kPlace, count, here, right, kPlace, count, there, made.win);
        MPI_Win_fence(0, made.win);
        Bytes expected(kRoom, 7);
        unpack(pack(patterned(kRoom, seed(left)), count, here), expected.data(), count, there);
        good &= MPI_TEST_CHECK(std::memcmp(made.base, expected.data(), kRoom) == 0, rank, i);
        // Back from there, in its order, into the layout here; and its own from itself.
        Bytes back(kRoom, 9);
        Bytes own(kRoom, 9);
        MPI_Get(back.data() + kPlace, count, here, right, kPlace, count, there, made.win);
        MPI_Get(own.data() + kPlace, count, here, rank, kPlace, count, there, made.win);
        MPI_Win_fence(0, made.win);
        Bytes whole(kRoom, 9);
        unpack(pack(sent, count, here), whole.data(), count, here);
        good &= MPI_TEST_CHECK(back == whole, rank, i);
        std::fill(whole.begin(), whole.end(), 9);
        unpack(pack(expected, count, there), whole.data(), count, here);
        good &= MPI_TEST_CHECK(own == whole, rank, i);
      }
    }
    free_types(types);
    return good;
  });
}

TEST_P(WindowTypes, CombiningTakesTypesOfOneKindOfElement) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    std::vector<MPI_Datatype> types = made_types();
    for (const bool allocates : {false, true}) {
      const Made made(allocates, kRoom, 4);
      for (std::size_t i = 0; i < types.size() * types.size(); i += 3) {
        const MPI_Datatype here = types[i / types.size()];
        const MPI_Datatype there = types[i % types.size()];
        const int count = 1 + static_cast<int>(i % 4) * 9;
        Bytes own(kRoom, 0);
        std::vector<int> numbers(static_cast<std::size_t>(count) * kInts);
        for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = static_cast<int>(n + i);
        Bytes row(numbers.size() * sizeof(int));
        std::memcpy(row.data(), numbers.data(), row.size());
        unpack(row, own.data(), count, here);
        std::memset(made.base, 0, kRoom);
        MPI_Win_fence(0, made.win);
        MPI_Accumulate(own.data() + kPlace, count, here, 1, kPlace / 4, count, there, MPI_SUM,
                       made.win);
        MPI_Win_fence(0, made.win);
        Bytes former(kRoom, 3);
        MPI_Get_accumulate(nullptr, 0, MPI_INT, former.data() + kPlace, count, here, 1, kPlace / 4,
                           count, there, MPI_NO_OP, made.win);
        MPI_Win_fence(0, made.win);
        for (int& each : numbers) each *= size;
        std::memcpy(row.data(), numbers.data(), row.size());
        Bytes expected(kRoom, 3);
        unpack(row, expected.data(), count, here);
        good &= MPI_TEST_CHECK(former == expected, rank, i);
        MPI_Win_fence(0, made.win);
      }
    }
    free_types(types);
    return good;
  });
}

// Elements with gaps, and such as lie where their type may not.
TEST_P(WindowTypes, PairsHaveGapsAndPlacesMayBeCrooked) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    struct Pair {
      double value;
      int index;
      int gap;
    };
    bool good = true;
    MPI_Datatype second = MPI_DATATYPE_NULL;
    MPI_Type_vector(5, 1, 2, MPI_DOUBLE_INT, &second);
    MPI_Type_commit(&second);
    MPI_Datatype crooked = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(5, 1, 11, MPI_DOUBLE, &crooked);
    MPI_Type_commit(&crooked);
    for (const bool allocates : {false, true}) {
      const Made made(allocates, 1024, 1);
      auto* const pairs = made.as<Pair>();
      for (int i = 0; i < 10; ++i) pairs[i] = {100, 100, 77};
      MPI_Win_fence(0, made.win);
      Pair mine[10];
      for (int i = 0; i < 10; ++i) mine[i] = {10.0 * i - rank, rank, 55};
      MPI_Accumulate(mine, 1, second, 0, 0, 1, second, MPI_MINLOC, made.win);
      MPI_Win_fence(0, made.win);
      Pair got[10] = {};
      Pair old[10] = {};
      MPI_Get(got, 5, MPI_DOUBLE_INT, 0, 0, 1, second, made.win);
      MPI_Get_accumulate(nullptr, 0, MPI_DOUBLE_INT, old, 1, second, 0, 0, 5, MPI_DOUBLE_INT,
                         MPI_NO_OP, made.win);
      MPI_Win_fence(0, made.win);
      for (int i = 0; i < 5; ++i) {
        const double least = 20.0 * i - (size - 1);
        good &= MPI_TEST_CHECK(got[i].value == least && got[i].index == size - 1, rank, i);
        const double other = i % 2 == 0 ? 10.0 * i - (size - 1) : 100;
        good &= MPI_TEST_CHECK(old[2 * i].value == other, rank, old[2 * i].value);
        if (rank == 0) good &= MPI_TEST_CHECK(pairs[2 * i + 1].value == 100, rank, i);
      }
      MPI_Win_fence(0, made.win);
      const double ones[5] = {1, 2, 3, 4, 5};
      if (rank == 0) std::memset(made.base, 0, 1024);
      MPI_Win_fence(0, made.win);
      MPI_Accumulate(ones, 5, MPI_DOUBLE, 0, 3, 1, crooked, MPI_SUM, made.win);
      MPI_Win_fence(0, made.win);
      for (int i = 0; rank == 0 && i < 5; ++i) {
        double sum = 0;
        std::memcpy(&sum, made.as<char>() + 3 + 11 * i, sizeof sum);
        good &= MPI_TEST_CHECK(sum == ones[i] * size, rank, sum);
      }
      MPI_Win_fence(0, made.win);
    }
    MPI_Type_free(&second);
    MPI_Type_free(&crooked);
    return good;
  });
}

// The types may be freed while the access is under way.
TEST_P(WindowTypes, RequestsAndFreedTypes) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    const int right = (rank + 1) % size;
    for (const bool allocates : {false, true}) {
      const Made made(allocates, kRoom, 4);
      std::vector<int> own(3000);
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int>(i) + rank;
      std::vector<int> got(3000, -1);
      std::vector<int> former(3000, -1);
      MPI_Win_lock_all(0, made.win);
      MPI_Datatype every_third = MPI_DATATYPE_NULL;
      MPI_Datatype every_other = MPI_DATATYPE_NULL;
      MPI_Type_vector(1000, 1, 3, MPI_INT, &every_third);
      MPI_Type_vector(1000, 1, 2, MPI_INT, &every_other);
      MPI_Type_commit(&every_third);
      MPI_Type_commit(&every_other);
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      MPI_Rput(own.data(), 1, every_third, right, 0, 1, every_other, made.win, &requests[0]);
      MPI_Raccumulate(own.data(), 1, every_third, right, 1, 1, every_other, MPI_SUM, made.win,
                      &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Win_flush(right, made.win);
      MPI_Get(got.data(), 1, every_third, right, 0, 1, every_other, made.win);
      MPI_Get_accumulate(own.data() + 1, 1, every_third, former.data(), 1, every_third, right, 1, 1,
                         every_other, MPI_REPLACE, made.win);
      MPI_Type_free(&every_third);
      MPI_Type_free(&every_other);
      MPI_Win_flush_all(made.win);
      MPI_Win_unlock_all(made.win);
      MPI_Barrier(MPI_COMM_WORLD);
      const int left = (rank + size - 1) % size;
      for (int i = 0; i < 1000; ++i) {
        const auto at = static_cast<std::size_t>(3 * i);
        good &= MPI_TEST_CHECK(got[at] == own[at] && got[at + 1] == -1, rank, i);
        good &= MPI_TEST_CHECK(former[at] == own[at] && former[at + 1] == -1, rank, i);
        good &= MPI_TEST_CHECK(made.as<int>()[2 * i] == 3 * i + left, rank, i);
        good &= MPI_TEST_CHECK(made.as<int>()[2 * i + 1] == 3 * i + 1 + left, rank, i);
      }
    }
    return good;
  });
}

TEST_P(WindowTypes, DynamicMemoryIsReachedByAddressesOfSeveralRegions) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    bool good = true;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    std::vector<int> first(100, -1);
    std::vector<int> second(100, -1);
    MPI_Win_attach(win, first.data(), 400);
    MPI_Win_attach(win, second.data(), 400);
    MPI_Aint where[2] = {};
    MPI_Get_address(first.data(), &where[0]);
    MPI_Get_address(second.data(), &where[1]);
    const int right = (rank + 1) % size;
    MPI_Aint there[2] = {};
    MPI_Sendrecv(where, 2, MPI_AINT, 1 - rank, 0, there, 2, MPI_AINT, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const int lengths[2] = {30, 50};
    MPI_Datatype both = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(2, lengths, there, MPI_INT, &both);
    MPI_Type_commit(&both);
    std::vector<int> own(80);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int>(i) + rank * 100;
    MPI_Win_lock_all(0, win);
    MPI_Put(own.data(), 80, MPI_INT, right, 0, 1, both, win);
    MPI_Win_flush(right, win);
    std::vector<int> got(80, -1);
    MPI_Get(got.data(), 80, MPI_INT, right, 0, 1, both, win);
    good &= MPI_TEST_CHECK(MPI_Win_flush(right, win) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(got == own, rank, got[0]);
    // One element too many of the second region: told when the access ends.
    const int too_many[2] = {30, 101};
    MPI_Datatype more = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(2, too_many, there, MPI_INT, &more);
    MPI_Type_commit(&more);
    std::vector<int> long_one(131, 5);
    MPI_Get(long_one.data(), 131, MPI_INT, right, 0, 1, more, win);
    good &= MPI_TEST_CHECK(MPI_Win_flush(right, win) == MPI_ERR_RMA_RANGE, rank, 0);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(first[29] == 29 + right * 100 && first[30] == -1, rank, first[29]);
    good &= MPI_TEST_CHECK(second[49] == 79 + right * 100 && second[50] == -1, rank, second[49]);
    MPI_Type_free(&both);
    MPI_Type_free(&more);
    MPI_Win_free(&win);
    return good;
  });
}

// The bytes must lie in the window, not the place that they are counted from.
TEST_P(WindowTypes, TypesMayLieBeforeADisplacementBeyondTheWindow) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    bool good = true;
    const Made made(true, 400, 4);
    const int to = (rank + 1) % size;
    MPI_Datatype back = MPI_DATATYPE_NULL;  // 2 ints from 40 before on
    const MPI_Aint place = -160;
    MPI_Type_create_hindexed_block(1, 2, &place, MPI_INT, &back);
    MPI_Datatype apart = MPI_DATATYPE_NULL;  // 2 ints, 40 and 30 ints before
    const MPI_Aint places[2] = {-160, -120};
    MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &apart);
    for (MPI_Datatype* const each : {&back, &apart}) MPI_Type_commit(each);
    const int own[2] = {rank + 5, rank + 6};
    int got[4] = {};
    MPI_Win_fence(0, made.win);
    MPI_Put(own, 2, MPI_INT, to, 130, 1, back, made.win);
    MPI_Accumulate(own, 2, MPI_INT, to, 110, 1, apart, MPI_SUM, made.win);
    MPI_Win_fence(0, made.win);
    MPI_Get(got, 2, MPI_INT, to, 130, 1, back, made.win);
    MPI_Get(got + 2, 2, MPI_INT, to, 110, 1, apart, made.win);
    MPI_Win_fence(0, made.win);
    for (int i = 0; i < 4; ++i) {
      good &= MPI_TEST_CHECK(got[i] == own[i % 2], rank, got[i]);
      const int at = std::array{90, 91, 70, 80}[static_cast<std::size_t>(i)];
      good &= MPI_TEST_CHECK(made.as<int>()[at] == to + 5 + i % 2, rank, at);
    }
    for (MPI_Datatype* const each : {&back, &apart}) MPI_Type_free(each);
    return good;
  });
}

TEST_P(WindowTypes, WrongArgumentsHaveTheirClassesAndHarmNothing) {
  run_ranks(GetParam(), 2, [](int rank, int size) {
    bool good = true;
    const Made made(true, 400, 4);
    MPI_Win_set_errhandler(made.win, MPI_ERRORS_RETURN);
    MPI_Datatype wide = MPI_DATATYPE_NULL;  // 5 ints, the last one 320 bytes from the first
    MPI_Type_vector(5, 1, 20, MPI_INT, &wide);
    MPI_Datatype before = MPI_DATATYPE_NULL;  // the second of 2 ints is 40 bytes before the first
    MPI_Type_create_hvector(2, 1, -40, MPI_INT, &before);
    MPI_Type_commit(&before);
    MPI_Datatype mixed = MPI_DATATYPE_NULL;
    const int ones[2] = {1, 1};
    const MPI_Aint places[2] = {0, 4};
    const MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, ones, places, parts, &mixed);
    MPI_Type_commit(&mixed);
    std::array<int, 100> own{};
    const int to = (rank + 1) % size;
    MPI_Win_fence(0, made.win);
    const auto put = [&](MPI_Aint disp, int count, MPI_Datatype type, int ints) {
      return MPI_Put(own.data(), ints, MPI_INT, to, disp, count, type, made.win);
    };
    good &= MPI_TEST_CHECK(put(0, 1, wide, 5) == MPI_ERR_TYPE, rank, 0);  // not committed
    MPI_Type_commit(&wide);
    good &= MPI_TEST_CHECK(put(0, 1, wide, 4) == MPI_ERR_ARG, rank, 0);
    good &= MPI_TEST_CHECK(put(20, 1, wide, 5) == MPI_ERR_RMA_RANGE, rank, 0);
    good &= MPI_TEST_CHECK(put(0, 2, wide, 10) == MPI_ERR_RMA_RANGE, rank, 0);
    good &= MPI_TEST_CHECK(put(9, 1, before, 2) == MPI_ERR_RMA_RANGE, rank, 0);
    good &= MPI_TEST_CHECK(put(-1, 1, wide, 5) == MPI_ERR_DISP, rank, 0);
    good &= MPI_TEST_CHECK(put(0, -1, wide, 5) == MPI_ERR_COUNT, rank, 0);
    good &= MPI_TEST_CHECK(
        MPI_Put(own.data(), 1, MPI_DATATYPE_NULL, to, 0, 1, wide, made.win) == MPI_ERR_TYPE, rank,
        0);
    good &= MPI_TEST_CHECK(
        MPI_Accumulate(own.data(), 1, mixed, to, 0, 1, mixed, MPI_SUM, made.win) == MPI_ERR_TYPE,
        rank, 0);
    good &= MPI_TEST_CHECK(
        MPI_Accumulate(own.data(), 5, MPI_FLOAT, to, 0, 1, wide, MPI_SUM, made.win) == MPI_ERR_TYPE,
        rank, 0);
    good &= MPI_TEST_CHECK(
        MPI_Accumulate(own.data(), 5, MPI_INT, to, 0, 1, wide, MPI_MINLOC, made.win) == MPI_ERR_OP,
        rank, 0);
    good &= MPI_TEST_CHECK(MPI_Fetch_and_op(own.data(), own.data() + 1, before, to, 0, MPI_SUM,
                                            made.win) == MPI_ERR_TYPE,
                           rank, 0);
    // What is right still goes: to the last byte, and from the first one on.
    own.fill(3);
    // No bytes are of any type.
    MPI_Datatype nothing = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(0, MPI_DOUBLE, &nothing);
    MPI_Type_commit(&nothing);
    for (const int count : {0, 1}) {
      const int error =
          MPI_Accumulate(own.data(), count, nothing, to, 0, 0, MPI_INT, MPI_SUM, made.win);
      good &= MPI_TEST_CHECK(error == MPI_SUCCESS, rank, error);
    }
    MPI_Type_free(&nothing);
    good &= MPI_TEST_CHECK(put(19, 1, wide, 5) == MPI_SUCCESS, rank, 0);
    good &= MPI_TEST_CHECK(put(10, 1, before, 2) == MPI_SUCCESS, rank, 0);
    MPI_Win_fence(0, made.win);
    for (const int i : {0, 10, 19, 39, 99}) {
      good &= MPI_TEST_CHECK(made.as<int>()[i] == 3, rank, i);
    }
    good &= MPI_TEST_CHECK(made.as<int>()[1] == 0 && made.as<int>()[98] == 0, rank, 0);
    for (MPI_Datatype* const each : {&wide, &before, &mixed}) MPI_Type_free(each);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
