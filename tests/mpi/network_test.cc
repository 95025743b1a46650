// Collectives that the network, its interfaces or its switches do (collectives/by_network.h): the
// results of messages on every communicator, messages that go on meanwhile, and what it takes.
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

// A machine, and who does collectives there. Operands in the network are of 64 bytes at most.
struct Place {
  const char* name;
  const char* on;
  const char* lci;
  const char* set;
};
const Place kPlaces[] = {
    {"network", "qsnet-es40", "elan", "network.reduction_bytes=0"},
    {"switches", "qsnet-es40", "elan", "network.reduction_bytes=64"},
    {"interfaces", "qsnet-es40", "elan-tree", "network.reduction_bytes=0"},
    {"hosts", "qsnet-es40", "elan-host", "network.reduction_bytes=64"},
    {"today", "infiniband-ndr", "direct", "network.reduction_bytes=64"},
};
const Place& kNetwork = kPlaces[0];
const Place& kSwitches = kPlaces[1];
const Place& kInterfaces = kPlaces[2];
const Place& kHosts = kPlaces[3];

run::RunReport run_on(const Place& place, unsigned ranks, const std::function<bool(int, int)>& body,
                      std::uint32_t ranks_per_node = 1) {
  run::WorldOptions options;
  options.ranks = ranks;
  options.on = place.on;
  options.lci = place.lci;
  options.ranks_per_node = ranks_per_node;
  options.set.emplace_back(place.set);
  options.timeout = seconds(60);
  options.fiber_stack_kib = 256;
  const Result<run::RunReport> report = run::run_world(options, [&body](run::Context&) {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    int size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool good = body(rank, size);
    MPI_Finalize();
    return good ? 0 : 1;
  });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

void expect_good(const run::RunReport& report) {
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.failure, "");
}

