// The doorbell of Port, and how what serves a rank that computes ends: with the rank, in a forked
// child, by a death.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/port/wake_parts.h"

namespace fairlead::port_test {
namespace {

using namespace lci;  // NOLINT: a test of it

class WakingEnds : public PerWorld {};

Keep on_ask_no_answer(void* context, Packet*, const Arrival&) {
  ++static_cast<Seen*>(context)->asked;
  return Keep::no;
}

TEST_P(WakingEnds, a_rank_may_end_while_it_is_served) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    Port& port = rank.port();
    Seen seen;
    port.bind(kAsk, {on_ask_no_answer, &seen}, {});
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    if (port.self() == 0) {
      for (int i = 0; i < 50; ++i) good &= PORT_TEST_CHECK(ask(port), port, i);
      return good;
    }
    port.wake(Wake::immediate, Ps{0});
    while (seen.asked == 0) compute(port);
    // Its helper is not called off; what comes later finds nobody bound.
    port.hold();
    port.bind(kAsk, {}, {});
    port.allow();
    return good;
  });
}

// A child of the rank has no helper, ends, and leaves the rank's alone.
TEST_P(WakingEnds, a_forked_child_leaves_the_helper_to_the_rank) {
  run_two(GetParam(), [](Port& port, Seen& seen) {
    bool good = true;
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(ask_in_turn(port, seen, 20), port, seen.answered);
    } else {
      port.wake(Wake::immediate, Ps{0});
      while (seen.asked < 10) compute(port);
      const pid_t child = ::fork();
      if (child == 0) std::exit(7);
      int status = 0;
      good &= PORT_TEST_CHECK(::waitpid(child, &status, 0) == child, port, child);
      good &= PORT_TEST_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, port, status);
      const Ps limit = port.now() + seconds(20);
      while (seen.asked < 20 && port.now() < limit) compute(port);
      good &= PORT_TEST_CHECK(seen.asked == 20, port, seen.asked);
    }
    return good;
  });
}

INSTANTIATE_PORT_TESTS_IN(WakingEnds, ::testing::ValuesIn(real_worlds()));

class Doorbell : public PerWorld {};

TEST_P(Doorbell, is_readable_once_something_came) {
  run_two(GetParam(), [](Port& port, Seen& seen) {
    bool good = true;
    constexpr std::uint64_t kTimes = 10;
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(ask_in_turn(port, seen, kTimes), port, seen.answered);
    } else {
      const int bell = port.doorbell();
      good &= PORT_TEST_CHECK(bell >= 0 && bell == port.doorbell(), port, bell);
      const Ps limit = port.now() + seconds(20);
      while (seen.asked < kTimes && port.now() < limit) {
        if (port.poll() > 0) continue;
        pollfd one{bell, POLLIN, 0};
        (void)::poll(&one, 1, 20'000);
      }
      good &= PORT_TEST_CHECK(seen.asked == kTimes, port, seen.asked);
    }
    return good;
  });
}

INSTANTIATE_PORT_TESTS_IN(Doorbell, ::testing::ValuesIn(real_worlds()));

TEST(DoorbellElsewhere, there_is_none_where_time_is_not_poll_s) {
  for (const char* world : {"loop", "generic-hca", "firelink", "myrinet-p3/pio-hmc"}) {
    run_ranks(world, 2, [](run::Context& rank) {
      return PORT_TEST_CHECK(rank.port().doorbell() == -1, rank.port(), 0);
    });
  }
}

class WakingDeaths : public PerWorld {};

// Rank 2 is killed while the others compute and their helpers sleep or serve.
TEST_P(WakingDeaths, end_the_job_in_order) {
  const Result<run::RunReport> report =
      run::run_world(options_of(GetParam(), 3), [](run::Context& rank) {
        Port& port = rank.port();
        Seen seen;
        bind(port, seen);
        Meeting meeting(port);
        if (!meeting.meet()) return 1;
        port.wake(Wake::immediate, Ps{0});
        const Ps dies = port.now() + milliseconds(30);
        for (;;) {
          if (port.self() == 2 && port.now() > dies) (void)::raise(SIGKILL);
          if (port.self() == 0) (void)ask(port);
          compute(port);
        }
      });
  ASSERT_TRUE(report.ok()) << report.error().text;
  // Expect: it failed by rank 2's death, not by the time limit.
  EXPECT_EQ(report.value().exit_code, 128 + SIGKILL);
  EXPECT_NE(report.value().failure.find("rank 2"), std::string::npos) << report.value().failure;
}

INSTANTIATE_PORT_TESTS_IN(WakingDeaths, ::testing::Values("shm", "udp", "nirx"));

}  // namespace
}  // namespace fairlead::port_test
