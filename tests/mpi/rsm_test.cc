// MPI on the rsm device (devices/rsm): its two protocols around the sizes where one begins and the
// other ends, full queues and pools, and what it may be told. All suites of this folder run on it
// in the world rsmfirelink@2; these run in others.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "fairlead/lci/node_memory.h"
#include "fairlead/run/context.h"
#include "tests/mpi/mpi_worlds.h"
#include "tests/mpi/variable.h"

namespace fairlead::mpi_test {
namespace {

class RsmDevice : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Worlds, RsmDevice,
                         testing::Values("rsmloop", "rsmshm", "rsmudp", "rsmlossy", "rsmfirelink",
                                         "rsmmyrinet-p3", "autofirelink@2"),
                         [](const auto& each) { return test_name(each.param); });

bool is_patterned(const std::vector<unsigned char>& data, int size, unsigned seed) {
  const std::vector<unsigned char> expected = patterned(static_cast<std::size_t>(size), seed);
  return std::equal(expected.begin(), expected.end(), data.begin());
}

// One postbox, two, a queue that goes around, blocks, many parts, an offer.
constexpr int kSizes[] = {0,    1,    32,   33,   88,    89,    1000,  2000,
                          2001, 2048, 4097, 8191, 16385, 32768, 32769, 300'001};

// Every rank sends to every other one and to the next one twice as much, before it receives.
TEST_P(RsmDevice, EverySizeBothWaysAtOnce) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    bool good = true;
    for (const int bytes : kSizes) {
      std::vector<std::vector<unsigned char>> data;
      std::vector<MPI_Request> sends;
      for (int to = 0; to < size; ++to) {
        if (to == rank) continue;
        for (int i = 0; i < (to == (rank + 1) % size ? 2 : 1); ++i) {
          data.push_back(patterned(static_cast<std::size_t>(bytes),
                                   static_cast<unsigned>(rank * 10 + to + i)));
          sends.emplace_back();
          MPI_Isend(data.back().data(), bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &sends.back());
        }
      }
      std::vector<unsigned char> got(static_cast<std::size_t>(bytes) + 1);
      for (int from = 0; from < size; ++from) {
        if (from == rank) continue;
        // The later one first.
        for (int i = rank == (from + 1) % size ? 1 : 0; i >= 0; --i) {
          MPI_Status status;
          MPI_Recv(got.data(), bytes + 1, MPI_BYTE, from, i, MPI_COMM_WORLD, &status);
          int count = -1;
          MPI_Get_count(&status, MPI_BYTE, &count);
          good &= MPI_TEST_CHECK(count == bytes, rank, count);
          good &= MPI_TEST_CHECK(
              is_patterned(got, bytes, static_cast<unsigned>(from * 10 + rank + i)), rank, bytes);
        }
      }
      MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    }
    return good;
  });
}

// A few postboxes and the smallest pool: both fill up again and again, with a receiver that is late
// and takes the last message first.
TEST_P(RsmDevice, SmallQueuesAndPoolsFillUpAndLoseNothing) {
  const Variable boxes("MPI_RSM_NUMPOSTBOX", "4");
  const Variable pool("MPI_RSM_CPOOLSIZE", "16KiB");
  run_ranks(GetParam(), 2, [](int rank, int) {
    constexpr int kMessages = 60;
    constexpr int kBytes[] = {0, 30, 700, 2000, 2500, 9000, 40'000};
    bool good = true;
    std::vector<std::vector<unsigned char>> data;
    std::vector<MPI_Request> requests(kMessages);
    for (int i = 0; i < kMessages; ++i) {
      const int bytes = kBytes[i % 7];
      data.push_back(patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(i)));
      if (rank == 1) std::fill(data.back().begin(), data.back().end(), 0);
    }
    if (rank == 0) {
      for (int i = 0; i < kMessages; ++i) {
        auto& out = data[static_cast<std::size_t>(i)];
        (i % 5 == 4 ? MPI_Issend : MPI_Isend)(out.data(), static_cast<int>(out.size()), MPI_BYTE, 1,
                                              i, MPI_COMM_WORLD,
                                              &requests[static_cast<std::size_t>(i)]);
      }
      MPI_Waitall(kMessages, requests.data(), MPI_STATUSES_IGNORE);
      return good;
    }
    for (int i = kMessages - 1; i >= 0; --i) {
      auto& in = data[static_cast<std::size_t>(i)];
      MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_BYTE, 0, i, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(
          is_patterned(in, static_cast<int>(in.size()), static_cast<unsigned>(i)), rank, i);
    }
    return good;
  });
}

