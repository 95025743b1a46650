// Upcalls while a rank computes: Port::wake in every world, and hold() and enter() against it.
#include "tests/port/wake_parts.h"

namespace fairlead::port_test {
namespace {

using namespace lci;  // NOLINT: a test of it

class Waking : public PerWorld {};

bool computing_rank_answers(Port& port, Wake policy, std::uint64_t times) {
  Seen seen;
  bind(port, seen);
  Meeting meeting(port);
  bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
  if (!interrupts(port)) return good;
  if (port.self() == 0) {
    good &= PORT_TEST_CHECK(ask_in_turn(port, seen, times), port, seen.answered);
  } else {
    port.wake(policy, Ps{0});
    const Ps limit = port.now() + seconds(20);
    while (seen.asked < times && port.now() < limit) compute(port);
    good &= PORT_TEST_CHECK(seen.asked == times, port, seen.asked);
    port.wake(Wake::poll_only, Ps{0});
    good &= PORT_TEST_CHECK(!seen.twice && !seen.strange, port, seen.twice);
  }
  return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
}

TEST_P(Waking, immediate_serves_a_rank_that_computes) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    return computing_rank_answers(rank.port(), Wake::immediate, 20);
  });
}

TEST_P(Waking, watchdog_serves_a_rank_that_computes) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    return computing_rank_answers(rank.port(), Wake::watchdog, 5);
  });
}

TEST_P(Waking, poll_only_serves_in_polls_alone) {
  run_two(GetParam(), [](Port& port, Seen& seen) {
    bool good = true;
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(ask_in_turn(port, seen, 1), port, seen.answered);
    } else {
      // Off again after it was on, too.
      port.wake(Wake::immediate, Ps{0});
      port.wake(Wake::poll_only, Ps{0});
      const std::uint64_t before = seen.asked;
      for (int i = 0; i < 1000; ++i) compute(port);
      good &= PORT_TEST_CHECK(seen.asked == before, port, seen.asked);
    }
    return good;
  });
}

TEST_P(Waking, hold_keeps_upcalls_out) {
  run_two(GetParam(), [](Port& port, Seen& seen) {
    bool good = true;
    constexpr std::uint64_t kTimes = 5;
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(ask_in_turn(port, seen, interrupts(port) ? kTimes : 0), port, 0);
    } else if (interrupts(port)) {
      port.wake(Wake::immediate, Ps{0});
      const Ps limit = port.now() + seconds(20);
      while (seen.asked < kTimes && port.now() < limit) {
        port.hold();
        seen.may_run = false;
        for (int i = 0; i < 50; ++i) compute(port);
        seen.may_run = true;
        port.allow();
        for (int i = 0; i < 50; ++i) compute(port);
      }
      good &= PORT_TEST_CHECK(seen.asked == kTimes && !seen.broke_hold, port, seen.asked);
    }
    return good;
  });
}

TEST_P(Waking, enter_keeps_them_to_the_calls_of_the_rank) {
  run_two(GetParam(), [](Port& port, Seen& seen) {
    bool good = true;
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(ask_in_turn(port, seen, 1), port, seen.answered);
    } else {
      port.wake(Wake::immediate, Ps{0});
      {
        const PortTurn turn(port);
        const std::uint64_t before = seen.asked;
        for (int i = 0; i < 500; ++i) compute(port);
        // Expect: none while it computes; its own wait runs what is there.
        good &= PORT_TEST_CHECK(seen.asked == before, port, seen.asked);
        while (good && seen.asked == 0) {
          good &= PORT_TEST_CHECK(
              port.wait({.any_packet = true, .deadline = port.now() + seconds(20)}) == Post::done,
              port, 1);
        }
      }
    }
    return good;
  });
}

TEST_P(Waking, a_wait_ends_by_what_the_helper_ran_before) {
  run_two(GetParam(), [](Port& port, Seen& seen) {
    bool good = true;
    constexpr std::uint64_t kTimes = 300;
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(ask_in_turn(port, seen, kTimes), port, seen.answered);
    } else {
      port.wake(Wake::immediate, Ps{0});
      // Between the look at the count and the wait an upcall may run.
      while (good && seen.asked < kTimes) {
        if (seen.asked % 3 == 0) compute(port);
        good &= PORT_TEST_CHECK(
            port.wait({.any_packet = true, .deadline = port.now() + seconds(20)}) == Post::done,
            port, seen.asked);
      }
      good &= PORT_TEST_CHECK(!seen.twice && !seen.strange, port, seen.twice);
    }
    return good;
  });
}

// Both send to each other at full rate and compute in between, with helpers on both sides.
TEST_P(Waking, serves_under_load) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    Port& port = rank.port();
    Seen seen;
    bind(port, seen);
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    port.wake(Wake::immediate, Ps{0});
    constexpr std::uint64_t kTimes = 2000;
    for (std::uint64_t i = 0; i < kTimes && good; ++i) {
      good &= PORT_TEST_CHECK(port.send_small({1 - port.self()}, kAsk, Lane::request, Words{}, {},
                                              kNoFlags) == Post::done,
                              port, i);
      if (i % 100 == 0) compute(port);
    }
    while (good && (seen.answered < kTimes || seen.asked < kTimes)) {
      good &= PORT_TEST_CHECK(
          port.wait({.any_packet = true, .deadline = port.now() + seconds(30)}) == Post::done, port,
          seen.answered);
    }
    good &= PORT_TEST_CHECK(seen.asked == kTimes && seen.answered == kTimes && !seen.twice, port,
                            seen.asked);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 1);
    port.wake(Wake::poll_only, Ps{0});
    return good;
  });
}

INSTANTIATE_PORT_TESTS(Waking);

}  // namespace
}  // namespace fairlead::port_test
