// Scans, exclusive scans and reduce-scatters of short and of large vectors, by an operation whose
// order shows.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Scans : PerWorld {};
INSTANTIATE_MPI_TESTS(Scans);

// x -> factor * x + offset. One after the other they are another one, and not the one of the other
// order.
struct Affine {
  std::uint32_t factor;
  std::uint32_t offset;
  bool operator==(const Affine&) const = default;
};

Affine then(Affine first, Affine second) {
  return {first.factor * second.factor, first.offset * second.factor + second.offset};
}

Affine map_of(int rank, std::size_t i) {
  const auto r = static_cast<std::uint32_t>(rank);
  return {2 * r + 3, static_cast<std::uint32_t>(i) + 7 * r};
}

extern "C" void compose_affine(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    Affine& second = static_cast<Affine*>(inout)[i];
    second = then(static_cast<const Affine*>(in)[i], second);
  }
}

// The maps of the ranks below `end`, one after the other.
std::vector<Affine> composed(int end, std::size_t n) {
  std::vector<Affine> made(n);
  for (std::size_t i = 0; i < n; ++i) {
    made[i] = map_of(0, i);
    for (int r = 1; r < end; ++r) made[i] = then(made[i], map_of(r, i));
  }
  return made;
}

// The type of the maps and their operation, for the length of a call.
struct Maps {
  Maps() {
    MPI_Type_contiguous(2, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose_affine, 0, &op);
  }
  ~Maps() {
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  }
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;

  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};

bool scans(int rank, int count) {
  const auto n = static_cast<std::size_t>(count);
  const Maps maps;
  const MPI_Datatype type = maps.type;
  const MPI_Op op = maps.op;
  std::vector<Affine> own(n);
  for (std::size_t i = 0; i < n; ++i) own[i] = map_of(rank, i);
  const std::vector<Affine> up_to = composed(rank + 1, n);
  const std::vector<Affine> below = composed(rank, n);
  bool good = true;

  std::vector<Affine> got(n, Affine{1, 1});
  MPI_Scan(own.data(), got.data(), count, type, op, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(got == up_to, rank, count);
  got = own;
  MPI_Scan(MPI_IN_PLACE, got.data(), count, type, op, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(got == up_to, rank, count);
  MPI_Exscan(own.data(), got.data(), count, type, op, MPI_COMM_WORLD);
  if (rank > 0) good &= MPI_TEST_CHECK(got == below, rank, count);
  got = own;
  MPI_Exscan(MPI_IN_PLACE, got.data(), count, type, op, MPI_COMM_WORLD);
  if (rank > 0) good &= MPI_TEST_CHECK(got == below, rank, count);
  return good;
}

// `count` maps a rank, and with parts of different lengths, one of them empty.
bool reduce_scatters(int rank, int size, int count) {
  const Maps maps;
  const auto whole = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  std::vector<Affine> own(whole);
  for (std::size_t i = 0; i < whole; ++i) own[i] = map_of(rank, i);
  const std::vector<Affine> all = composed(size, whole);
  bool good = true;
  const auto is_part = [&](const std::vector<Affine>& got, int first, int length) {
    return std::equal(got.begin(), got.begin() + length, all.begin() + first);
  };
  std::vector<Affine> got(whole, Affine{1, 1});
  MPI_Reduce_scatter_block(own.data(), got.data(), count, maps.type, maps.op, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(is_part(got, rank * count, count), rank, count);
  got = own;
  MPI_Reduce_scatter_block(MPI_IN_PLACE, got.data(), count, maps.type, maps.op, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(is_part(got, rank * count, count), rank, count);

  // The last one has its own part and that of the first.
  std::vector<int> lengths(static_cast<std::size_t>(size), count);
  if (size > 1) {
    lengths.front() = 0;
    lengths.back() = 2 * count;
  }
  const int first = rank == 0 ? 0 : (rank - 1) * count;
  const int length = lengths[static_cast<std::size_t>(rank)];
  MPI_Reduce_scatter(own.data(), got.data(), lengths.data(), maps.type, maps.op, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(is_part(got, first, length), rank, count);
  got = own;
  MPI_Reduce_scatter(MPI_IN_PLACE, got.data(), lengths.data(), maps.type, maps.op, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(is_part(got, first, length), rank, count);
  return good;
}

TEST_P(Scans, AndReduceScattersAreInRankOrder) {
  for (const unsigned ranks : {1u, 2u, 3u, 5u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      for (const int count : {0, 1, 300, 2048, 35'001}) good &= reduce_scatters(rank, size, count);
      return good;
    });
  }
}

TEST_P(Scans, AreInRankOrder) {
  for (const unsigned ranks : {1u, 2u, 3u, 5u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      // On the board, by messages, the shortest that is divided, several blocks with a short one.
      for (const int count : {0, 1, 300, 2048 * size, 70'001}) good &= scans(rank, count);
      return good;
    });
  }
}

// Elements that are longer than what a vector is divided into.
constexpr int kColumn = 20'000;

extern "C" void add_columns(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count * kColumn; ++i) {
    static_cast<double*>(inout)[i] += static_cast<const double*>(in)[i];
  }
}

TEST_P(Scans, AndReductionsTakeElementsOfAnyLength) {
  for (const unsigned ranks : {2u, 3u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Op op = MPI_OP_NULL;
      MPI_Type_contiguous(kColumn, MPI_DOUBLE, &type);
      MPI_Type_commit(&type);
      MPI_Op_create(add_columns, 1, &op);
      bool good = true;
      for (const int count : {1, 4}) {
        const auto n = static_cast<std::size_t>(count) * kColumn;
        std::vector<double> own(n);
        for (std::size_t i = 0; i < n; ++i) own[i] = static_cast<double>(i) + rank;
        const auto is_sum = [&](const std::vector<double>& got, int of) {
          for (std::size_t i = 0; i < n; ++i) {
            if (got[i] != static_cast<double>(i) * of + of * (of - 1) / 2) return false;
          }
          return true;
        };
        std::vector<double> got(n, -1);
        MPI_Allreduce(own.data(), got.data(), count, type, op, MPI_COMM_WORLD);
        good &= MPI_TEST_CHECK(is_sum(got, size), rank, count);
        MPI_Reduce(own.data(), got.data(), count, type, op, 1, MPI_COMM_WORLD);
        if (rank == 1) good &= MPI_TEST_CHECK(is_sum(got, size), rank, count);
        MPI_Scan(own.data(), got.data(), count, type, op, MPI_COMM_WORLD);
        good &= MPI_TEST_CHECK(is_sum(got, rank + 1), rank, count);
      }
      MPI_Op_free(&op);
      MPI_Type_free(&type);
      return good;
    });
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