// Pairs of a node have the direct device and others this one: a receive from anybody takes both,
// each in its order, and collectives and windows go by either.
TEST(PairsOfDevices, AJobHasBoth) {
  for (const char* world : {"autofirelink@2", "autoshm"}) {
    run_ranks(world, 4, [](int rank, int size) {
      bool good = true;
      constexpr int kEach = 20;
      if (rank == 0) {
        std::vector<int> next(static_cast<std::size_t>(size), 0);
        for (int i = 0; i < kEach * (size - 1); ++i) {
          std::vector<unsigned char> got(50'000);
          MPI_Status status;
          MPI_Recv(got.data(), 50'000, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
          const int number = next[static_cast<std::size_t>(status.MPI_SOURCE)]++;
          int count = -1;
          MPI_Get_count(&status, MPI_BYTE, &count);
          good &= MPI_TEST_CHECK(count == kSizes[number % 15], status.MPI_SOURCE, count);
          good &= MPI_TEST_CHECK(
              is_patterned(got, count, static_cast<unsigned>(status.MPI_SOURCE * 100 + number)),
              status.MPI_SOURCE, number);
        }
      } else {
        for (int i = 0; i < kEach; ++i) {
          const int bytes = kSizes[i % 15];
          const auto data =
              patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(rank * 100 + i));
          (i % 3 == 2 ? MPI_Ssend : MPI_Send)(data.data(), bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
      }
      int sum = -1;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(sum == size * (size - 1) / 2, rank, sum);
      std::vector<int> out(4, rank);
      std::vector<int> in(4, -1);
      MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD);
      for (int from = 0; from < size; ++from) {
        good &= MPI_TEST_CHECK(in[static_cast<std::size_t>(from)] == from, rank, from);
      }
      MPI_Win window = MPI_WIN_NULL;
      std::vector<int> words(4, -1);
      MPI_Win_create(words.data(), 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &window);
      MPI_Win_fence(0, window);
      for (int to = 0; to < size; ++to) {
        MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, window);
      }
      MPI_Win_fence(0, window);
      for (int from = 0; from < size; ++from) {
        good &= MPI_TEST_CHECK(words[static_cast<std::size_t>(from)] == from, rank, from);
      }
      MPI_Win_free(&window);
      return good;
    });
  }
}

TEST(RsmDeviceOptions, AllConnectionsAreMadeWhereThatIsAskedFor) {
  const Variable all("MPI_FULLCONNINIT", "1");
  for (const char* world : {"rsmshm", "autofirelink@2"}) {
    run_ranks(world, 3, [](int rank, int size) {
      int sum = -1;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      return MPI_TEST_CHECK(sum == size * (size - 1) / 2, rank, sum);
    });
  }
}

// Areas that ranks have made, and in which they take part, all ranks together.
std::array<std::uint64_t, 2> areas() {
  const lci::NodeMemory::Counts here = lci::node_memory_of(run::current()->port())->counts();
  std::array<std::uint64_t, 2> sum{here.made, here.shared};
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// A word to every other rank, to all at once.
bool greet_all(int rank, int size) {
  std::vector<int> in(static_cast<std::size_t>(size), -1);
  std::vector<MPI_Request> requests;
  for (int i = 1; i < size; ++i) {
    const int to = (rank + i) % size;
    MPI_Irecv(&in[static_cast<std::size_t>(to)], 1, MPI_INT, to, 5, MPI_COMM_WORLD,
              &requests.emplace_back());
    MPI_Isend(&rank, 1, MPI_INT, to, 5, MPI_COMM_WORLD, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  bool good = true;
  for (int from = 0; from < size; ++from) {
    good &= MPI_TEST_CHECK(from == rank || in[static_cast<std::size_t>(from)] == from, rank, from);
  }
  return good;
}

// Each sender has one area at each host that it sends to, however many ranks receive there: nodes
// of two and of three, of which the last has fewer.
TEST(RsmDeviceAreas, ThereIsOneForEachSenderAndHost) {
  struct Case {
    const char* world;
    unsigned ranks;
    std::uint64_t made;
    std::uint64_t shared;
  };
  for (const Case& each :
       {Case{"rsmfirelink@2", 6, 6 * 3, 6 * 2}, Case{"autofirelink@2", 6, 6 * 2, 6 * 2},
        Case{"rsmfirelink@3", 5, 5 * 2, 3 * 1 + 3 * 1 + 2 * 2}}) {
    run_ranks(each.world, each.ranks, [&](int rank, int size) {
      // Expect: MPI_Init makes none
      bool good =
          MPI_TEST_CHECK(lci::node_memory_of(run::current()->port())->counts().made == 0, rank, 0);
      good &= greet_all(rank, size);
      const auto [made, shared] = areas();
      good &= MPI_TEST_CHECK(made == each.made, rank, made);
      good &= MPI_TEST_CHECK(shared == each.shared, rank, shared);
      return good;
    });
  }
}

// Where processes share memory, the first receiver may be slow to answer: there may be more areas
// then, but as many receivers as connections. Where they share none each has its own.
TEST(RsmDeviceAreas, EveryReceiverHasOneOrTakesPart) {
  constexpr int kNoneShared = 3;  // by a rank's exit
  for (const char* world : {"rsmshm", "rsmloop", "rsmudp"}) {
    int code = kNoneShared;
    // A machine that is busy may make all first receivers slow.
    for (int job = 0; job < 20 && code == kNoneShared; ++job) {
      const auto body = [] {
        bool is_missed = false;
        const int wrong = run_between([&](int rank, int size) {
          bool good = greet_all(rank, size);
          const auto [made, shared] = areas();
          good &= MPI_TEST_CHECK(made + shared == 4 * 3, rank, made);
          const bool can = lci::node_memory_of(run::current()->port())->shares(rank == 0 ? 1 : 0);
          is_missed = can && shared == 0;
          return good & MPI_TEST_CHECK(can || shared == 0, rank, shared);
        });
        return wrong == 0 && is_missed ? kNoneShared : wrong;
      };
      code = run_bare(world, 4, body).exit_code;
    }
    EXPECT_EQ(code, 0) << world;
  }
}

// The first receiver of a host computes; messages to another one there do not wait for it.
TEST(RsmDeviceAreas, AReceiverInNoCallKeepsNoMessageFromOthers) {
  run_ranks("rsmfirelink@2", 4, [](int rank, int) {
    bool good = true;
    int word = rank;
    if (rank == 0) {
      MPI_Request first = MPI_REQUEST_NULL;
      MPI_Isend(&word, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &first);
      MPI_Send(&word, 1, MPI_INT, 3, 1, MPI_COMM_WORLD);
      MPI_Wait(&first, MPI_STATUS_IGNORE);
    } else if (rank == 2) {
      lci::Port& port = run::current()->port();
      while (port.now() < milliseconds(200)) port.charge({1'000'000, 0, 0});
      MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 3) {
      MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      good &= MPI_TEST_CHECK(run::current()->port().now() < milliseconds(50), rank,
                             run::current()->port().now().count);
    }
    return good;
  });
}

// Sends that are not over soon: rank 0 to rank 1, which waits for a message of rank 2 first. That
// one comes when rank 0 has looked at them for a while.
bool are_over_before_the_receive(int count, int bytes, int rank, int looks, bool* good) {
  bool over = false;
  std::vector<std::vector<unsigned char>> data;
  for (int i = 0; i < count; ++i) {
    data.push_back(patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(i)));
  }
  if (rank == 0) {
    const auto ask = [](int word) {
      MPI_Sendrecv(&word, 1, MPI_INT, 2, 100, &word, 1, MPI_INT, 2, 100, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    };
    ask(0);  // there is a connection to rank 2
    std::vector<MPI_Request> sends(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      MPI_Isend(data[static_cast<std::size_t>(i)].data(), bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD,
                &sends[static_cast<std::size_t>(i)]);
    }
    // A message to rank 2 and back is a look at them, and lets the others go on.
    for (int look = 0; look < looks && !over; ++look) {
      int flag = 0;
      MPI_Testall(count, sends.data(), &flag, MPI_STATUSES_IGNORE);
      over = flag != 0;
      ask(look);
    }
    const int end = -1;
    // Expect: other ranks of the node get theirs, as long as it may be
    MPI_Send(data[0].data(), bytes, MPI_BYTE, 2, 102, MPI_COMM_WORLD);
    MPI_Send(&end, 1, MPI_INT, 2, 100, MPI_COMM_WORLD);
    MPI_Waitall(count, sends.data(), MPI_STATUSES_IGNORE);
  } else if (rank == 2) {
    std::vector<unsigned char> got(static_cast<std::size_t>(bytes));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(got.data(), bytes, MPI_BYTE, 0, 102, MPI_COMM_WORLD, &request);
    for (int look = 0; look >= 0;) {
      MPI_Recv(&look, 1, MPI_INT, 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (look >= 0) MPI_Send(&look, 1, MPI_INT, 0, 100, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    *good &= MPI_TEST_CHECK(is_patterned(got, bytes, 0), rank, bytes);
    MPI_Send(&bytes, 1, MPI_INT, 1, 101, MPI_COMM_WORLD);
  } else {
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, 2, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<unsigned char> got(static_cast<std::size_t>(bytes));
    for (int i = 0; i < count; ++i) {
      // A probe looks, too.
      MPI_Status status;
      MPI_Probe(0, i, MPI_COMM_WORLD, &status);
      MPI_Recv(got.data(), bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      *good &= MPI_TEST_CHECK(is_patterned(got, bytes, static_cast<unsigned>(i)), rank, i);
    }
  }
  return over;
}

// Three ranks; on rank 0 the sends are over, or are not. Those that are to be over have all the
// time that rank 1 needs to get a processor, the others 50 looks.
void expect_over(const char* world, int count, int bytes, bool expected) {
  const int looks = expected ? 1'000'000 : 50;
  run_ranks(world, 3, [=](int rank, int) {
    bool good = true;
    const bool over = are_over_before_the_receive(count, bytes, rank, looks, &good);
    return MPI_TEST_CHECK(rank != 0 || over == expected, rank, over) && good;
  });
}

constexpr const char* kTunedWorlds[] = {"rsmshm", "rsmfirelink", "autofirelink"};

TEST(RsmDeviceOptions, AWaitLooksAtAllConnectionsOrAtThoseItNeeds) {
  const Variable boxes("MPI_RSM_NUMPOSTBOX", "8");
  for (const char* world : kTunedWorlds) {
    expect_over(world, 40, 20, true);
    const Variable few("MPI_POLLALL", "0");
    expect_over(world, 40, 20, false);
    expect_over(world, 2, 40'000, false);
  }
}

TEST(RsmDeviceOptions, AConnectionWithManyMessagesThatNobodyWantsIsLeftAlone) {
  const Variable boxes("MPI_RSM_NUMPOSTBOX", "8");
  for (const char* world : kTunedWorlds) {
    const Variable none("MPI_FLOWCONTROL", "4");
    expect_over(world, 40, 20, false);
    const Variable many("MPI_FLOWCONTROL", "100");
    expect_over(world, 40, 20, true);
  }
}

// A message of four blocks fills a connection's pool, and more than what a shared one of four has
// for one receiver of several.
TEST(RsmDeviceOptions, APoolServesAConnectionOrAllToANode) {
  const Variable few("MPI_POLLALL", "0");
  const Variable own("MPI_RSM_CPOOLSIZE", "16KiB");
  for (const char* world : {"rsmshm", "rsmfirelink@3"}) {
    expect_over(world, 1, 16384, true);
    const Variable shared("MPI_RSM_SBPOOLSIZE", "16KiB");
    expect_over(world, 1, 16384, false);
    expect_over(world, 1, 32768, false);
  }
}

// Messages of every size by pools of the smallest size for several receivers.
TEST(RsmDeviceOptions, ASharedPoolLosesNothing) {
  const Variable boxes("MPI_RSM_NUMPOSTBOX", "4");
  const Variable shared("MPI_RSM_SBPOOLSIZE", "16KiB");
  for (const char* world : {"rsmshm", "rsmlossy", "rsmfirelink@2", "autofirelink@2"}) {
    run_ranks(world, 4, [](int rank, int size) {
      bool good = true;
      for (const int bytes : kSizes) {
        std::vector<MPI_Request> requests;
        std::vector<std::vector<unsigned char>> got(static_cast<std::size_t>(size));
        const auto out = patterned(static_cast<std::size_t>(bytes), static_cast<unsigned>(rank));
        for (int other = 0; other < size; ++other) {
          auto& in = got[static_cast<std::size_t>(other)];
          in.resize(static_cast<std::size_t>(bytes));
          MPI_Irecv(in.data(), bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests.emplace_back());
          MPI_Isend(out.data(), bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                    &requests.emplace_back());
        }
        MPI_Waitall(2 * size, requests.data(), MPI_STATUSES_IGNORE);
        for (int other = 0; other < size; ++other) {
          good &= MPI_TEST_CHECK(is_patterned(got[static_cast<std::size_t>(other)], bytes,
                                              static_cast<unsigned>(other)),
                                 rank, bytes);
        }
      }
      return good;
    });
  }
}

// All messages find postboxes of a connection between nodes, and not of one on a node.
TEST(RsmDeviceOptions, RanksOfOneNodeHaveNamesOfTheirOwn) {
  const Variable few("MPI_POLLALL", "0");
  const Variable boxes("MPI_RSM_NUMPOSTBOX", "128");
  const Variable on_node("MPI_SHM_NUMPOSTBOX", "8");
  expect_over("rsmfirelink@3", 40, 20, false);
  expect_over("rsmfirelink", 40, 20, true);
}

std::string failure_with(const char* name, const char* value) {
  const Variable set(name, value);
  return run_bare("rsmshm", 2,
                  [] {
                    MPI_Init(nullptr, nullptr);
                    MPI_Finalize();
                    return 0;
                  })
      .failure;
}

TEST(RsmDeviceOptions, WhatDoesNotDoIsNamedWithWhatWould) {
  for (const auto& [name, value, would] :
       {std::array{"MPI_RSM_NUMPOSTBOX", "3", "65536"},
        std::array{"MPI_RSM_SHORTMSGSIZE", "1MiB", "32768"},
        std::array{"MPI_RSM_PIPESIZE", "none", "65536"},
        std::array{"MPI_RSM_CPOOLSIZE", "1", "16384"},
        std::array{"MPI_RSM_MAXSTRIPE", "5", "1 to 4"}, std::array{"MPI_POLLALL", "2", "0 to 1"}}) {
    const std::string failure = failure_with(name, value);
    EXPECT_NE(failure.find(name), std::string::npos) << failure;
    EXPECT_NE(failure.find(would), std::string::npos) << failure;
  }
}

// Ranks that were told different things say so, and do not write past what there is.
TEST(RsmDeviceOptions, RanksAgree) {
  const run::RunReport report = run_bare("rsmshm", 2, [] {
    if (run::current()->port().self() == 1) setenv("MPI_RSM_NUMPOSTBOX", "64", 1);
    MPI_Init(nullptr, nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
  });
  EXPECT_NE(report.failure.find("are the same on all ranks"), std::string::npos) << report.failure;
}

}  // namespace
}  // namespace fairlead::mpi_test
