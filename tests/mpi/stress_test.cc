#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "fairlead/base/prng.h"
#include "fairlead/run/context.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

struct Stress : PerWorld {};
INSTANTIATE_MPI_TESTS(Stress);

struct Planned {
  int source;
  int dest;
  int tag;
  std::size_t size;
  unsigned seed;
};

std::size_t random_size(Prng& random) {
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return random.below(40000);
    case 2:
      return random.below(300000);
    default:
      return random.below(200);
  }
}

// Every rank makes the same plan of messages from the seed.
std::vector<Planned> make_plan(int size, std::uint64_t seed, int messages) {
  Prng random(seed);
  std::vector<Planned> plan;
  const auto ranks = static_cast<std::uint64_t>(size);
  for (int i = 0; i < messages; ++i) {
    plan.push_back({static_cast<int>(random.below(ranks)), static_cast<int>(random.below(ranks)),
                    static_cast<int>(random.below(3)), random_size(random),
                    static_cast<unsigned>(i)});
  }
  return plan;
}

// Receives of one (source, tag) match in the order of the plan, so a receive knows its message.
bool run_plan(int rank, const std::vector<Planned>& plan, std::uint64_t seed) {
  Prng random(seed * 31 + static_cast<std::uint64_t>(rank));
  bool good = true;
  std::vector<MPI_Request> requests;
  std::vector<std::vector<unsigned char>> out;
  struct Expected {
    const Planned* message;
    std::vector<unsigned char> buffer;
  };
  std::vector<std::unique_ptr<Expected>> in;
  for (const Planned& message : plan) {
    if (message.source == rank) {
      out.push_back(patterned(message.size, message.seed));
      MPI_Request request;
      const auto send = random.below(4) == 0 ? MPI_Issend : MPI_Isend;
      send(out.back().data(), static_cast<int>(message.size), MPI_BYTE, message.dest, message.tag,
           MPI_COMM_WORLD, &request);
      requests.push_back(request);
    }
    if (message.dest == rank) {
      in.push_back(std::make_unique<Expected>());
      in.back()->message = &message;
      in.back()->buffer.resize(message.size);
      MPI_Request request;
      MPI_Irecv(in.back()->buffer.data(), static_cast<int>(message.size), MPI_BYTE, message.source,
                message.tag, MPI_COMM_WORLD, &request);
      requests.push_back(request);
    }
    // Now and then all that is under way, in a random order.
    if (random.below(40) == 0) {
      int flag = 0;
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, MPI_STATUSES_IGNORE);
    }
  }
  for (std::size_t i = requests.size(); i > 1; --i) {
    std::swap(requests[i - 1], requests[random.below(i)]);
  }
  const auto left = std::count_if(requests.begin(), requests.end(),
                                  [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
  for (std::ptrdiff_t i = 0; i < left / 2; ++i) {
    int index = -1;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE);
    good &= MPI_TEST_CHECK(index != MPI_UNDEFINED, rank, index);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const auto& expected : in) {
    good &= MPI_TEST_CHECK(
        expected->buffer == patterned(expected->message->size, expected->message->seed), rank,
        expected->message->seed);
  }
  return good;
}

TEST_P(Stress, RandomMessagesArriveWhole) {
  for (const unsigned ranks : {2u, 3u, 5u}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      run_ranks(GetParam(), ranks, [seed](int rank, int size) {
        return run_plan(rank, make_plan(size, seed, 400), seed);
      });
    }
  }
}

// Some other system of the program lets upcalls run while the rank computes.
TEST_P(Stress, RandomMessagesArriveWholeWhereUpcallsRunBetweenCalls) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    lci::Port& port = run::current()->port();
    bool good = true;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      // On before MPI has anything under way, changed and off again while it has.
      port.wake(seed % 2 == 0 ? lci::Wake::watchdog : lci::Wake::immediate, microseconds(50));
      good &= run_plan(rank, make_plan(size, seed, 300), seed);
      const int next = (rank + 1) % size;
      const int before = (rank + size - 1) % size;
      for (int i = 0; i < 200; ++i) {
        int sent = i * size + rank;
        int came = -1;
        MPI_Request request;
        MPI_Irecv(&came, 1, MPI_INT, before, 7, MPI_COMM_WORLD, &request);
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        // The last stays on: MPI and the rank end while the helper is at work.
        if (i == 150 && seed < 4) port.wake(lci::Wake::poll_only, Ps{0});
        MPI_Send(&sent, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good &= MPI_TEST_CHECK(came == i * size + before, rank, came);
      }
    }
    return good;
  });
}

// Wildcards: the receiver takes what comes; per source the numbers must rise.
TEST_P(Stress, WildcardReceivesKeepTheOrderOfEachSource) {
  run_ranks(GetParam(), 4, [](int rank, int size) {
    constexpr int kEach = 500;
    bool good = true;
    if (rank != 0) {
      Prng random(static_cast<std::uint64_t>(rank));
      std::vector<int> data(20000);
      for (int i = 0; i < kEach; ++i) {
        data[0] = i;
        const int count = random.below(20) == 0 ? 20000 : 1 + static_cast<int>(random.below(50));
        MPI_Send(data.data(), count, MPI_INT, 0, i % 5, MPI_COMM_WORLD);
      }
      return true;
    }
    std::vector<int> next(static_cast<std::size_t>(size), 0);
    std::vector<int> data(20000);
    for (int i = 0; i < kEach * (size - 1); ++i) {
      MPI_Status status;
      MPI_Recv(data.data(), 20000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      int& expected = next[static_cast<std::size_t>(status.MPI_SOURCE)];
      good &= MPI_TEST_CHECK(data[0] == expected && status.MPI_TAG == expected % 5, rank, data[0]);
      ++expected;
    }
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
