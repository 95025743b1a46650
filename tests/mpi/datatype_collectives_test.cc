// Collectives on derived datatypes: what lies in gaps stays, both sides may lie differently.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct DatatypeCollectives : PerWorld {};
INSTANTIATE_MPI_TESTS(DatatypeCollectives);

constexpr int kGap = -77;

// Two ints and a gap of one.
MPI_Datatype pair_type() {
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_create_resized(two, 0, 3 * sizeof(int), &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&two);
  return made;
}

// What pair `i` of rank `rank` says.
int value(int rank, int i) { return rank * 100000 + 2 * i; }

struct Pairs {
  Pairs(int count, int rank) : ints(static_cast<std::size_t>(3 * count), kGap) {
    for (int i = 0; i < count; ++i) set(i, value(rank, i));
  }
  void set(int i, int first) {
    ints[static_cast<std::size_t>(3 * i)] = first;
    ints[static_cast<std::size_t>(3 * i + 1)] = first + 1;
  }
  // Pair `at` says `first`, and the gap behind it is one still.
  bool says(int at, int first) const {
    const int* const pair = &ints[static_cast<std::size_t>(3 * at)];
    return pair[0] == first && pair[1] == first + 1 && pair[2] == kGap;
  }
  int* data() { return ints.data(); }
  std::vector<int> ints;
};

// Nothing there yet.
Pairs no_pairs(int count) {
  Pairs made(count, 0);
  std::fill(made.ints.begin(), made.ints.end(), kGap);
  return made;
}

bool rooted(MPI_Datatype type, int n, int rank, int size) {
  bool good = true;
  Pairs one(n, rank);
  MPI_Bcast(one.data(), n, type, size - 1, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) good &= one.says(i, value(size - 1, i));
  good &= MPI_TEST_CHECK(good, rank, n);

  Pairs own(n, rank);
  Pairs all = no_pairs(n * size);
  MPI_Gather(own.data(), n, type, all.data(), n, type, 1, MPI_COMM_WORLD);
  for (int i = 0; rank == 1 && i < n * size; ++i) good &= all.says(i, value(i / n, i % n));
  good &= MPI_TEST_CHECK(good, rank, n);
  // In place, and from a row.
  std::vector<int> row(static_cast<std::size_t>(2 * n));
  for (int i = 0; i < n; ++i) {
    row[static_cast<std::size_t>(2 * i)] = value(rank, i);
    row[static_cast<std::size_t>(2 * i + 1)] = value(rank, i) + 1;
  }
  Pairs again = no_pairs(n * size);
  for (int i = 0; i < n; ++i) again.set(n + i, value(1, i));
  MPI_Gather(rank == 1 ? MPI_IN_PLACE : row.data(), 2 * n, MPI_INT, again.data(), n, type, 1,
             MPI_COMM_WORLD);
  for (int i = 0; rank == 1 && i < n * size; ++i) good &= again.says(i, value(i / n, i % n));
  good &= MPI_TEST_CHECK(good, rank, n);

  Pairs part = no_pairs(n);
  MPI_Scatter(all.data(), n, type, part.data(), n, type, 1, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) good &= part.says(i, value(rank, i));
  good &= MPI_TEST_CHECK(good, rank, n);
  return good;
}

bool all_to_all(MPI_Datatype type, int n, int rank, int size) {
  bool good = true;
  Pairs own(n, rank);
  for (const bool in_place : {false, true}) {
    Pairs all = no_pairs(n * size);
    for (int i = 0; in_place && i < n; ++i) all.set(rank * n + i, value(rank, i));
    MPI_Allgather(in_place ? MPI_IN_PLACE : own.data(), n, type, all.data(), n, type,
                  MPI_COMM_WORLD);
    for (int i = 0; i < n * size; ++i) good &= all.says(i, value(i / n, i % n));
    good &= MPI_TEST_CHECK(good, rank, n);
    Pairs from(n * size, rank);
    Pairs to = in_place ? from : no_pairs(n * size);
    MPI_Alltoall(in_place ? MPI_IN_PLACE : from.data(), n, type, to.data(), n, type,
                 MPI_COMM_WORLD);
    for (int i = 0; i < n * size; ++i) good &= to.says(i, value(i / n, rank * n + i % n));
    good &= MPI_TEST_CHECK(good, rank, n);
  }
  return good;
}

