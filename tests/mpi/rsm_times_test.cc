// What messages take by stores on the modelled Fire Link cluster: the rows of the Sun MPI paper
// that its platform was fitted on, and what section 3 and figure 6 say of pipelining and of load.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fairlead/systems/mpi/job_options.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

// Half of a round trip of the slowest of so many pairs, in us.
double ping_pong_us(unsigned pairs, bool on_node, int bytes) {
  constexpr int kCount = 10;
  run::WorldOptions options;
  options.ranks = 2 * pairs;
  options.ranks_per_node = on_node ? 2 * pairs : pairs;
  options.on = "firelink";
  double slowest = 0;  // ranks are fibers of this process
  const auto body = [&](run::Context&) {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool first = rank < static_cast<int>(pairs);
    const int other = first ? rank + static_cast<int>(pairs) : rank - static_cast<int>(pairs);
    std::vector<char> data(static_cast<std::size_t>(bytes));
    double begin = 0;
    for (int i = -2; i < kCount; ++i) {
      if (i == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
      }
      if (first) MPI_Send(data.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
      MPI_Recv(data.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!first) MPI_Send(data.data(), bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
    slowest = std::max(slowest, (MPI_Wtime() - begin) / (2 * kCount) * 1e6);
    MPI_Finalize();
    return 0;
  };
  setenv(mpi::JobOptions::kDeviceVariable, "auto", 1);
  const Result<run::RunReport> report = run::run_world(options, body);
  unsetenv(mpi::JobOptions::kDeviceVariable);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  EXPECT_EQ(report.ok() ? report.value().failure : "", "");
  return slowest;
}

TEST(RsmTimes, APairOnANodeTakesWhatThePaperSays) {
  EXPECT_NEAR(ping_pong_us(1, true, 0), 1.5, 0.05 * 1.5);
  EXPECT_NEAR((1 << 20) / ping_pong_us(1, true, 1 << 20), 806, 0.05 * 806);
}

// While the receiver takes a part, the sender fills the next ones.
TEST(RsmTimes, PipeliningDoublesTheRate) {
  const double pipelined = (1 << 20) / ping_pong_us(1, false, 1 << 20);
  setenv("MPI_RSM_PIPESIZE", "65536", 1);
  const double at_once = 65536 / ping_pong_us(1, false, 65536);
  unsetenv("MPI_RSM_PIPESIZE");
  EXPECT_GE(pipelined / at_once, 1.8) << pipelined << " " << at_once;
  EXPECT_LE(pipelined / at_once, 2.2) << pipelined << " " << at_once;
}

TEST(RsmTimes, BothProtocolsAreAsFastAsEachOtherAbout2000Bytes) {
  const auto faster_in_blocks = [](int bytes) {
    setenv("MPI_RSM_SHORTMSGSIZE", "0", 1);
    const double blocks = ping_pong_us(1, false, bytes);
    setenv("MPI_RSM_SHORTMSGSIZE", "32768", 1);
    const double boxes = ping_pong_us(1, false, bytes);
    unsetenv("MPI_RSM_SHORTMSGSIZE");
    return blocks < boxes;
  };
  EXPECT_FALSE(faster_in_blocks(1500));
  EXPECT_TRUE(faster_in_blocks(2500));
}

TEST(RsmTimes, ShortMessagesOfManyPairsWaitForNoInterface) {
  for (const int bytes : {0, 64, 256}) {
    EXPECT_LE(ping_pong_us(23, false, bytes), 1.2 * ping_pong_us(1, false, bytes)) << bytes;
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
