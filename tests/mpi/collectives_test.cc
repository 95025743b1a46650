#include <complex>
#include <cstring>

#include "fairlead/base/counters.h"
#include "fairlead/systems/mpi/datatype_c.h"
#include "fairlead/systems/mpi/operation.h"
#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/thresholds.h"
#include "tests/mpi/forms.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Collectives : PerWorld {};
INSTANTIATE_MPI_TESTS(Collectives);

// Numbers of ranks for the tests that try many: every one up to nine where ranks are cheap; over
// sockets, where nine ranks share the processors with their kernel, one of each shape.
std::vector<unsigned> rank_counts(const std::string& world) {
  if (world == "ofitcp") return {1, 2, 3, 5};
  if (world.starts_with("ofi") || world.find("lossy") != std::string::npos) return {1, 2, 3, 5, 8};
  return {1, 2, 3, 4, 5, 6, 7, 8, 9};
}

// Elements or bytes; small, one packet, several packets, past every threshold of choose.h.
constexpr int kCounts[] = {0, 1, 3, 257, 5000, 70000};

MPI_Op op_of(int i) { return reinterpret_cast<MPI_Op>(static_cast<std::uintptr_t>(i)); }

// Values on which every order of sums and products gives the same bits.
template <class T>
T value_of(std::size_t i, int rank) {
  if constexpr (requires(T t) { t.index; }) {
    T made{};
    made.value =
        static_cast<decltype(made.value)>((i * 7 + static_cast<std::size_t>(rank) * 3) % 5);
    made.index = static_cast<decltype(made.index)>(rank);
    return made;
  } else {
    return T((i + static_cast<std::size_t>(rank)) % 2 == 0 ? 1 : 2);
  }
}

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (requires(T t) { t.index; }) {
    return a.value == b.value && a.index == b.index;
  } else {
    return a == b;
  }
}

// Codes of the operations, of which the first two are sum and minimum.
constexpr int kFirstOp = 0x21;
constexpr int kSecondOp = 0x22;
constexpr int kLastOp = 0x39;

template <class T>
bool reduce_all_ops(MPI_Datatype type, int rank, int size, std::size_t count, const char* name,
                    int last = kLastOp) {
  bool good = true;
  for (int code = kFirstOp; code <= last; ++code) {
    const auto combine = mpi::find_combine(op_of(code), type);
    if (combine == nullptr) continue;
    std::vector<T> own(count);
    std::vector<T> expected(count);
    for (std::size_t i = 0; i < count; ++i) own[i] = value_of<T>(i, rank);
    for (int r = 0; r < size; ++r) {
      std::vector<T> other(count);
      for (std::size_t i = 0; i < count; ++i) other[i] = value_of<T>(i, r);
      if (r == 0) {
        expected = other;
      } else {
        combine(expected.data(), other.data(), expected.data(), count);
      }
    }
    std::vector<T> got(count);
    MPI_Allreduce(own.data(), got.data(), static_cast<int>(count), type, op_of(code),
                  MPI_COMM_WORLD);
    bool equal = true;
    for (std::size_t i = 0; i < count; ++i) equal = equal && same(got[i], expected[i]);
    good &= check(equal, name, rank, code);
    const int root = size - 1;
    std::vector<T> at_root = own;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : own.data(), at_root.data(), static_cast<int>(count),
               type, op_of(code), root, MPI_COMM_WORLD);
    for (std::size_t i = 0; rank == root && i < count; ++i) {
      equal = equal && same(at_root[i], expected[i]);
    }
    good &= check(equal, name, rank, code);
  }
  return good;
}

// std::vector<bool> is no array.
struct Bool {
  bool value;
  friend bool operator==(Bool, Bool) = default;
  Bool() = default;
  explicit Bool(std::size_t v) : value(v != 1) {}
};
template <class T>
struct Element {
  using Type = T;
};
template <>
struct Element<bool> {
  using Type = Bool;
};

TEST_P(Collectives, EveryOperationOnEveryType) {
  using namespace fairlead::mpi;
  for (const unsigned ranks : rank_counts(GetParam())) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
#define FAIRLEAD_MPI_TYPE(handle, value, type, group) \
  good &= reduce_all_ops<Element<type>::Type>(handle, rank, size, 5, #handle);
#include "fairlead/systems/mpi/datatypes.inc"
#undef FAIRLEAD_MPI_TYPE
      return good;
    });
  }
}

