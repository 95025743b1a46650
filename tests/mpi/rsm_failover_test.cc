// MPI on the rsm device where puts get lost: links of Fire Link that die and come back under load,
// and, between processes, a fabric that loses puts by a seeded plan. FAIRLEAD_SOAK_MESSAGES says
// how many messages the soak has.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/systems/mpi/job_options.h"
#include "tests/mpi/mpi_worlds.h"
#include "tests/mpi/variable.h"

namespace fairlead::mpi_test {
namespace {

unsigned messages() {
  const char* const told = std::getenv("FAIRLEAD_SOAK_MESSAGES");
  return told == nullptr ? 2000 : static_cast<unsigned>(std::atoi(told));
}

run::RunReport run_on(const std::string& on, const std::string& faults, std::uint64_t seed,
                      const std::function<int()>& body, std::uint32_t ranks = 2,
                      std::uint32_t ranks_per_node = 0) {
  run::WorldOptions options;
  options.ranks = ranks;
  options.ranks_per_node = ranks_per_node;
  options.on = on;
  options.faults = faults;
  options.seed = seed;
  options.timeout = seconds(120);
  setenv(mpi::JobOptions::kDeviceVariable, "rsm", 1);
  Result<run::RunReport> report =
      run::run_world(options, [&body](run::Context&) { return body(); });
  unsetenv(mpi::JobOptions::kDeviceVariable);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

// Sizes around those where protocols change, short ones mostly.
int size_of(Prng& prng) {
  static constexpr int kMost[] = {8, 100, 2000, 2001, 4097, 20'000, 33'000, 100'000};
  const std::uint64_t drawn = prng.below(12);
  const int most = kMost[drawn < 5 ? 0 : drawn - 4];
  return static_cast<int>(prng.below(static_cast<std::uint64_t>(most) + 1));
}

// Messages of all sizes both ways at once, a few under way; every byte is looked at.
int soak(std::uint64_t seed, unsigned count) {
  constexpr unsigned kAtOnce = 8;
  MPI_Init(nullptr, nullptr);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Prng sizes(seed);  // the same on both
  bool good = true;
  for (unsigned first = 0; first < count; first += kAtOnce) {
    std::vector<std::vector<unsigned char>> out(kAtOnce);
    std::vector<std::vector<unsigned char>> in(kAtOnce);
    std::vector<MPI_Request> requests(2 * kAtOnce);
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const int bytes[2] = {size_of(sizes), size_of(sizes)};
      const unsigned number = first + i;
      out[i] = patterned(static_cast<std::size_t>(bytes[rank]), number * 2 + unsigned(rank));
      in[i].resize(static_cast<std::size_t>(bytes[1 - rank]));
      MPI_Isend(out[i].data(), bytes[rank], MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                &requests[2 * i]);
      MPI_Irecv(in[i].data(), bytes[1 - rank], MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                &requests[2 * i + 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const unsigned number = first + i;
      good &= MPI_TEST_CHECK(in[i] == patterned(in[i].size(), number * 2 + unsigned(1 - rank)),
                             rank, number);
    }
  }
  // Expect: nothing is left of them
  int any = 1;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
  good &= MPI_TEST_CHECK(any == 0, rank, any);
  MPI_Finalize();
  return good ? 0 : 1;
}

// Links 0 to 2 of either host die and come back at any time; the last one lives on.
std::string outages(std::uint64_t seed) {
  Prng prng(seed);
  std::string plan;
  for (int i = 0; i < 12; ++i) {
    plan += fmt::format("{}down={}-link{}@{}us+{}us", i == 0 ? "" : ",", prng.below(2),
                        prng.below(3), prng.below(60'000), 20 + prng.below(15'000));
  }
  return plan;
}

TEST(RsmFailover, LinksThatDieAndComeBackUnderLoadLoseNothing) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const auto body = [&] { return soak(seed, messages() / 2); };
    const run::RunReport whole = run_on("firelink", "", seed, body);
    EXPECT_EQ(whole.exit_code, 0) << whole.failure;
    const run::RunReport broken = run_on("firelink", outages(seed), seed, body);
    EXPECT_EQ(broken.exit_code, 0) << outages(seed) << " " << broken.failure;
    EXPECT_GT(broken.virtual_time, whole.virtual_time + milliseconds(5));
    EXPECT_EQ(broken.digest, run_on("firelink", outages(seed), seed, body).digest);
  }
}

TEST(RsmFailover, AFabricThatLosesPutsLosesNoMessage) {
  const run::RunReport report = run_on("shm", "drop=0.05,down=1@20ms+15ms,down=0-1@60ms+5ms", 7,
                                       [] { return soak(7, messages()); });
  EXPECT_EQ(report.exit_code, 0) << report.failure;
}

// Four ranks on two nodes: messages of all sizes from each to both ranks of the other node, by
// pools of four blocks that serve both. Then each sender fills all of its pool that one receiver
// may have, while that one looks at nobody else's messages: had any block not come back, the job
// would end with a rank that waits for ever. `may_have`: bytes of all blocks but one for each other
// rank that the sender has a connection to.
int soak_shared_pools(std::uint64_t seed, unsigned count, int may_have) {
  MPI_Init(nullptr, nullptr);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Prng sizes(seed);
  bool good = true;
  const int far = rank < 2 ? 2 : 0;  // the first rank of the other node
  for (unsigned number = 0; number < count; ++number) {
    int bytes[4][4];
    for (auto& row : bytes) {
      for (int& one : row) one = size_of(sizes);
    }
    std::vector<unsigned char> out[2];
    std::vector<unsigned char> in[2];
    MPI_Request requests[4];
    for (int i = 0; i < 2; ++i) {
      const auto seed_of = [&](int from, int to) { return number * 16 + unsigned(from * 4 + to); };
      out[i] = patterned(static_cast<std::size_t>(bytes[rank][far + i]), seed_of(rank, far + i));
      in[i].resize(static_cast<std::size_t>(bytes[far + i][rank]));
      MPI_Isend(out[i].data(), bytes[rank][far + i], MPI_BYTE, far + i, 0, MPI_COMM_WORLD,
                &requests[i]);
      MPI_Irecv(in[i].data(), bytes[far + i][rank], MPI_BYTE, far + i, 0, MPI_COMM_WORLD,
                &requests[2 + i]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) {
      const auto expected = patterned(in[i].size(), number * 16 + unsigned((far + i) * 4 + rank));
      good &= MPI_TEST_CHECK(in[i] == expected, rank, number);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // Expect: all of a pool is there again, for either receiver
  const std::vector<unsigned char> most = patterned(static_cast<std::size_t>(may_have), 1);
  for (const int receiver : {far, far + 1}) {
    for (const int sender : {0, 1, 2, 3}) {
      const int neighbour = sender ^ 1;
      const int to = (sender < 2 ? 2 : 0) + receiver % 2;
      int word = 0;
      if (rank == sender) {
        MPI_Send(most.data(), may_have, MPI_BYTE, to, 1, MPI_COMM_WORLD);
        MPI_Send(&word, 1, MPI_INT, neighbour, 2, MPI_COMM_WORLD);
      } else if (rank == neighbour) {
        MPI_Recv(&word, 1, MPI_INT, sender, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
      } else if (rank == to) {
        std::vector<unsigned char> got(most.size());
        MPI_Recv(&word, 1, MPI_INT, neighbour, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(got.data(), may_have, MPI_BYTE, sender, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        good &= MPI_TEST_CHECK(got == most, rank, sender);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return good ? 0 : 1;
}

TEST(RsmFailover, SharedPoolsAreEmptyAfterLinksThatDieAndPutsThatGetLost) {
  const Variable boxes("MPI_RSM_NUMPOSTBOX", "4");
  const Variable pool("MPI_RSM_SBPOOLSIZE", "16KiB");
  const Variable looks("MPI_POLLALL", "0");
  const unsigned count = messages() / 16;
  const auto on_two_nodes = [=] { return soak_shared_pools(5, count, 3 * 4096); };
  const run::RunReport broken = run_on("firelink", outages(5), 5, on_two_nodes, 4, 2);
  EXPECT_EQ(broken.exit_code, 0) << outages(5) << " " << broken.failure;
  const auto on_one = [=] { return soak_shared_pools(5, count, 2 * 4096); };
  const run::RunReport lossy = run_on("shm", "drop=0.05,down=1@20ms+15ms", 5, on_one, 4);
  EXPECT_EQ(lossy.exit_code, 0) << lossy.failure;
}

// Eight pairs fill the four links between two nodes, of which one dies and comes back.
TEST(RsmFailover, TheRateIsTheLivingLinksAndTheGapEndsWithTheirRouting) {
  constexpr unsigned kPairs = 8;
  constexpr int kBytes = 256 << 10;
  constexpr double kDies = 0.030;
  constexpr double kLives = 0.075;
  constexpr double kEnd = 0.120;
  std::vector<double> arrivals;  // ranks are fibers of this process
  run::WorldOptions options;
  options.ranks = 2 * kPairs;
  options.ranks_per_node = kPairs;
  options.on = "firelink";
  options.faults = "down=0-link1@30ms+45ms";
  options.timeout = seconds(120);
  setenv(mpi::JobOptions::kDeviceVariable, "auto", 1);
  const auto body = [&](run::Context&) {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<unsigned char> data(kBytes);
    const bool sends = rank < static_cast<int>(kPairs);
    const int other = sends ? rank + static_cast<int>(kPairs) : rank - static_cast<int>(kPairs);
    for (;;) {
      data[0] = MPI_Wtime() < kEnd ? 1 : 0;
      if (sends) {
        MPI_Send(data.data(), kBytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(data.data(), kBytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arrivals.push_back(MPI_Wtime());
      }
      if (data[0] == 0) break;
    }
    MPI_Finalize();
    return 0;
  };
  const Result<run::RunReport> report = run::run_world(options, body);
  unsetenv(mpi::JobOptions::kDeviceVariable);
  ASSERT_TRUE(report.ok()) << report.error().text;
  ASSERT_EQ(report.value().exit_code, 0) << report.value().failure;
  std::sort(arrivals.begin(), arrivals.end());
  const auto rate = [&](double from, double to) {
    const auto count = std::count_if(arrivals.begin(), arrivals.end(),
                                     [&](double at) { return at >= from && at < to; });
    return static_cast<double>(count) * kBytes / (to - from) / 1e6;
  };
  double gap = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    if (arrivals[i - 1] < kLives) gap = std::max(gap, arrivals[i] - arrivals[i - 1]);
  }
  const double whole = rate(0.005, kDies);
  const double broken = rate(0.045, kLives);
  const double mended = rate(0.090, kEnd);
  RecordProperty("whole_MBps", fmt::format("{:.0f}", whole));
  RecordProperty("broken_MBps", fmt::format("{:.0f}", broken));
  RecordProperty("mended_MBps", fmt::format("{:.0f}", mended));
  RecordProperty("gap_ms", fmt::format("{:.2f}", gap * 1e3));
  // Expect: three of four links, within 10 %, then all of them
  EXPECT_NEAR(broken / whole, 0.75, 0.075) << whole << " " << broken;
  EXPECT_NEAR(mended / whole, 1, 0.1) << whole << " " << mended;
  // Expect: 1 ms until the loss is found, 10 ms until there are other ways, and what is put again
  EXPECT_GE(gap, 0.010);
  EXPECT_LE(gap, 0.0125);
}

// Nobody waits for ever: who is left hears which rank cannot be reached, since when, and which link
// was the last.
TEST(RsmFailover, TheLastLinkGoneEndsTheJob) {
  const run::RunReport report =
      run_on("firelink", "down=0-link0@100us+1s,down=0-ni1@150us+1s,down=0-link1@300us+1s", 1,
             [] { return soak(1, 2000); });
  EXPECT_NE(report.exit_code, 0);
  // Expect: who speaks, of whom, and what the rank itself was told of its path
  const bool one_speaks = report.failure.starts_with("rank 1: ");
  EXPECT_TRUE(one_speaks || report.failure.starts_with("rank 0: ")) << report.failure;
  const std::string wanted =
      fmt::format("rank {} was lost: no link is left from node {} to node {}: 0-link",
                  one_speaks ? 0 : 1, one_speaks ? 1 : 0, one_speaks ? 0 : 1);
  const std::size_t at = report.failure.find(wanted);
  ASSERT_NE(at, std::string::npos) << report.failure;
  const std::string rest = report.failure.substr(at);
  EXPECT_NE(rest.find(" was found dead at 1"), std::string::npos) << report.failure;  // 1 ms later
  EXPECT_NE(rest.find(" us"), std::string::npos) << report.failure;
}

}  // namespace
}  // namespace fairlead::mpi_test
