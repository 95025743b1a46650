// Back-pressure: a rank that sends more than its peer receives. What waits at the peer stays
// bounded, nothing is lost, and the messages keep their order.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "fairlead/base/sanitized.h"
#include "fairlead/systems/mpi/job_options.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Flood : PerWorld {
  void SetUp() override {
    PerWorld::SetUp();
    if (GetParam().starts_with("panda")) GTEST_SKIP() << "that device does not ask for slower";
    setenv(mpi::JobOptions::kUnexpectedVariable, "256KiB", 1);
  }
  void TearDown() override { unsetenv(mpi::JobOptions::kUnexpectedVariable); }
};
INSTANTIATE_MPI_TESTS(Flood);

// Far beyond the limit, and beyond what the buffers of any network hold.
constexpr std::size_t kFloodBytes = std::size_t{24} << 20;
// The limit, what was under way when the sender heard of it, and what else a process takes.
constexpr std::size_t kGrowthMax = std::size_t{8} << 20;

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Takes in what comes, for so long, and receives nothing.
void look_for(double seconds_long) {
  const double until = MPI_Wtime() + seconds_long;
  int flag = 0;
  while (MPI_Wtime() < until) {
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

bool receive_in_order(int rank, int messages, int bytes) {
  bool good = true;
  std::vector<unsigned char> got(static_cast<std::size_t>(bytes) + 1);
  for (int i = 0; i < messages && good; ++i) {
    MPI_Status status;
    MPI_Recv(got.data(), bytes + 1, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    good &= MPI_TEST_CHECK(count == bytes && status.MPI_TAG == i % 5, rank, i);
    const auto at = static_cast<std::size_t>(i) % got.size();
    good &= MPI_TEST_CHECK(
        at == static_cast<std::size_t>(bytes) || got[at] == pattern(at, static_cast<unsigned>(i)),
        rank, i);
  }
  return good;
}

// Rank 0 sends to rank 1, which waits for rank 2 first, as long as the flood needs to stop.
// `bounded`: no more memory is taken than is asked for here; see is_bounded().
bool flood(int rank, int bytes, bool bounded) {
  const int messages = static_cast<int>(kFloodBytes / static_cast<std::size_t>(bytes));
  bool good = true;
  if (rank == 0) {
    for (int i = 0; i < messages; ++i) {
      const auto sent = patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(i));
      MPI_Send(sent.data(), bytes, MPI_BYTE, 1, i % 5, MPI_COMM_WORLD);
    }
  } else if (rank == 1) {
    const std::size_t before = resident_bytes();
    MPI_Recv(nullptr, 0, MPI_BYTE, 2, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::size_t after = resident_bytes();
#ifndef FAIRLEAD_TSAN  // which keeps more memory than this
    if (bounded) {
      good &= MPI_TEST_CHECK(after < before + kGrowthMax, rank, (after - before) >> 10);
    }
#endif
    good &= receive_in_order(rank, messages, bytes);
  } else {
    look_for(0.4);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 98, MPI_COMM_WORLD);
  }
  return good;
}

// Providers of libfabric take in what comes before anybody asks. Where packets are lost, the word
// to send more slowly may be, too: it is sent again milliseconds later, and a flood as long as this
// one may be over by then.
bool is_bounded(const std::string& world) {
  return !world.starts_with("ofi") && !world.starts_with("lossy");
}

TEST_P(Flood, OfMessagesOfSeveralPackets) {
  const bool bounded = is_bounded(GetParam());
  run_ranks(GetParam(), 3, [=](int rank, int) { return flood(rank, 20000, bounded); });
}

TEST_P(Flood, OfMessagesOfOnePacket) {
  const bool bounded = is_bounded(GetParam());
  run_ranks(GetParam(), 3, [=](int rank, int) { return flood(rank, 1000, bounded); });
}

// They are kept whole, with their envelopes.
TEST_P(Flood, OfShortMessages) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kMessages = 20000;
    constexpr int kBytes = 48;
    if (rank == 0) {
      for (int i = 0; i < kMessages; ++i) {
        const auto sent = patterned(kBytes, static_cast<unsigned>(i));
        MPI_Send(sent.data(), kBytes, MPI_BYTE, 1, i % 5, MPI_COMM_WORLD);
      }
      return true;
    }
    look_for(0.1);
    return receive_in_order(rank, kMessages, kBytes);
  });
}

// All begun before the first is received, the last one first.
TEST_P(Flood, OfSendsThatAreReceivedInReverse) {
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kMessages = 1000;
    const auto size_of = [](int i) { return i % 3 == 0 ? 40 : i % 3 == 1 ? 3000 : 30000; };
    bool good = true;
    if (rank == 0) {
      std::vector<std::vector<unsigned char>> sent;
      std::vector<MPI_Request> requests(kMessages, MPI_REQUEST_NULL);
      for (int i = 0; i < kMessages; ++i) {
        sent.push_back(patterned(static_cast<std::size_t>(size_of(i)), static_cast<unsigned>(i)));
        MPI_Isend(sent.back().data(), size_of(i), MPI_BYTE, 1, i, MPI_COMM_WORLD,
                  &requests[static_cast<std::size_t>(i)]);
      }
      MPI_Waitall(kMessages, requests.data(), MPI_STATUSES_IGNORE);
    } else {
      look_for(0.1);
      std::vector<unsigned char> got(30000);
      for (int i = kMessages - 1; i >= 0; --i) {
        MPI_Recv(got.data(), size_of(i), MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const auto last = static_cast<std::size_t>(size_of(i)) - 1;
        good &= MPI_TEST_CHECK(got[last] == pattern(last, static_cast<unsigned>(i)), rank, i);
      }
      // The peer hears that it need not be slow any more, and all is as before.
      for (int i = 0; i < 50; ++i) {
        MPI_Recv(got.data(), 40, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(got.data(), 40, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
      }
    }
    if (rank == 0) {
      unsigned char ball[40] = {};
      for (int i = 0; i < 50; ++i) {
        MPI_Send(ball, 40, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(ball, 40, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    return good;
  });
}

// A root that is ahead of the others: the messages of collectives are bounded likewise.
TEST_P(Flood, OfCollectives) {
  run_ranks(GetParam(), 3, [](int rank, int) {
    constexpr int kRounds = 600;
    constexpr int kBytes = 2000;
    std::vector<unsigned char> data(kBytes);
    bool good = true;
    if (rank == 1) look_for(0.1);
    for (int i = 0; i < kRounds && good; ++i) {
      if (rank == 0) data = patterned(kBytes, static_cast<unsigned>(i));
      MPI_Bcast(data.data(), kBytes, MPI_BYTE, 0, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(data == patterned(kBytes, static_cast<unsigned>(i)), rank, i);
    }
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
