// The direct composition on modelled Sun Fire Link interfaces: packets, puts, gets, atomics and
// waits in virtual time, with links that die; and who has no place there.
#include <gtest/gtest.h>

#include "tests/golden/bodies.h"
#include "tests/remote_memory_body.h"

namespace fairlead::golden {
namespace {

run::WorldOptions on_firelink(std::uint32_t ranks, std::uint32_t ranks_per_node = 1) {
  run::WorldOptions options;
  options.on = FAIRLEAD_PLATFORMS "/firelink.toml";
  options.ranks = ranks;
  options.ranks_per_node = ranks_per_node;
  options.fiber_stack_kib = 256;
  return options;
}

run::RunReport run_on(const run::WorldOptions& options, const run::Body& body) {
  const auto report = run::run_world(options, body);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

std::string error_of(const run::WorldOptions& options) {
  const auto report = run::run_world(options, [](run::Context&) { return 0; });
  return report.ok() ? "ran" : report.error().text;
}

// all_to_all(), whose fetch-and-adds rank 0's processor serves here: nobody leaves before the
// others are through.
int all_to_all_together(run::Context& rank, std::uint64_t count) {
  constexpr lci::Chan kThrough = 2;
  lci::Port& port = rank.port();
  const int wrong = all_to_all(rank, count);
  Counter through;
  port.bind(kThrough, {count_one, &through}, {});
  for (Rank step = 1; step < port.size(); ++step) {
    const lci::Dest dest{(port.self() + step) % port.size()};
    if (port.send_small(dest, kThrough, lci::Lane::request, {}, {}, 0) != Post::done) return 10;
  }
  (void)port.wait({.counter = &through, .at = port.size() - 1, .what = "the other ranks"});
  return wrong;
}

TEST(ModelFirelink, RemoteMemoryIsRightAndRepeats) {
  const auto body = [](run::Context& rank) {
    return tests::RemoteMemoryBody(rank, 128 * 1024).run(100);
  };
  for (const std::uint32_t each : {1u, 3u}) {
    const run::RunReport first = run_on(on_firelink(6, each), body);
    const run::RunReport second = run_on(on_firelink(6, each), body);
    // Expect: what was put is what is got; each run is the same run.
    EXPECT_EQ(first.failure, "");
    EXPECT_EQ(first.exit_code, 0);
    EXPECT_GT(first.counters.remote_copies, 50u);
    EXPECT_EQ(first.digest, second.digest);
    EXPECT_EQ(first.virtual_time, second.virtual_time);
  }
}

TEST(ModelFirelink, PacketsAndAtomicsOfAllRanksMeet) {
  const auto body = [](run::Context& rank) { return all_to_all_together(rank, 40); };
  const run::RunReport first = run_on(on_firelink(8, 2), body);
  EXPECT_EQ(first.failure, "");
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.digest, run_on(on_firelink(8, 2), body).digest);
}

TEST(ModelFirelink, APingPongTakesWhatItsPartsTake) {
  constexpr int kRounds = 50;
  const auto time = [](std::size_t bytes, const char* faster) {
    run::WorldOptions options = on_firelink(2);
    options.faster = faster;
    const run::RunReport report =
        run_on(options, [bytes](run::Context& rank) { return ping_pong(rank, bytes, kRounds); });
    EXPECT_EQ(report.failure, "");
    return to_us(report.virtual_time) / (2 * kRounds);
  };
  const double small = time(8, "");
  const double large = time(1500, "");
  // Expect: a few microseconds; 23 lines more at a processor's pace; every part has its share.
  EXPECT_GT(small, 1.5);
  EXPECT_LT(small, 3.0);
  EXPECT_NEAR(large - small, 23 * 0.0853, 0.4);
  for (const char* faster : {"host=2", "bus=2", "ni=2", "link=2"}) {
    EXPECT_LT(time(8, faster), small) << faster;
  }
}

TEST(ModelFirelink, TheCriticalPathIsTheWholeRun) {
  run::WorldOptions options = on_firelink(2);
  options.explain = true;
  const auto body = [](run::Context& rank) { return ping_pong(rank, 1000, 10); };
  const run::RunReport report = run_on(options, body);
  Ps sum{};
  for (const run::PathShare& share : report.critical_path) sum += share.time;
  EXPECT_EQ(sum, report.virtual_time);
  EXPECT_EQ(report.digest, run_on(on_firelink(2), body).digest);
}

// Results and order are those of a network that works, whatever links die and come back; the time
// is not.
TEST(ModelFirelink, LinksThatDieCostTimeOnly) {
  const auto body = [](run::Context& rank) {
    if (const int wrong = tests::RemoteMemoryBody(rank, 64 * 1024).run(60); wrong != 0) {
      return wrong;
    }
    return all_to_all_together(rank, 60);
  };
  const run::RunReport whole = run_on(on_firelink(4, 2), body);
  EXPECT_EQ(whole.exit_code, 0);
  const char* const plans[] = {
      "down=0-link0@40us+100ms", "down=1-ni0@60us+20ms",
      "down=0-link1@30us+5ms,down=1-link2@90us+30ms",
      "down=0-switch3@10us+1s,down=0-switch2@20us+1s,down=1-link0@50us+3ms"};
  for (const char* plan : plans) {
    for (const char* switches : {"links.switches=4", "links.switches=0"}) {
      run::WorldOptions options = on_firelink(4, 2);
      if (std::string(plan).find("switch") != std::string::npos &&
          std::string(switches) == "links.switches=0") {
        continue;
      }
      options.set = {switches};
      options.faults = plan;
      const run::RunReport broken = run_on(options, body);
      EXPECT_EQ(broken.exit_code, 0) << plan << " " << broken.failure;
      EXPECT_GT(broken.virtual_time, whole.virtual_time) << plan;
      EXPECT_EQ(broken.digest, run_on(options, body).digest) << plan;
    }
  }
}

TEST(ModelFirelink, WhoHasNoPlaceIsNamed) {
  EXPECT_EQ(error_of(on_firelink(16, 2)), "ran");
  // Expect: the ninth host of the switch, the fourth without one
  EXPECT_NE(error_of(on_firelink(9)).find("host 9 has no place"), std::string::npos)
      << error_of(on_firelink(9));
  run::WorldOptions unswitched = on_firelink(4);
  unswitched.set = {"links.switches=0"};
  EXPECT_NE(error_of(unswitched).find("without a switch"), std::string::npos)
      << error_of(unswitched);
  unswitched.ranks = 3;
  EXPECT_EQ(error_of(unswitched), "ran");
  run::WorldOptions lossy = on_firelink(2);
  lossy.faults = "drop=0.1";
  EXPECT_NE(error_of(lossy).find("down="), std::string::npos) << error_of(lossy);
}

TEST(ModelFirelink, ADeadlockIsToldAndNotWaitedFor) {
  const run::RunReport report = run_on(on_firelink(2), [](run::Context& rank) {
    Counter never;
    (void)rank.port().wait({.counter = &never, .at = 1, .what = "nothing"});
    return 0;
  });
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report.failure;
}

}  // namespace
}  // namespace fairlead::golden