// Rank i sends and receives blocks of n + i pairs, a free place behind each.
bool with_counts(MPI_Datatype type, int n, int rank, int size) {
  bool good = true;
  std::vector<int> counts;
  std::vector<int> places;
  int total = 0;
  for (int i = 0; i < size; ++i) {
    counts.push_back(n + i);
    places.push_back(total);
    total += n + i + 1;
  }
  const auto of = [&](int i) { return counts[static_cast<std::size_t>(i)]; };
  const auto at = [&](int i) { return places[static_cast<std::size_t>(i)]; };
  Pairs own(of(rank), rank);
  const auto has_all = [&](const Pairs& got) {
    for (int r = 0; r < size; ++r) {
      for (int i = 0; i < of(r); ++i) good &= got.says(at(r) + i, value(r, i));
      good &= got.ints[static_cast<std::size_t>(3 * (at(r) + of(r)))] == kGap;
    }
    return MPI_TEST_CHECK(good, rank, n);
  };
  for (const bool in_place : {false, true}) {
    Pairs all = no_pairs(total);
    for (int i = 0; in_place && i < of(rank); ++i) all.set(at(rank) + i, value(rank, i));
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : own.data(), of(rank), type, all.data(), counts.data(),
                   places.data(), type, MPI_COMM_WORLD);
    good &= has_all(all);
  }
  Pairs all = no_pairs(total);
  MPI_Gatherv(own.data(), of(rank), type, all.data(), counts.data(), places.data(), type, 0,
              MPI_COMM_WORLD);
  if (rank == 0) good &= has_all(all);
  Pairs part = no_pairs(of(rank));
  MPI_Scatterv(all.data(), counts.data(), places.data(), type, part.data(), of(rank), type, 0,
               MPI_COMM_WORLD);
  for (int i = 0; i < of(rank); ++i) good &= part.says(i, value(rank, i));
  good &= MPI_TEST_CHECK(good, rank, n);
  // Every block has n pairs here, sent as pairs and received as ints, or the other way.
  const std::vector<int> same(static_cast<std::size_t>(size), n);
  const std::vector<int> twice(static_cast<std::size_t>(size), 2 * n);
  std::vector<int> pair_bytes;
  std::vector<int> row_bytes;
  for (int i = 0; i < size; ++i) {
    pair_bytes.push_back(i * n * 12);
    row_bytes.push_back(i * n * 8);
  }
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), type);
  const std::vector<MPI_Datatype> ints(static_cast<std::size_t>(size), MPI_INT);
  Pairs from(n * size, rank);
  std::vector<int> row(static_cast<std::size_t>(2 * n * size), kGap);
  MPI_Alltoallw(from.data(), same.data(), pair_bytes.data(), types.data(), row.data(), twice.data(),
                row_bytes.data(), ints.data(), MPI_COMM_WORLD);
  for (int i = 0; i < n * size; ++i) {
    good &= row[static_cast<std::size_t>(2 * i)] == value(i / n, rank * n + i % n);
  }
  Pairs back = no_pairs(n * size);
  MPI_Alltoallw(row.data(), twice.data(), row_bytes.data(), ints.data(), back.data(), same.data(),
                pair_bytes.data(), types.data(), MPI_COMM_WORLD);
  for (int i = 0; i < n * size; ++i) good &= back.says(i, value(rank, i));
  return good & MPI_TEST_CHECK(good, rank, n);
}

TEST_P(DatatypeCollectives, BytesGoWhereTheTypesSay) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    MPI_Datatype type = pair_type();
    bool good = true;
    for (const int n : {1, 5, 3000}) {
      good &= rooted(type, n, rank, size);
      good &= all_to_all(type, n, rank, size);
      good &= with_counts(type, n, rank, size);
    }
    MPI_Type_free(&type);
    return good;
  });
}

