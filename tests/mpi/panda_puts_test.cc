// Long messages of the panda device on I-rcpy and on virtual interfaces, which go by puts between
// exposed memory: the bytes are where they belong and nowhere else, whatever the addresses, the
// order, the loss and what the program does with its memory between messages.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/systems/mpi/devices/panda/device.h"
#include "fairlead/systems/mpi/job_options.h"
#include "tests/mpi/mpi_worlds.h"
#include "tests/mpi/variable.h"

namespace fairlead::mpi_test {
namespace {

struct Where {
  const char* name;
  const char* on;
  const char* lci;
  const char* faults;
};

class PandaPuts : public testing::TestWithParam<Where> {
 protected:
  run::RunReport run_bare(unsigned ranks, const std::function<int()>& body,
                          const std::string& faults = {}, std::uint32_t ranks_per_node = 0) const {
    const Variable device(mpi::JobOptions::kDeviceVariable, "panda");
    run::WorldOptions options;
    options.ranks = ranks;
    options.ranks_per_node = ranks_per_node;
    options.on = GetParam().on;
    options.lci = GetParam().lci;
    options.faults = faults.empty() ? GetParam().faults : faults;
    options.seed = 3;
    options.timeout = seconds(60);
    options.fiber_stack_kib = 256;
    Result<run::RunReport> report =
        run::run_world(options, [&body](run::Context&) { return body(); });
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
    return report.ok() ? report.value() : run::RunReport{};
  }
  run::RunReport run(unsigned ranks, const std::function<bool(int, int)>& program,
                     std::uint32_t ranks_per_node = 0) const {
    const run::RunReport report = run_bare(
        ranks, [&program] { return run_between(program); }, {}, ranks_per_node);
    EXPECT_EQ(report.exit_code, 0) << report.failure;
    EXPECT_EQ(report.failure, "");
    return report;
  }
};
INSTANTIATE_TEST_SUITE_P(Places, PandaPuts,
                         testing::Values(Where{"ppro", "myrinet-ppro", "rcpy", ""},
                                         Where{"p3_hmc", "myrinet-p3", "rcpy-hmc", ""},
                                         Where{"nirx", "myrinet-ppro", "rcpy-nirx", ""},
                                         Where{"via", "myrinet-p3", "via", ""},
                                         Where{"lossy", "myrinet-p3", "nirx-rcpy", "drop=0.01"}),
                         [](const auto& one) { return one.param.name; });

constexpr std::size_t kLeast = mpi::PandaDevice::kPutBytesMin;
constexpr unsigned char kUntouched = 0xee;

// A message of `size` bytes from rank 0 to 1, from the `from`-th byte of a buffer to the `to`-th.
bool pass(int rank, std::size_t size, std::size_t from, std::size_t to) {
  const auto seed = static_cast<unsigned>(size * 31 + from * 7 + to);
  const int count = static_cast<int>(size);
  std::vector<unsigned char> memory(size + 128, kUntouched);
  if (rank == 0) {
    const std::vector<unsigned char> data = patterned(size, seed);
    std::copy(data.begin(), data.end(), memory.begin() + static_cast<std::ptrdiff_t>(from));
    MPI_Send(memory.data() + from, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    return true;
  }
  MPI_Recv(memory.data() + to, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::vector<unsigned char> wanted(memory.size(), kUntouched);
  const std::vector<unsigned char> data = patterned(size, seed);
  std::copy(data.begin(), data.end(), wanted.begin() + static_cast<std::ptrdiff_t>(to));
  return MPI_TEST_CHECK(memory == wanted, rank, size);
}

TEST_P(PandaPuts, EverySizeAtEveryAddress) {
  const run::RunReport report = run(2, [](int rank, int) {
    bool good = true;
    for (const std::size_t size : {kLeast - 1, kLeast, kLeast + 1, std::size_t{12'288},
                                   std::size_t{20'003}, std::size_t{300'001}}) {
      for (std::size_t from = 0; from < 5; ++from) {
        for (std::size_t to = 0; to < 5; ++to) good &= pass(rank, size, from, to);
      }
    }
    return good;
  });
  EXPECT_GT(report.counters.page_transfers, 0u);
}

// One buffer again and again, every message a part of it.
TEST_P(PandaPuts, OfAKnownBufferGoWithoutMisses) {
  constexpr int kRounds = 50;
  constexpr int kPart = 16'384;
  const auto misses = [this](int rounds) {
    const run::RunReport report = run(2, [rounds](int rank, int) {
      std::vector<unsigned char> buffer(std::size_t{4} * kPart);
      bool good = true;
      for (int round = 0; round < rounds; ++round) {
        unsigned char* const part = buffer.data() + std::size_t(round % 4) * kPart;
        const auto seed = static_cast<unsigned>(round);
        if (rank == 0) {
          const std::vector<unsigned char> data = patterned(kPart, seed);
          std::copy(data.begin(), data.end(), part);
          MPI_Send(part, kPart, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else {
          MPI_Recv(part, kPart, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          const std::vector<unsigned char> data = patterned(kPart, seed);
          good &= MPI_TEST_CHECK(std::equal(data.begin(), data.end(), part), rank, round);
        }
      }
      return good;
    });
    EXPECT_GE(report.counters.page_transfers, static_cast<std::uint64_t>(rounds) * kPart / 4096);
    return report.counters.tlb_send_misses + report.counters.tlb_receive_misses;
  };
  // Expect: once the buffer is one range and its pages are known, none is unknown any more
  EXPECT_EQ(misses(kRounds), misses(2 * kRounds));
}

// More at once than there are counters for, both ways between all, in an order that nobody told.
TEST_P(PandaPuts, ManyAtOnceBothWays) {
  constexpr int kEach = 24;
  static_assert(2 * kEach > mpi::PandaDevice::kPutsMax);
  run(3, [](int rank, int size) {
    struct Message {
      std::vector<unsigned char> out;
      std::vector<unsigned char> in;
    };
    const auto bytes_of = [](int source, int number) {
      return static_cast<std::size_t>(3000 + source * 5003 + number * 1237);
    };
    std::vector<Message> messages(static_cast<std::size_t>(size * kEach));
    std::vector<MPI_Request> requests;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      for (int number = 0; number < kEach; ++number) {
        Message& each = messages[static_cast<std::size_t>(peer * kEach + number)];
        each.in.assign(bytes_of(peer, number), 0);
        MPI_Irecv(each.in.data(), static_cast<int>(each.in.size()), MPI_BYTE, peer, number,
                  MPI_COMM_WORLD, &requests.emplace_back());
      }
    }
    for (int number = kEach - 1; number >= 0; --number) {
      for (int peer = 0; peer < size; ++peer) {
        if (peer == rank) continue;
        Message& each = messages[static_cast<std::size_t>(peer * kEach + number)];
        each.out = patterned(bytes_of(rank, number), static_cast<unsigned>(rank * 100 + number));
        MPI_Isend(each.out.data(), static_cast<int>(each.out.size()), MPI_BYTE, peer, number,
                  MPI_COMM_WORLD, &requests.emplace_back());
      }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    bool good = true;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      for (int number = 0; number < kEach; ++number) {
        const Message& each = messages[static_cast<std::size_t>(peer * kEach + number)];
        good &= MPI_TEST_CHECK(
            each.in == patterned(each.in.size(), static_cast<unsigned>(peer * 100 + number)), rank,
            number);
      }
    }
    return good;
  });
}

TEST_P(PandaPuts, ALongerMessageIsCutWhereTheReceiveEnds) {
  run(2, [](int rank, int) {
    constexpr int kSent = 50'000;
    constexpr int kWanted = 10'002;
    bool good = true;
    if (rank == 0) {
      const std::vector<unsigned char> data = patterned(kSent, 1);
      MPI_Send(data.data(), kSent, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      std::vector<unsigned char> data(kSent, kUntouched);
      MPI_Status status;
      const int answer =
          MPI_Recv(data.data() + 3, kWanted, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
      int error_class = 0;
      MPI_Error_class(answer, &error_class);
      good &= MPI_TEST_CHECK(error_class == MPI_ERR_TRUNCATE, rank, answer);
      std::vector<unsigned char> wanted(kSent, kUntouched);
      const std::vector<unsigned char> sent = patterned(kSent, 1);
      std::copy_n(sent.begin(), kWanted, wanted.begin() + 3);
      good &= MPI_TEST_CHECK(data == wanted, rank, 0);
    }
    // Expect: the next message is none the worse for it
    return good && pass(rank, 30'000, 1, 2);
  });
}

// A receive that waits for no offer any more gets none, and the next one gets the message.
TEST_P(PandaPuts, ACancelledReceiveGetsNothing) {
  run(2, [](int rank, int) {
    constexpr int kBytes = 20'000;
    bool good = true;
    if (rank == 0) {
      MPI_Recv(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const std::vector<unsigned char> data = patterned(kBytes, 5);
      MPI_Ssend(data.data(), kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      return true;
    }
    std::vector<unsigned char> given_up(kBytes, kUntouched);
    std::vector<unsigned char> data(kBytes, kUntouched);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(given_up.data(), kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Status status;
    MPI_Wait(&request, &status);
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    good &= MPI_TEST_CHECK(cancelled != 0, rank, cancelled);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    // Expect: a probe tells of the offer and its size, and takes nothing
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    good &= MPI_TEST_CHECK(count == kBytes, rank, count);
    MPI_Mrecv(data.data(), kBytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    good &= MPI_TEST_CHECK(data == patterned(kBytes, 5), rank, 0);
    good &= MPI_TEST_CHECK(given_up == std::vector<unsigned char>(kBytes, kUntouched), rank, 0);
    return good;
  });
}

// Memory is freed behind each message and comes back as something else, and what was exposed for a
// former message changes nothing in it.
TEST_P(PandaPuts, BuffersThatAreFreedAndUsedAgainKeepWhatTheProgramPutsThere) {
  run(2, [](int rank, int) {
    bool good = true;
    Prng prng(9);  // the same on both
    for (int round = 0; round < 150 && good; ++round) {
      const std::size_t size = kLeast + prng.below(60'000);
      const std::size_t own_size = 1000 + prng.below(60'000);
      const bool late = prng.below(2) == 0;
      const auto seed = static_cast<unsigned>(round);
      auto buffer = std::make_unique<unsigned char[]>(size);
      if (rank == round % 2) {
        const std::vector<unsigned char> data = patterned(size, seed);
        std::copy(data.begin(), data.end(), buffer.get());
        MPI_Send(buffer.get(), static_cast<int>(size), MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(buffer.get(), static_cast<int>(size), MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        const std::vector<unsigned char> data = patterned(size, seed);
        good &= MPI_TEST_CHECK(std::equal(data.begin(), data.end(), buffer.get()), rank, round);
      }
      buffer.reset();
      std::vector<unsigned char> own = patterned(own_size, seed + 77);
      if (late) MPI_Barrier(MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(own == patterned(own_size, seed + 77), rank, round);
    }
    return good;
  });
}

// Bytes that do not lie in a row, at one end or at both.
TEST_P(PandaPuts, BytesThatDoNotLieInARow) {
  run(2, [](int rank, int) {
    constexpr int kCount = 9000;
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    MPI_Type_vector(kCount, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    bool good = true;
    for (int way = 0; way < 4; ++way) {
      const bool spread_out = (way & 1) != 0;
      const bool spread_in = (way & 2) != 0;
      std::vector<int> data(2 * kCount, -1);
      if (rank == 0) {
        for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(spread_out ? 2 * i : i)] = i;
        MPI_Send(data.data(), spread_out ? 1 : kCount, spread_out ? spread : MPI_INT, 1, way,
                 MPI_COMM_WORLD);
      } else {
        MPI_Recv(data.data(), spread_in ? 1 : kCount, spread_in ? spread : MPI_INT, 0, way,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < kCount && good; ++i) {
          const auto at = static_cast<std::size_t>(spread_in ? 2 * i : i);
          good &= MPI_TEST_CHECK(data[at] == i && (!spread_in || data[at + 1] == -1), rank, i);
        }
      }
    }
    MPI_Type_free(&spread);
    return good;
  });
}

// A program that looks instead of waiting.
TEST_P(PandaPuts, ALookIsEnough) {
  run(2, [](int rank, int) {
    constexpr int kBytes = 40'000;
    const std::vector<unsigned char> out = patterned(kBytes, static_cast<unsigned>(rank));
    std::vector<unsigned char> in(kBytes);
    MPI_Request requests[2];
    MPI_Irecv(in.data(), kBytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out.data(), kBytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    int over = 0;
    while (over == 0) MPI_Testall(2, requests, &over, MPI_STATUSES_IGNORE);
    return MPI_TEST_CHECK(in == patterned(kBytes, static_cast<unsigned>(1 - rank)), rank, 0);
  });
}

// Ranks of one node pass messages through its memory, and others put.
TEST_P(PandaPuts, BetweenNodesOnly) {
  const auto ring = [](int rank, int size) {
    bool good = true;
    constexpr int kBytes = 30'000;
    for (int round = 0; round < 5; ++round) {
      const std::vector<unsigned char> out = patterned(kBytes, static_cast<unsigned>(rank));
      std::vector<unsigned char> in(kBytes);
      const int before = (rank + size - 1) % size;
      MPI_Sendrecv(out.data(), kBytes, MPI_BYTE, (rank + 1) % size, 0, in.data(), kBytes, MPI_BYTE,
                   before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(in == patterned(kBytes, static_cast<unsigned>(before)), rank, round);
    }
    return good;
  };
  const run::RunReport spread = run(4, ring);
  const run::RunReport paired = run(4, ring, 2);
  EXPECT_EQ(run(2, ring, 2).counters.page_transfers, 0u);
  EXPECT_LT(paired.counters.page_transfers, spread.counters.page_transfers);
  EXPECT_GT(paired.counters.page_transfers, 0u);
}

// Whenever a rank dies, between its peer's answer and its put, too, the job ends and says who.
TEST_P(PandaPuts, ARankThatDiesIsNamed) {
  const auto body = [] {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<unsigned char> data(100'000);
    for (int round = 0; round < 1000; ++round) {
      const int count = static_cast<int>(data.size());
      if (rank == round % 2) {
        MPI_Send(data.data(), count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(data.data(), count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    MPI_Finalize();
    return 0;
  };
  for (int at_us = 5000; at_us < 9000; at_us += 137) {
    const run::RunReport report = run_bare(2, body, "kill=1@" + std::to_string(at_us) + "us");
    EXPECT_NE(report.exit_code, 0) << at_us;
    EXPECT_NE(report.failure.find("rank 1"), std::string::npos) << at_us << ": " << report.failure;
  }
}

}  // namespace
}  // namespace fairlead::mpi_test