// The world, its copy, its members backwards, those of one half, and every second one.
std::vector<MPI_Comm> communicators(int rank, int size) {
  std::vector<MPI_Comm> made(5, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &made[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2 ? 0 : 1, rank, &made[3]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made[4]);
  return made;
}

bool broadcasts(MPI_Comm comm, int rank, int size) {
  bool good = true;
  for (const int root : {0, size - 1}) {
    for (const int bytes : {0, 321, 140'000}) {
      const auto seed = static_cast<unsigned>(root + bytes);
      const std::vector<unsigned char> sent = patterned(static_cast<std::size_t>(bytes), seed);
      std::vector<unsigned char> data = rank == root ? sent : std::vector<unsigned char>(sent);
      if (rank != root) std::fill(data.begin(), data.end(), static_cast<unsigned char>(0));
      MPI_Bcast(data.data(), bytes, MPI_BYTE, root, comm);
      good &= MPI_TEST_CHECK(data == sent, rank, bytes);
    }
  }
  return good;
}

// Small whole numbers: every order of sums has the same bits.
template <class T>
bool reduces(MPI_Comm comm, int rank, int size, MPI_Datatype type, MPI_Op op, int count,
             const std::function<T(T, T)>& combine) {
  const auto element = [](int member, int i) { return static_cast<T>((member * 7 + i) % 5 + 1); };
  std::vector<T> own;
  std::vector<T> expected;
  for (int i = 0; i < count; ++i) {
    own.push_back(element(rank, i));
    expected.push_back(element(0, i));
    for (int r = 1; r < size; ++r) expected.back() = combine(expected.back(), element(r, i));
  }
  std::vector<T> got(own.size(), T{99});
  MPI_Allreduce(own.data(), got.data(), count, type, op, comm);
  bool good = MPI_TEST_CHECK(got == expected, rank, count);
  got = own;
  MPI_Allreduce(MPI_IN_PLACE, got.data(), count, type, op, comm);
  good &= MPI_TEST_CHECK(got == expected, rank, count);
  got.assign(own.size(), T{99});
  MPI_Reduce(own.data(), got.data(), count, type, op, size - 1, comm);
  // Expect: nothing is written but at the root
  if (rank != size - 1) expected.assign(own.size(), T{99});
  return MPI_TEST_CHECK(got == expected, rank, count) && good;
}

// The leftmost of all: the order matters.
void leftmost(void* in, void* inout, int* count, MPI_Datatype*) {
  std::memcpy(inout, in, static_cast<std::size_t>(*count) * sizeof(std::int64_t));
}

bool reductions(MPI_Comm comm, int rank, int size) {
  bool good = true;
  for (const int count : {1, 20, 700}) {
    good &= reduces<std::int64_t>(comm, rank, size, MPI_INT64_T, MPI_SUM, count, std::plus<>());
    good &= reduces<std::uint8_t>(comm, rank, size, MPI_BYTE, MPI_BXOR, count, std::bit_xor<>());
    good &= reduces<double>(comm, rank, size, MPI_DOUBLE, MPI_MAX, count,
                            [](double a, double b) { return std::max(a, b); });
    // Expect: what no network knows, too
    good &= reduces<std::int32_t>(comm, rank, size, MPI_INT, MPI_PROD, count, std::multiplies<>());
  }
  MPI_Op ordered = MPI_OP_NULL;
  MPI_Op_create(&leftmost, 0, &ordered);
  const std::int64_t own = rank + 1;
  std::int64_t got = 0;
  MPI_Allreduce(&own, &got, 1, MPI_INT64_T, ordered, comm);
  MPI_Op_free(&ordered);
  struct {
    int value, place;
  } const mine = {rank / 2, rank};
  auto least = mine;
  MPI_Allreduce(&mine, &least, 1, MPI_2INT, MPI_MINLOC, comm);
  return MPI_TEST_CHECK(got == 1, rank, got) &&
         MPI_TEST_CHECK(least.value == 0 && least.place == 0, rank, least.place) && good;
}

class NetworkCollectives : public testing::TestWithParam<Place> {};
INSTANTIATE_TEST_SUITE_P(Places, NetworkCollectives, testing::ValuesIn(kPlaces),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(NetworkCollectives, ResultsAreThoseOfMessages) {
  // Nodes of several ranks are out of a multicast's reach.
  const bool shared = GetParam().lci == std::string("elan-tree");
  for (const std::uint32_t ranks_per_node : shared ? std::vector{1U, 2U} : std::vector{1U}) {
    expect_good(run_on(
        GetParam(), 6,
        [](int world_rank, int world_size) {
          bool good = true;
          for (MPI_Comm comm : communicators(world_rank, world_size)) {
            int rank = -1;
            int size = -1;
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &size);
            good &= broadcasts(comm, rank, size);
            MPI_Barrier(comm);
            good &= reductions(comm, rank, size);
            if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
          }
          return good;
        },
        ranks_per_node));
  }
}

// Who waits in a barrier goes on with a collective that it has begun, which its peers finish first.
TEST_P(NetworkCollectives, WhatWasBegunGoesOnInABarrier) {
  expect_good(run_on(GetParam(), 6, [](int rank, int size) {
    MPI_Barrier(MPI_COMM_WORLD);
    const int own = rank;
    int sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank != size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return MPI_TEST_CHECK(sum == size * (size - 1) / 2, rank, sum);
  }));
}

// Nobody leaves a barrier before the last has come.
TEST_P(NetworkCollectives, ABarrierWaitsForTheLast) {
  for (const int late : {0, 5}) {
    expect_good(run_on(GetParam(), 6, [late](int rank, int) {
      bool good = true;
      for (int i = 0; i < 3; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double from = MPI_Wtime();
        while (rank == late && MPI_Wtime() < from + 300e-6) {
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double us = (MPI_Wtime() - from) * 1e6;
        good &= MPI_TEST_CHECK(us > 270, rank, us);
      }
      return good;
    }));
  }
}

TEST(NetworkCollectivesOnQsnet, ARankInAnotherCallIsTold) {
  const run::RunReport report = run_on(kNetwork, 4, [](int rank, int) {
    int value = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else {
      MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    return true;
  });
  EXPECT_NE(report.exit_code, 0);
  EXPECT_NE(report.failure.find("the ranks do not agree: rank 0 is in MPI_Barrier"),
            std::string::npos)
      << report.failure;
  EXPECT_NE(report.failure.find("MPI_Bcast"), std::string::npos) << report.failure;
}

// Us that `call` takes on 16 nodes, by rank 0.
double us_of(const Place& place, const std::function<void()>& call) {
  constexpr int kRounds = 10;
  double us = 0;
  expect_good(run_on(place, 16, [&](int rank, int) {
    call();
    const double from = MPI_Wtime();
    for (int i = 0; i < kRounds; ++i) call();
    if (rank == 0) us = (MPI_Wtime() - from) * 1e6 / kRounds;  // ranks are fibers of this process
    return true;
  }));
  return us;
}

// docs/mpi.md has what 64 nodes take.
TEST(NetworkCollectivesOnQsnet, AreFasterThanMessages) {
  const auto barrier = [] { MPI_Barrier(MPI_COMM_WORLD); };
  EXPECT_LT(us_of(kNetwork, barrier), 0.6 * us_of(kHosts, barrier));
  EXPECT_LT(us_of(kInterfaces, barrier), us_of(kHosts, barrier));
  const auto bcast = [] {
    char data[2048] = {};
    MPI_Bcast(data, sizeof data, MPI_BYTE, 3, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  EXPECT_LT(us_of(kNetwork, bcast), 0.7 * us_of(kHosts, bcast));
  const auto sum = [] {
    double value = 1;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  };
  EXPECT_LT(us_of(kSwitches, sum), 0.4 * us_of(kHosts, sum));
  EXPECT_LT(us_of(kNetwork, sum), us_of(kHosts, sum));
}

}  // namespace
}  // namespace fairlead::mpi_test
