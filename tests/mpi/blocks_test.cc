// Collectives of blocks of different lengths, scans, scattered reductions, operations of programs.
#include <cstring>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Blocks : PerWorld {};
INSTANTIATE_MPI_TESTS(Blocks);

// What rank `from` sends to rank `to`: so many elements, some of them none, some past every
// threshold of a message, of this value.
int length(int from, int to, int scale) { return (from + 2 * to) % 4 * scale; }
int value(int from, int to) { return from * 100 + to; }

// Blocks from `from` for `to`, or the other way round, one after the other with a gap.
struct Layout {
  std::vector<int> counts, displacements;
  int end = 0;
  void add(int count) {
    counts.push_back(count);
    displacements.push_back(end + 1);
    end += count + 1;
  }
};

bool all_are(const std::vector<int>& data, int begin, int count, int wanted) {
  for (int i = 0; i < count; ++i) {
    if (data[static_cast<std::size_t>(begin + i)] != wanted) return false;
  }
  return true;
}

std::vector<int> filled(const Layout& layout, const std::function<int(int)>& value_of) {
  std::vector<int> data(static_cast<std::size_t>(layout.end) + 1, -1);
  for (std::size_t i = 0; i < layout.counts.size(); ++i) {
    std::fill_n(data.begin() + layout.displacements[i], layout.counts[i],
                value_of(static_cast<int>(i)));
  }
  return data;
}

bool all_to_all(int rank, int size, int scale) {
  Layout out, in;
  for (int r = 0; r < size; ++r) out.add(length(rank, r, scale));
  for (int r = 0; r < size; ++r) in.add(length(r, rank, scale));
  const std::vector<int> from = filled(out, [&](int to) { return value(rank, to); });
  std::vector<int> to(static_cast<std::size_t>(in.end) + 1, -1);
  const std::vector<int> expected = filled(in, [&](int source) { return value(source, rank); });
  MPI_Alltoallv(from.data(), out.counts.data(), out.displacements.data(), MPI_INT, to.data(),
                in.counts.data(), in.displacements.data(), MPI_INT, MPI_COMM_WORLD);
  bool good = MPI_TEST_CHECK(to == expected, rank, scale);
  // Expect: the same with arrays of 64 bits, and with displacements in bytes and a type a rank.
  std::fill(to.begin(), to.end(), -1);
  const std::vector<MPI_Count> out64(out.counts.begin(), out.counts.end());
  const std::vector<MPI_Aint> out_at(out.displacements.begin(), out.displacements.end());
  const std::vector<MPI_Count> in64(in.counts.begin(), in.counts.end());
  const std::vector<MPI_Aint> in_at(in.displacements.begin(), in.displacements.end());
  MPI_Alltoallv_c(from.data(), out64.data(), out_at.data(), MPI_INT, to.data(), in64.data(),
                  in_at.data(), MPI_INT, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(to == expected, rank, scale);
  std::fill(to.begin(), to.end(), -1);
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), MPI_INT);
  for (int& each : out.displacements) each *= 4;
  for (int& each : in.displacements) each *= 4;
  MPI_Alltoallw(from.data(), out.counts.data(), out.displacements.data(), types.data(), to.data(),
                in.counts.data(), in.displacements.data(), types.data(), MPI_COMM_WORLD);
  return good & MPI_TEST_CHECK(to == expected, rank, scale);
}

bool rooted(int rank, int size, int scale, int root) {
  Layout all;
  for (int r = 0; r < size; ++r) all.add(length(r, root, scale));
  const int mine = all.counts[static_cast<std::size_t>(rank)];
  std::vector<int> own(static_cast<std::size_t>(mine) + 1, value(rank, root));
  const std::vector<int> expected = filled(all, [&](int r) { return value(r, root); });
  std::vector<int> got(expected.size(), -1);
  MPI_Gatherv(own.data(), mine, MPI_INT, got.data(), all.counts.data(), all.displacements.data(),
              MPI_INT, root, MPI_COMM_WORLD);
  bool good = rank != root || MPI_TEST_CHECK(got == expected, rank, scale);
  std::fill(own.begin(), own.end(), -1);
  MPI_Scatterv(expected.data(), all.counts.data(), all.displacements.data(), MPI_INT, own.data(),
               mine, MPI_INT, root, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(all_are(own, 0, mine, value(rank, root)), rank, scale);
  good &= MPI_TEST_CHECK(own.back() == -1, rank, scale);
  // Expect: in place, too.
  std::fill(got.begin(), got.end(), -1);
  std::copy_n(own.begin(), mine, got.begin() + all.displacements[static_cast<std::size_t>(rank)]);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got.data(), all.counts.data(),
                 all.displacements.data(), MPI_INT, MPI_COMM_WORLD);
  return good & MPI_TEST_CHECK(got == expected, rank, scale);
}

TEST_P(Blocks, OfEveryLengthArrive) {
  for (const unsigned ranks : {1u, 2u, 5u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      for (const int scale : {1, 300, 20'000}) {
        good &= all_to_all(rank, size, scale);
        good &= rooted(rank, size, scale, size - 1);
      }
      // Expect: in place a pair swaps its blocks.
      Layout both;
      for (int r = 0; r < size; ++r) both.add((rank + r) % 3 * 50);
      std::vector<int> data = filled(both, [&](int to) { return value(rank, to); });
      MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, data.data(),
                    both.counts.data(), both.displacements.data(), MPI_INT, MPI_COMM_WORLD);
      const std::vector<int> swapped = filled(both, [&](int from) { return value(from, rank); });
      return good & MPI_TEST_CHECK(data == swapped, rank, 0);
    });
  }
}