// Adds pairs; `type` says where they lie.
void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lb = 0;
  MPI_Aint true_extent = 0;
  MPI_Type_get_extent(*type, &lb, &extent);
  MPI_Type_get_true_extent(*type, &true_lb, &true_extent);
  for (int i = 0; i < *count; ++i) {
    const auto* const from =
        reinterpret_cast<const int*>(static_cast<std::byte*>(in) + i * extent + true_lb);
    auto* const to = reinterpret_cast<int*>(static_cast<std::byte*>(inout) + i * extent + true_lb);
    to[0] += from[0];
    to[1] += from[1];
  }
}

TEST_P(DatatypeCollectives, ReductionsByOperationsOfTheProgram) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(add_pairs, 1, &op);
    MPI_Datatype type = pair_type();
    bool good = true;
    constexpr int kPairs = 3000;
    // Twice the sum over the ranks of value(), less what the second of a pair has more.
    const auto sum = [&](int i) { return value(size * (size - 1) / 2, 0) + size * value(0, i); };
    const auto check_sums = [&](const Pairs& got, int ranks, int first) {
      const int base = value(ranks * (ranks - 1) / 2, 0);
      for (std::size_t i = 0; i < got.ints.size() / 3; ++i) {
        const int* const pair = &got.ints[3 * i];
        const int expected = base + ranks * value(0, first + static_cast<int>(i));
        good &= pair[0] == expected && pair[1] == expected + ranks && pair[2] == kGap;
      }
      return MPI_TEST_CHECK(good, rank, ranks);
    };
    for (const int n : {1, kPairs, 3 * kPairs}) {
      Pairs own(n, rank);
      Pairs result = no_pairs(n);
      MPI_Allreduce(own.data(), result.data(), n, type, op, MPI_COMM_WORLD);
      good &= check_sums(result, size, 0);
      Pairs again(n, rank);
      MPI_Reduce(rank == 2 ? MPI_IN_PLACE : again.data(), again.data(), n, type, op, 2,
                 MPI_COMM_WORLD);
      if (rank == 2) good &= check_sums(again, size, 0);
      Pairs scanned = no_pairs(n);
      MPI_Scan(own.data(), scanned.data(), n, type, op, MPI_COMM_WORLD);
      good &= check_sums(scanned, rank + 1, 0);
      Pairs whole(n * size, rank);
      Pairs part = no_pairs(n);
      MPI_Reduce_scatter_block(whole.data(), part.data(), n, type, op, MPI_COMM_WORLD);
      good &= check_sums(part, size, rank * n);
    }
    // Elements that go backwards.
    MPI_Datatype two = MPI_DATATYPE_NULL;
    MPI_Datatype backwards = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, -12, &backwards);
    MPI_Type_commit(&backwards);
    Pairs own(10, rank);
    Pairs result = no_pairs(10);
    MPI_Allreduce(own.data() + 27, result.data() + 27, 10, backwards, op, MPI_COMM_WORLD);
    good &= check_sums(result, size, 0);
    MPI_Reduce_local(own.data() + 27, result.data() + 27, 10, backwards, op);
    good &= MPI_TEST_CHECK(result.ints[3] == sum(1) + value(rank, 1), rank, result.ints[3]);
    // Expect: operations of the standard know the standard's types, and those that are the same.
    MPI_Datatype number = MPI_DATATYPE_NULL;
    MPI_Type_dup(MPI_INT, &number);
    int total = 0;
    MPI_Allreduce(&rank, &total, 1, number, MPI_SUM, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(total == 3, rank, total);
    struct {
      double value;
      int rank;
    } mine{10.0 - rank, rank}, least{};
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(least.value == 8 && least.rank == 2, rank, least.rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int error = MPI_Allreduce(own.data(), result.data(), 1, type, MPI_SUM, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(error == MPI_ERR_OP, rank, error);
    for (MPI_Datatype* each : {&two, &backwards, &number, &type}) MPI_Type_free(each);
    MPI_Op_free(&op);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