TEST_P(Collectives, ReductionsOfEverySize) {
  for (const unsigned ranks : rank_counts(GetParam())) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      for (const int count : kCounts) {
        // Which way a reduction takes does not depend on the operation: two will do.
        good &= reduce_all_ops<long>(MPI_LONG, rank, size, static_cast<std::size_t>(count), "long",
                                     kSecondOp);
      }
      return good;
    });
  }
}

// Vectors whose pieces are combined in several blocks, the last one short, in place and not.
TEST_P(Collectives, SumsOfLargeVectors) {
  for (const unsigned ranks : {2u, 3u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      constexpr int kCount = 400'003;
      std::vector<long> own(kCount);
      for (int i = 0; i < kCount; ++i) own[static_cast<std::size_t>(i)] = i * (rank + 1L);
      std::vector<long> sum(kCount, -1);
      MPI_Allreduce(own.data(), sum.data(), kCount, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      MPI_Allreduce(MPI_IN_PLACE, own.data(), kCount, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      for (int i = 0; i < kCount; ++i) {
        const long expected = i * (size * (size + 1L) / 2);
        const auto at = static_cast<std::size_t>(i);
        if (sum[at] != expected || own[at] != expected) return false;
      }
      return true;
    });
  }
}

// Every rank must get the same bits, and a second run the same again, also where the order of
// additions shows.
TEST_P(Collectives, AllreduceGivesTheSameBitsEverywhere) {
  run_ranks(GetParam(), 7, [](int rank, int) {
    bool good = true;
    for (const int count : {1, 100, 50000}) {
      const auto n = static_cast<std::size_t>(count);
      std::vector<double> own(n);
      for (std::size_t i = 0; i < n; ++i)
        own[i] = 1.0 / static_cast<double>(3 * i + 7 * static_cast<unsigned>(rank) + 1);
      std::vector<double> sum(n);
      std::vector<double> again = own;
      MPI_Allreduce(own.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      MPI_Allreduce(MPI_IN_PLACE, again.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      std::vector<double> first = sum;
      MPI_Bcast(first.data(), count, MPI_DOUBLE, 3, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(std::memcmp(first.data(), sum.data(), n * 8) == 0, rank, count);
      good &= MPI_TEST_CHECK(std::memcmp(again.data(), sum.data(), n * 8) == 0, rank, count);
    }
    return good;
  });
}

// Sums and minima of +0 and -0, whose bits show the order of the operands, into all results and
// into each.
bool large_reductions(MPI_Comm comm, int rank, int size, int count, MPI_Op op) {
  const auto n = static_cast<std::size_t>(count);
  const auto vector_of = [n](int r) {
    std::vector<double> made(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double zero = r == 0 ? 0.0 : -0.0;
      made[i] =
          i % 3 == 0 ? zero : 1 / static_cast<double>(i + 7 + 5 * i * static_cast<unsigned>(r));
    }
    return made;
  };
  const std::vector<double> own = vector_of(rank);
  std::vector<double> expected = vector_of(0);
  for (int r = 1; r < size; ++r) {
    mpi::find_combine(op, MPI_DOUBLE)(expected.data(), vector_of(r).data(), expected.data(), n);
  }
  const auto same_bits = [n](const std::vector<double>& x, const std::vector<double>& y) {
    return std::memcmp(x.data(), y.data(), n * sizeof(double)) == 0;
  };
  bool good = true;
  std::vector<double> got(n, -1);
  MPI_Allreduce(own.data(), got.data(), count, MPI_DOUBLE, op, comm);
  good &= MPI_TEST_CHECK(same_bits(got, expected), rank, count);
  got = own;
  MPI_Allreduce(MPI_IN_PLACE, got.data(), count, MPI_DOUBLE, op, comm);
  good &= MPI_TEST_CHECK(same_bits(got, expected), rank, count);
  for (int root = 0; root < size; ++root) {
    got = own;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : own.data(), rank == root ? got.data() : nullptr, count,
               MPI_DOUBLE, op, root, comm);
    good &= MPI_TEST_CHECK(same_bits(got, rank == root ? expected : own), rank, count);
  }
  return good;
}

// By the kernel's copies, through memory that all map, and by measurement: often enough that both
// ways are taken.
TEST(LargeReductions, GiveTheSameBitsEitherWay) {
  for (const auto& [world, text] : {std::pair{"loop", "auto"}, std::pair{"shm", "0"},
                                    std::pair{"shm", "never"}, std::pair{"shm", "auto"}}) {
    const SingleCopy told(text);
    for (const unsigned ranks : {2u, 3u, 5u}) {
      run_ranks(world, ranks, [](int rank, int size) {
        bool good = true;
        // The shortest, one piece, several, the last ones short.
        for (const int count : {2048 * size, 32'768, 70'001, 262'147}) {
          for (int i = 0; i < (count == 2048 * size ? 10 : 2); ++i) {
            good &=
                large_reductions(MPI_COMM_WORLD, rank, size, count, i % 2 == 0 ? MPI_SUM : MPI_MIN);
          }
        }
        return good;
      });
    }
  }
}

// What ranks reduce through is there from the first such reduction on, and goes with its
// communicator.
TEST(LargeReductions, MemoryGoesWithTheCommunicator) {
  const SingleCopy told("never");
  run_ranks("shm", 2, [](int rank, int size) {
    bool good = true;
    mpi::Process& process = *mpi::Process::current();
    for (int i = 0; i < 3; ++i) {
      MPI_Comm copy;
      MPI_Comm_dup(MPI_COMM_WORLD, &copy);
      const mpi::Comm& inner = *process.find(copy);
      const std::uint32_t segment = mpi::kSharedSegment | inner.context;
      MPI_Barrier(copy);
      good &= MPI_TEST_CHECK(inner.shared == nullptr, rank, i);
      good &= large_reductions(copy, rank, size, 70'001, MPI_SUM);
      good &= MPI_TEST_CHECK(inner.shared != nullptr, rank, i);
      good &= MPI_TEST_CHECK(process.engine().port().map(0, segment) != nullptr, rank, i);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Comm_free(&copy);
      MPI_Barrier(MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(process.engine().port().map(0, segment) == nullptr, rank, i);
    }
    return good;
  });
}

TEST_P(Collectives, BcastFromEveryRoot) {
  for (const unsigned ranks : rank_counts(GetParam())) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      for (const int count : {0, 1, 3, 257, 5000, 70000, 300001}) {
        for (int root = 0; root < size; ++root) {
          const auto data = patterned(static_cast<std::size_t>(count), static_cast<unsigned>(root));
          std::vector<unsigned char> got = data;
          if (rank != root) std::fill(got.begin(), got.end(), 0);
          MPI_Bcast(got.data(), count, MPI_BYTE, root, MPI_COMM_WORLD);
          good &= MPI_TEST_CHECK(got == data, rank, count * 100 + root);
        }
      }
      return good;
    });
  }
}

// Where network interfaces forward a message to all, a broadcast to all ranks is one such, however
// far the root runs ahead of the others, and calls between find their own messages.
TEST(Multicasts, BroadcastsToAllRanksAreForwardedByTheNetwork) {
  run_ranks("myrinet-p3", 9, [](int rank, int size) {
    const PortCounters& counters = mpi::Process::current()->engine().port().counters();
    bool good = true;
    std::vector<int> got(2000);
    for (int i = 0; i < 150; ++i) {
      const int root = i % 3 == 0 ? i % size : 0;
      const int count = i % 2 == 0 ? 1 : static_cast<int>(got.size());
      std::fill(got.begin(), got.end(), rank == root ? i : -1);
      MPI_Bcast(got.data(), count, MPI_INT, root, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(got[0] == i && got[static_cast<std::size_t>(count) - 1] == i, rank, i);
      int sum = 0;
      if (i % 10 == 5) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(sum == (i % 10 == 5 ? size * (size - 1) / 2 : 0), rank, i);
    }
    good &= MPI_TEST_CHECK(rank != 0 || counters.multicasts_sent >= 100, rank, 0);
    // Expect: a part of the ranks has no such message.
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &part);
    const std::uint64_t before = counters.multicasts_sent;
    if (rank != 0) {
      got[0] = rank;
      MPI_Bcast(got.data(), 1, MPI_INT, 0, part);
      good &= MPI_TEST_CHECK(got[0] == 1, rank, got[0]);
      MPI_Comm_free(&part);
    }
    return good & MPI_TEST_CHECK(counters.multicasts_sent == before, rank, 0);
  });
}

// The block that rank `from` has for rank `to`.
std::vector<unsigned char> block_of(int from, int to, std::size_t size) {
  return patterned(size, static_cast<unsigned>(from * 31 + to));
}
void put_block(std::vector<unsigned char>& all, int place,
               const std::vector<unsigned char>& block) {
  std::copy(block.begin(), block.end(),
            all.begin() + static_cast<std::ptrdiff_t>(block.size()) * place);
}

bool gather_and_scatter(int rank, int size, int count) {
  bool good = true;
  const auto n = static_cast<std::size_t>(count);
  for (int root = 0; root < size; ++root) {
    const bool at_root = rank == root;
    std::vector<unsigned char> whole(n * static_cast<std::size_t>(size));
    for (int r = 0; r < size; ++r) put_block(whole, r, block_of(r, root, n));
    const auto own = block_of(rank, root, n);
    std::vector<unsigned char> got(at_root ? whole.size() : 0);
    MPI_Gather(own.data(), count, MPI_BYTE, got.data(), count, MPI_BYTE, root, MPI_COMM_WORLD);
    if (at_root) {
      good &= MPI_TEST_CHECK(got == whole, rank, count * 100 + root);
      std::vector<unsigned char> in_place(whole.size());
      put_block(in_place, rank, own);
      MPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, in_place.data(), count, MPI_BYTE, root, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(in_place == whole, rank, count * 100 + root);
    } else {
      MPI_Gather(own.data(), count, MPI_BYTE, nullptr, 0, MPI_BYTE, root, MPI_COMM_WORLD);
    }
    std::vector<unsigned char> back(n);
    MPI_Scatter(at_root ? whole.data() : nullptr, at_root ? count : 0, MPI_BYTE, back.data(), count,
                MPI_BYTE, root, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(back == own, rank, count * 100 + root);
    MPI_Scatter(at_root ? whole.data() : nullptr, at_root ? count : 0, MPI_BYTE,
                at_root ? MPI_IN_PLACE : back.data(), count, MPI_BYTE, root, MPI_COMM_WORLD);
    good &= MPI_TEST_CHECK(back == own, rank, count * 100 + root);
  }
  return good;
}

bool gather_to_all(int rank, int size, int count) {
  bool good = true;
  const auto n = static_cast<std::size_t>(count);
  std::vector<unsigned char> whole(n * static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) put_block(whole, r, block_of(r, 0, n));
  std::vector<unsigned char> got(whole.size());
  const auto own = block_of(rank, 0, n);
  MPI_Allgather(own.data(), count, MPI_BYTE, got.data(), count, MPI_BYTE, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(got == whole, rank, count);
  std::fill(got.begin(), got.end(), 0);
  put_block(got, rank, own);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, got.data(), count, MPI_BYTE, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(got == whole, rank, count);

  std::vector<unsigned char> to_all(whole.size());
  std::vector<unsigned char> from_all(whole.size());
  for (int r = 0; r < size; ++r) {
    put_block(to_all, r, block_of(rank, r, n));
    put_block(from_all, r, block_of(r, rank, n));
  }
  MPI_Alltoall(to_all.data(), count, MPI_BYTE, got.data(), count, MPI_BYTE, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(got == from_all, rank, count);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, to_all.data(), count, MPI_BYTE, MPI_COMM_WORLD);
  good &= MPI_TEST_CHECK(to_all == from_all, rank, count);
  return good;
}

TEST_P(Collectives, BlocksReachTheirPlaces) {
  for (const unsigned ranks : rank_counts(GetParam())) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      for (const int count : {0, 1, 3, 100, 257, 9000, 40000}) {
        good &= gather_and_scatter(rank, size, count);
        good &= gather_to_all(rank, size, count);
      }
      // Expect: the same once the members have agreed on a board (board.h), where they can; up to
      // 56 bytes of each, and beyond.
      MPI_Barrier(MPI_COMM_WORLD);
      for (const int count : {0, 1, 3, 7, 11, 28, 56, 57, 3, 0, 1}) {
        good &= gather_to_all(rank, size, count);
      }
      good &= gather_and_scatter(rank, size, 8);
      return good;
    });
  }
}

// Small calls whose members all wait for all send no messages once there is a board.
TEST(Boards, SmallCollectivesNeedNoMessages) {
  run_ranks("shm", 2, [](int rank, int size) {
    MPI_Barrier(MPI_COMM_WORLD);
    const PortCounters& counters = mpi::Process::current()->engine().port().counters();
    const std::uint64_t before = counters.packets_sent;
    bool good = true;
    for (int i = 0; i < 10; ++i) {
      const long own[2] = {rank + i, 10 * rank + i};
      long got[2] = {-1, -1};
      MPI_Alltoall(own, 1, MPI_LONG, got, 1, MPI_LONG, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(got[0] == i, rank, got[0]);
      good &= MPI_TEST_CHECK(got[1] == (rank == 0 ? 1 + i : 10 + i), rank, got[1]);
      MPI_Allgather(own, 1, MPI_LONG, got, 1, MPI_LONG, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(got[0] == i && got[1] == 1 + i, rank, got[1]);
      MPI_Scan(own, got, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(got[0] == (rank == 0 ? i : 2 * i + 1), rank, got[0]);
      MPI_Exscan(own, got, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(got[0] == i, rank, got[0]);
      MPI_Reduce_scatter_block(own, got, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(got[0] == (rank == 0 ? 2 * i + 1 : 2 * i + 10), rank, got[0]);
    }
    good &= MPI_TEST_CHECK(counters.packets_sent == before, rank, size);
    return good;
  });
}

// The first member has no result, and its recvbuf may be anything.
TEST_P(Collectives, ExclusiveScansLeaveTheFirstMembersResultAlone) {
  for (const unsigned ranks : {1u, 2u, 5u}) {
    run_ranks(GetParam(), ranks, [](int rank, int) {
      bool good = true;
      for (const int n : {1, 40000}) {
        const std::vector<int> own(static_cast<std::size_t>(n), rank + 1);
        std::vector<int> got(own.size(), -1);
        int* const result = rank == 0 ? nullptr : got.data();
        for (int form = 0; form < kForms; ++form) {
          MPI_TEST_FORM(form, Exscan, exscan, own.data(), result, n, MPI_INT, MPI_SUM,
                        MPI_COMM_WORLD);
          const int sum = rank == 0 ? -1 : rank * (rank + 1) / 2;
          good &= MPI_TEST_CHECK(got == std::vector<int>(own.size(), sum), rank, form);
        }
      }
      return good;
    });
  }
}

// No rank leaves a barrier before the last has entered: ranks take turns to come late.
TEST_P(Collectives, BarrierHoldsEveryone) {
  for (const unsigned ranks : {2u, 5u, 8u}) {
    run_ranks(GetParam(), ranks, [](int rank, int size) {
      bool good = true;
      std::vector<double> came(static_cast<std::size_t>(size));
      for (int late = 0; late < size; ++late) {
        // The late rank enters a while after the others; all read one clock.
        const double start = MPI_Wtime();
        while (rank == late && MPI_Wtime() < start + 200e-6) {
        }
        const double mine = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        const double left = MPI_Wtime();
        MPI_Allgather(&mine, 1, MPI_DOUBLE, came.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int r = 0; r < size; ++r) {
          good &= MPI_TEST_CHECK(left >= came[static_cast<std::size_t>(r)], rank, late);
        }
      }
      return good;
    });
  }
}

// The last barrier of a large job: every rank but the first tells its parent and is told by it.
TEST(Finalize, OfManyRanksTakesTwoMessagesEach) {
  for (const unsigned ranks : {255u, 256u, 333u}) {
    const run::RunReport report = run_bare("loop", ranks, [] {
      MPI_Init(nullptr, nullptr);
      return MPI_Finalize();
    });
    EXPECT_EQ(report.exit_code, 0) << report.failure;
    const unsigned rounds = 8;  // of dissemination, in the smallest
    EXPECT_EQ(report.counters.packets_sent, ranks < 256 ? ranks * rounds : 2 * (ranks - 1));
  }
}

TEST_P(Collectives, OnPartsOfTheWorld) {
  run_ranks(GetParam(), 9, [](int rank, int) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3, rank, &part);
    bool good = true;
    for (int i = 0; i < 20; ++i) {
      int sum = 0;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
      good &= MPI_TEST_CHECK(sum == 3 * (rank % 3) + 9, rank, sum);
      int all[3] = {-1, -1, -1};
      MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, part);
      good &= MPI_TEST_CHECK(all[0] == rank % 3 && all[2] == rank % 3 + 6, rank, all[2]);
    }
    MPI_Comm_free(&part);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