// 2 x 2 matrices of small numbers: a product that depends on the order of the ranks.
struct Matrix {
  unsigned a, b, c, d;
  friend bool operator==(const Matrix&, const Matrix&) = default;
};
static_assert(sizeof(Matrix) == 16);

Matrix times(const Matrix& x, const Matrix& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
          x.c * y.b + x.d * y.d};
}

// Works on elements of 16 bytes: MPI_C_DOUBLE_COMPLEX serves as such.
void multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  if (*type != MPI_C_DOUBLE_COMPLEX) return;
  for (int i = 0; i < *length; ++i) {
    Matrix* const right = static_cast<Matrix*>(inout) + i;
    *right = times(static_cast<const Matrix*>(in)[i], *right);
  }
}

Matrix matrix_of(int rank, std::size_t i) {
  return {1, static_cast<unsigned>(rank + 1), static_cast<unsigned>(i % 3), 2};
}

Matrix product(int first, int last, std::size_t i) {
  Matrix answer = matrix_of(first, i);
  for (int r = first + 1; r <= last; ++r) answer = times(answer, matrix_of(r, i));
  return answer;
}

bool are_products(const std::vector<Matrix>& got, int last, const char* what, int rank,
                  std::size_t begin = 0) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == product(0, last, begin + i)) continue;
    return check(false, what, rank, static_cast<long long>(i));
  }
  return true;
}

bool in_rank_order(int rank, int size, std::size_t count) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(multiply, 0, &op);
  const auto type = MPI_C_DOUBLE_COMPLEX;
  const auto n = static_cast<int>(count);
  std::vector<Matrix> own;
  for (std::size_t i = 0; i < count; ++i) own.push_back(matrix_of(rank, i));
  std::vector<Matrix> got(count);
  MPI_Allreduce(own.data(), got.data(), n, type, op, MPI_COMM_WORLD);
  bool good = are_products(got, size - 1, "MPI_Allreduce", rank);
  MPI_Scan(own.data(), got.data(), n, type, op, MPI_COMM_WORLD);
  good &= are_products(got, rank, "MPI_Scan", rank);
  got = own;
  MPI_Exscan(MPI_IN_PLACE, got.data(), n, type, op, MPI_COMM_WORLD);
  good &= rank == 0 ? MPI_TEST_CHECK(got == own, rank, n)
                    : are_products(got, rank - 1, "MPI_Exscan", rank);
  got = own;
  MPI_Reduce(rank == size - 1 ? MPI_IN_PLACE : own.data(), got.data(), n, type, op, size - 1,
             MPI_COMM_WORLD);
  good &= rank != size - 1 || are_products(got, size - 1, "MPI_Reduce", rank);
  // Expect: rank r gets its part; the parts are of different lengths, one is empty.
  std::vector<int> counts(static_cast<std::size_t>(size), n / size);
  counts[0] = 0;
  counts.back() += n - n / size * size + (size > 1 ? n / size : 0);
  if (size == 1) counts[0] = n;
  std::size_t begin = 0;
  for (int r = 0; r < rank; ++r)
    begin += static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]);
  got.resize(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]));
  MPI_Reduce_scatter(own.data(), got.data(), counts.data(), type, op, MPI_COMM_WORLD);
  good &= are_products(got, size - 1, "MPI_Reduce_scatter", rank, begin);
  MPI_Op_free(&op);
  return good & MPI_TEST_CHECK(op == MPI_OP_NULL, rank, 0);
}

TEST_P(Blocks, OperationsOfTheProgramGoInRankOrder) {
  for (const unsigned ranks : {1u, 2u, 5u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      for (const std::size_t count : {1u, 3u, 7u, 9000u}) good &= in_rank_order(rank, size, count);
      return good;
    });
  }
}

TEST_P(Blocks, SumsAreScattered) {
  for (const unsigned ranks : {1u, 4u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      // By the tree and in pairs; then, where members can have one, by a board (board.h).
      for (const int block : {0, 1, 3000, 0, 1}) {
        const auto n = static_cast<std::size_t>(block);
        std::vector<long> own(n * static_cast<std::size_t>(size));
        for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<long>(i) + rank;
        std::vector<long> got(n + 1, -1);
        MPI_Reduce_scatter_block(own.data(), got.data(), block, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        const long ranks_sum = size * (size - 1) / 2;
        bool equal = got.back() == -1;
        for (std::size_t i = 0; i < n; ++i) {
          const auto place = static_cast<long>(static_cast<std::size_t>(rank) * n + i);
          equal = equal && got[i] == place * size + ranks_sum;
        }
        good &= MPI_TEST_CHECK(equal, rank, block);
        if (block == 3000) MPI_Barrier(MPI_COMM_WORLD);
      }
      int left = 3, right = 4;
      MPI_Reduce_local(&left, &right, 1, MPI_INT, MPI_PROD);
      return good & MPI_TEST_CHECK(right == 12, rank, right);
    });
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
