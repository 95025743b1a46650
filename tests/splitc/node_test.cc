// --splitc amvia-shm: what ranks of one node do by mapped memory.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "tests/splitc/splitc_worlds.h"

namespace fairlead::port_test {
namespace {

using splitc::global_ptr;

class Node : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Node, ::testing::Values("loop", "shm", "udp", "nirx", "myrinet-p3/pio@2",
                                                  "myrinet-p3/hrx@2", "millennium/via@2",
                                                  "generic-hca@2"));

// Computes for a while, without a call of Split-C.
void compute(lci::Port& port) {
  if ((port.caps(port.self()).flags & lci::kFreeWork) == 0) {
    return port.charge({.ops = 1'000'000});
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Ranks of a node are those whose heaps this one maps, and all others are not.
bool maps_its_node(run::Context& context) {
  const global_ptr<int> place = splitc::all_malloc<int>(4);
  const Rank me = splitc::my_proc();
  bool good = true;
  for (Rank rank = 0; rank < splitc::procs(); ++rank) {
    const bool near = context.node_of(rank) == context.node_of(me);
    int* const mapped = splitc::tolocal(place.on(rank) + me);
    good &= PORT_TEST_CHECK((mapped != nullptr) == near, context.port(), rank);
    if (mapped != nullptr) *mapped = static_cast<int>(100 + me);
  }
  splitc::barrier();
  const int* const mine = splitc::tolocal(place.on(me));
  for (Rank rank = 0; rank < splitc::procs(); ++rank) {
    const bool near = context.node_of(rank) == context.node_of(me);
    good &= PORT_TEST_CHECK(mine[rank] == (near ? static_cast<int>(100 + rank) : 0), context.port(),
                            mine[rank]);
  }
  splitc::barrier();
  return good;
}

// Nobody leaves a barrier before all have come, whoever is late.
bool barriers_hold(lci::Port& port) {
  const Rank procs = splitc::procs();
  const Rank me = splitc::my_proc();
  const global_ptr<int> came = splitc::all_malloc<int>(procs);
  bool good = true;
  for (int turn = 1; turn <= 30; ++turn) {
    if (turn % 10 == 0 && me == static_cast<Rank>(turn / 10) % procs) compute(port);
    for (Rank rank = 0; rank < procs; ++rank) splitc::put(came.on(rank) + me, turn);
    splitc::sync();
    splitc::barrier();
    const int* const here = splitc::tolocal(came.on(me));
    for (Rank rank = 0; rank < procs; ++rank) {
      good &= PORT_TEST_CHECK(here[rank] == turn || here[rank] == turn + 1, port, here[rank]);
    }
  }
  splitc::barrier();
  return good;
}

// Messages and calls for a rank that does not poll for longer than its queue has room.
bool full_queues_wait(lci::Port& port) {
  const Rank me = splitc::my_proc();
  const global_ptr<int> place = splitc::all_malloc<int>(1);
  bool good = true;
  std::vector<std::uint32_t> data(40'000);  // 40 places of a queue
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    std::fill(data.begin(), data.end(), 0);
    if (me == turn) {
      std::iota(data.begin(), data.end(), turn);
    } else {
      compute(port);
    }
    splitc::bulk_broadcast(data.data(), data.size(), turn);
    for (std::uint32_t i = 0; i < data.size(); ++i) {
      if (data[i] != i + turn) good = PORT_TEST_CHECK(false, port, i);
    }
    if (me == 0) compute(port);
    for (int i = 0; i < 3; ++i) {
      splitc::atomic(0, [place] { ++*splitc::tolocal(place.on(0)); });
    }
    splitc::barrier();
    const int sum = splitc::read(place.on(0));
    good &= PORT_TEST_CHECK(sum == static_cast<int>(3 * splitc::procs() * (turn + 1)), port, sum);
    splitc::barrier();
  }
  return good;
}

// A rank that sleeps in store_sync sees what a neighbour stores late.
bool stores_wake(lci::Port& port) {
  const Rank me = splitc::my_proc();
  const global_ptr<std::uint64_t> place = splitc::all_malloc<std::uint64_t>(1);
  bool good = true;
  for (std::uint64_t turn = 1; turn <= 10; ++turn) {
    if (me == 0) {
      compute(port);
      splitc::store(place.on(1), turn);
      splitc::store_sync(8);
    } else if (me == 1) {
      splitc::store_sync(8);
      splitc::store(place.on(0), splitc::read(place.on(1)));
    }
    if (me == 0) {
      good &= PORT_TEST_CHECK(splitc::read(place.on(0)) == turn, port, turn);
    }
  }
  splitc::barrier();
  return good;
}

// Who spins by poll() alone lets the others go on, also where they are fibers of one thread.
bool polls_let_others_go_on(lci::Port& port) {
  const global_ptr<int> flag = splitc::all_malloc<int>(1);
  const Rank me = splitc::my_proc();
  volatile int* const mine = splitc::tolocal(flag.on(me));
  *mine = 0;
  splitc::barrier();
  if (me == 0) splitc::put(flag.on(1), 7);
  if (me == 1) {
    while (*mine == 0) splitc::poll();
    splitc::put(flag.on(0), *mine + 1);
  }
  if (me == 0) {
    while (*mine == 0) splitc::poll();
  }
  splitc::sync();
  splitc::barrier();
  return PORT_TEST_CHECK(me > 1 || *mine == static_cast<int>(8 - me), port, *mine);
}

TEST_P(Node, ranks_of_a_node_share_their_heaps) {
  run_ranks(chosen("amvia-shm " + GetParam()), 4, [](run::Context& context) {
    return splitc::start(&context, [&context] {
             bool good = maps_its_node(context);
             good = barriers_hold(context.port()) && good;
             good = full_queues_wait(context.port()) && good;
             good = stores_wake(context.port()) && good;
             good = polls_let_others_go_on(context.port()) && good;
             return good ? 0 : 1;
           }) == 0;
  });
}

// Nanoseconds of one access, over many.
template <class Access>
double time_of(const Access& access) {
  constexpr int kTimes = 500;
  const double begin = splitc::seconds();
  for (int i = 0; i < kTimes; ++i) access();
  splitc::sync();
  return (splitc::seconds() - begin) * 1e9 / kTimes;
}

class NodeTimes : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(NodeTimes, ::testing::Values("millennium/via@2", "myrinet-p3/pio@2"));

TEST_P(NodeTimes, primitives_on_one_node) {
  run_splitc("amvia-shm " + GetParam(), 2, [](lci::Port& port) {
    const global_ptr<int> place = splitc::all_malloc<int>(1).on(1 - splitc::my_proc());
    int value = 0;
    bool good = true;
    for (const bool both : {false, true}) {
      splitc::barrier();
      if (splitc::my_proc() == 0 || both) {
        const double times[] = {
            time_of([&] { value = splitc::read(place); }),
            time_of([&] { splitc::write(place, 1); }), time_of([&] { splitc::get(&value, place); }),
            time_of([&] { splitc::put(place, 1); }), time_of([&] { splitc::store(place, 1); })};
        for (const double ns : times) {
          // Expect: below 400 ns (Split-C paper, section 6.2), and no less than a line of memory.
          good &= PORT_TEST_CHECK(ns < 400 && ns > 40, port, ns);
        }
      }
      splitc::all_store_sync();
    }
    return good;
  });
}

// Ranks of one node take pieces of work by a counter of rank 0's, which has work of its own.
TEST_P(NodeTimes, a_rank_that_computes_serves_its_neighbour_when_it_polls) {
  run_splitc("amvia-shm " + GetParam(), 2, [](lci::Port& port) {
    constexpr int kPieces = 40;
    const global_ptr<int> taken = splitc::all_malloc<int>(1);
    const auto next = [taken] {
      return splitc::atomic(0, [taken] { return (*splitc::tolocal(taken.on(0)))++; });
    };
    int mine = 0;
    for (; next() < kPieces; ++mine) {
      for (int part = 0; part < 10; ++part) {
        port.charge({.ops = 20'000});
        splitc::poll();
      }
    }
    splitc::barrier();
    // Expect: each does about half of them.
    return PORT_TEST_CHECK(mine >= kPieces * 2 / 5, port, mine);
  });
}

}  // namespace
}  // namespace fairlead::port_test
