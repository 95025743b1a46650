#include "tests/mpi/node_collectives.h"

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>

#include "tests/mpi/forms.h"

namespace fairlead::mpi_test {
namespace {

// One packet, several, and past every size at which another algorithm serves.
constexpr int kCounts[] = {1, 5, 700, 9000, 40'000};

struct Place {
  MPI_Comm comm;
  int rank = -1;
  int size = -1;

  explicit Place(MPI_Comm of) : comm(of) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
};

bool is(bool good, const char* what, const Place& at, int detail) {
  if (!good) {
    std::fprintf(stderr, "rank %d of %d: not so: %s (%d)\n", at.rank, at.size, what, detail);
  }
  return good;
}

// x -> scale * x + shift, and such one after the other: the order matters, what is done first does
// not.
struct Map {
  std::uint64_t scale;
  std::uint64_t shift;
  friend bool operator==(const Map&, const Map&) = default;
};
Map map_of(int member, int i) {
  const auto seed = static_cast<std::uint64_t>(member * 31 + i + 1);
  return {2 * seed + 1, seed * seed};
}
Map then(const Map& first, const Map& second) {
  return {second.scale * first.scale, second.scale * first.shift + second.shift};
}
void then_all(void* first, void* second, int* count, MPI_Datatype*) {
  const auto* const in = static_cast<const Map*>(first);
  auto* const inout = static_cast<Map*>(second);
  for (int i = 0; i < *count; ++i) inout[i] = then(in[i], inout[i]);
}

bool barriers(const Place& at, int form) {
  MPI_TEST_FORM(form, Barrier, barrier, at.comm);
  return true;
}

bool broadcasts(const Place& at, int form) {
  bool good = true;
  for (int root = 0; root < at.size; ++root) {
    for (const int count : kCounts) {
      std::vector<int> sent(static_cast<std::size_t>(count));
      std::iota(sent.begin(), sent.end(), root + count);
      std::vector<int> data = at.rank == root ? sent : std::vector<int>(sent.size(), -1);
      MPI_TEST_FORM(form, Bcast, bcast, data.data(), count, MPI_INT, root, at.comm);
      good &= is(data == sent, "MPI_Bcast brings what the root has", at, count);
    }
  }
  // Expect: columns of a matrix, and nothing between them
  MPI_Datatype column;
  MPI_Type_vector(50, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  std::vector<int> matrix(150, at.rank == at.size - 1 ? 7 : 1);
  MPI_TEST_FORM(form, Bcast, bcast, matrix.data(), 1, column, at.size - 1, at.comm);
  MPI_Type_free(&column);
  const int between = at.rank == at.size - 1 ? 7 : 1;
  for (std::size_t i = 0; i < matrix.size() - 2; ++i) {
    good &= is(matrix[i] == (i % 3 == 0 ? 7 : between), "MPI_Bcast of a column", at, 0);
  }
  return good;
}

bool sums(const Place& at, int form) {
  bool good = true;
  for (const int count : kCounts) {
    const auto n = static_cast<std::size_t>(count);
    std::vector<std::int64_t> own(n);
    std::vector<std::int64_t> expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at_i = static_cast<std::int64_t>(i);
      own[i] = at_i * (at.rank + 1);
      expected[i] = at_i * at.size * (at.size + 1) / 2;
    }
    std::vector<std::int64_t> got(n, -1);
    MPI_TEST_FORM(form, Allreduce, allreduce, own.data(), got.data(), count, MPI_INT64_T, MPI_SUM,
                  at.comm);
    good &= is(got == expected, "MPI_Allreduce is the sum of all", at, count);
    if (form != 2) {  // twice in place is the sum of sums
      got = own;
      MPI_TEST_FORM(form, Allreduce, allreduce, MPI_IN_PLACE, got.data(), count, MPI_INT64_T,
                    MPI_SUM, at.comm);
      good &= is(got == expected, "MPI_Allreduce in place", at, count);
    }
    for (const int root : {0, at.size / 2, at.size - 1}) {
      got.assign(n, -1);
      MPI_TEST_FORM(form, Reduce, reduce, own.data(), got.data(), count, MPI_INT64_T, MPI_SUM, root,
                    at.comm);
      if (at.rank != root) {
        good &= is(got == std::vector<std::int64_t>(n, -1), "only the root has a result", at, root);
      } else {
        good &= is(got == expected, "MPI_Reduce is the sum of all", at, count);
      }
    }
  }
  return good;
}

bool ordered(const Place& at, int form) {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_UINT64_T, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(&then_all, 0, &op);
  bool good = true;
  for (const int count : {1, 90, 5000}) {
    const auto n = static_cast<std::size_t>(count);
    std::vector<Map> own(n);
    std::vector<Map> expected(n);
    for (int i = 0; i < count; ++i) {
      const auto at_i = static_cast<std::size_t>(i);
      own[at_i] = map_of(at.rank, i);
      expected[at_i] = map_of(0, i);
      for (int r = 1; r < at.size; ++r) expected[at_i] = then(expected[at_i], map_of(r, i));
    }
    std::vector<Map> got(n);
    MPI_TEST_FORM(form, Allreduce, allreduce, own.data(), got.data(), count, type, op, at.comm);
    good &= is(got == expected, "MPI_Allreduce combines in rank order", at, count);
    const int root = at.size - 1;
    MPI_TEST_FORM(form, Reduce, reduce, own.data(), got.data(), count, type, op, root, at.comm);
    good &= is(at.rank != root || got == expected, "MPI_Reduce combines in rank order", at, count);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  return good;
}

bool allgathers(const Place& at, int form) {
  bool good = true;
  for (const int count : {1, 13, 300, 9000}) {
    const auto n = static_cast<std::size_t>(count);
    std::vector<int> expected;
    for (int r = 0; r < at.size; ++r) {
      for (int i = 0; i < count; ++i) expected.push_back(1000 * r + i);
    }
    const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(n) * at.rank;
    const std::vector<int> own(begin, begin + static_cast<std::ptrdiff_t>(n));
    std::vector<int> all(expected.size(), -1);
    MPI_TEST_FORM(form, Allgather, allgather, own.data(), count, MPI_INT, all.data(), count,
                  MPI_INT, at.comm);
    good &= is(all == expected, "MPI_Allgather has each rank's block", at, count);
    std::fill(all.begin(), all.end(), -1);
    std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(n) * at.rank);
    MPI_TEST_FORM(form, Allgather, allgather, MPI_IN_PLACE, 0, MPI_INT, all.data(), count, MPI_INT,
                  at.comm);
    good &= is(all == expected, "MPI_Allgather in place", at, count);
  }
  return good;
}

// What `from` sends to `to`, the i-th element.
int element(int from, int to, int i) { return 100'000 * from + 1000 * to + i % 1000; }
std::vector<int> block_of(int from, int to, int count) {
  std::vector<int> block;
  for (int i = 0; i < count; ++i) block.push_back(element(from, to, i));
  return block;
}
// The blocks of all members one after the other: those that `one` sends, or those that it gets.
std::vector<int> blocks_of(const Place& at, int one, bool sends, int count) {
  std::vector<int> blocks;
  for (int r = 0; r < at.size; ++r) {
    const std::vector<int> block = sends ? block_of(one, r, count) : block_of(r, one, count);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  return blocks;
}
std::ptrdiff_t place_of(int member, int count) {
  return static_cast<std::ptrdiff_t>(member) * count;
}

bool gathers(const Place& at, int form, int root, int count) {
  const bool at_root = at.rank == root;
  const std::vector<int> expected =
      at_root ? blocks_of(at, root, false, count) : std::vector<int>(1, -1);
  const std::vector<int> own = block_of(at.rank, root, count);
  std::vector<int> all(expected.size(), -1);
  MPI_TEST_FORM(form, Gather, gather, own.data(), count, MPI_INT, all.data(), count, MPI_INT, root,
                at.comm);
  bool good = is(all == expected, "MPI_Gather has each rank's block", at, count);
  std::fill(all.begin(), all.end(), -1);
  if (at_root) std::copy(own.begin(), own.end(), all.begin() + place_of(root, count));
  MPI_TEST_FORM(form, Gather, gather, at_root ? MPI_IN_PLACE : own.data(), count, MPI_INT,
                all.data(), count, MPI_INT, root, at.comm);
  good &= is(all == expected, "MPI_Gather in place", at, count);
  return good;
}

bool scatters(const Place& at, int form, int root, int count) {
  const bool at_root = at.rank == root;
  const std::vector<int> all = at_root ? blocks_of(at, root, true, count) : std::vector<int>();
  const std::vector<int> expected = block_of(root, at.rank, count);
  std::vector<int> own(expected.size(), -1);
  MPI_TEST_FORM(form, Scatter, scatter, all.data(), count, MPI_INT, own.data(), count, MPI_INT,
                root, at.comm);
  bool good = is(own == expected, "MPI_Scatter brings each its block", at, count);
  std::fill(own.begin(), own.end(), -1);
  void* const place = at_root ? MPI_IN_PLACE : own.data();
  MPI_TEST_FORM(form, Scatter, scatter, all.data(), count, MPI_INT, place, count, MPI_INT, root,
                at.comm);
  good &= is(at_root || own == expected, "MPI_Scatter in place", at, count);
  return good;
}

bool gathers_and_scatters(const Place& at, int form) {
  bool good = true;
  for (int root = 0; root < at.size; ++root) {
    for (const int count : {1, 37, 2000, 5000}) {
      good &= gathers(at, form, root, count);
      good &= scatters(at, form, root, count);
    }
  }
  return good;
}

bool alltoalls(const Place& at, int form) {
  bool good = true;
  for (const int count : {1, 13, 64, 1000, 5000}) {
    const std::vector<int> sent = blocks_of(at, at.rank, true, count);
    const std::vector<int> expected = blocks_of(at, at.rank, false, count);
    std::vector<int> got(sent.size(), -1);
    MPI_TEST_FORM(form, Alltoall, alltoall, sent.data(), count, MPI_INT, got.data(), count, MPI_INT,
                  at.comm);
    good &= is(got == expected, "MPI_Alltoall has a block of each rank", at, count);
    got = sent;
    MPI_TEST_FORM(form, Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_INT, got.data(), count, MPI_INT,
                  at.comm);
    // Expect: a persistent call in place, started twice, brings back what was there
    good &= is(got == (form == 2 ? sent : expected), "MPI_Alltoall in place", at, count);
  }
  return good;
}

}  // namespace

std::vector<MPI_Comm> spread_communicators(int each) {
  const Place world(MPI_COMM_WORLD);
  std::vector<MPI_Comm> made(7, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &made[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &made[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, world.rank % each * world.size + world.rank, &made[3]);
  MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, world.rank, &made[4]);
  MPI_Comm_split(MPI_COMM_WORLD, world.rank < each - 1 ? 1 : 0, world.rank, &made[5]);
  MPI_Info node = MPI_INFO_NULL;
  MPI_Info_create(&node);
  MPI_Info_set(node, "mpi_hw_resource_type", "hwloc://Machine");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, node, &made[6]);
  MPI_Info_free(&node);
  return made;
}

bool node_collectives(int each) {
  bool good = true;
  for (MPI_Comm comm : spread_communicators(each)) {
    const Place at(comm);
    for (int form = 0; form < kForms; ++form) {
      good &= barriers(at, form);
      good &= broadcasts(at, form);
      good &= sums(at, form);
      good &= ordered(at, form);
      good &= allgathers(at, form);
      good &= gathers_and_scatters(at, form);
      good &= alltoalls(at, form);
    }
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  }
  return good;
}

}  // namespace fairlead::mpi_test
