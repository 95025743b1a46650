// Faults on the modelled wires under implementations that assume a reliable network (LCI paper,
// section 4): the job stops, says what happened where, and does so again with the same seed.
#include <gtest/gtest.h>

#include "tests/golden/bodies.h"

namespace fairlead::golden {
namespace {

run::RunReport with_faults(const char* lci, const char* faults, std::uint64_t seed) {
  run::WorldOptions options = modelled("myrinet-p3", lci, 4);
  options.faults = faults;
  options.seed = seed;
  const auto report =
      run::run_world(options, [](run::Context& rank) { return all_to_all(rank, 50); });
  EXPECT_TRUE(report.ok()) << report.error().text;
  return report.ok() ? report.value() : run::RunReport{};
}

bool says(const run::RunReport& report, const char* what) {
  return report.failure.find(what) != std::string::npos;
}

TEST(ModelFaults, ALostPacketStopsTheJobAndIsNamed) {
  for (const char* lci : {"sdma", "pio"}) {
    const run::RunReport report = with_faults(lci, "drop=0.01", 3);
    // Expect: no hang and no success
    EXPECT_NE(report.exit_code, 0);
    EXPECT_TRUE(says(report,
                     "assumes a reliable network: a packet is missing or out of order "
                     "(from node "))
        << report.failure;
    EXPECT_TRUE(says(report, "lost by the fault plan, the first from node ")) << report.failure;
    EXPECT_TRUE(says(report, "; to see it again: --faults drop=0.01 --seed 3")) << report.failure;
  }
}

TEST(ModelFaults, ALastPacketThatIsLostIsADeadlockWithItsCause) {
  run::WorldOptions options = modelled("myrinet-ppro", "pio", 2);
  options.faults = "drop=1";
  const auto report =
      run::run_world(options, [](run::Context& rank) { return ping_pong(rank, 16, 1); });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 1);
  // Expect: every rank's wait with its time, and the loss
  EXPECT_TRUE(says(report.value(), "deadlock: no event is left and 2 of 2 ranks wait\nrank 0: "))
      << report.value().failure;
  EXPECT_TRUE(says(report.value(), "us in a ball\nrank 1: ")) << report.value().failure;
  EXPECT_TRUE(says(report.value(),
                   "1 packet was lost by the fault plan, the first from node 0 to "
                   "node 1 at "))
      << report.value().failure;
}

TEST(ModelFaults, OneSeedOneFailure) {
  const run::RunReport first = with_faults("sdma", "drop=0.01", 5);
  const run::RunReport again = with_faults("sdma", "drop=0.01", 5);
  const run::RunReport other = with_faults("sdma", "drop=0.01", 6);
  // Expect: the same failure at the same time, and another one of another seed
  EXPECT_EQ(again.failure, first.failure);
  EXPECT_EQ(again.virtual_time, first.virtual_time);
  EXPECT_EQ(again.digest, first.digest);
  EXPECT_NE(other.virtual_time, first.virtual_time);
}

TEST(ModelFaults, ABrokenPacketFailsItsCheckAndIsCounted) {
  const run::RunReport report = with_faults("sdma", "corrupt=0.01", 1);
  EXPECT_NE(report.exit_code, 0);
  EXPECT_TRUE(says(report, "a packet failed its CRC check (from node ")) << report.failure;
  EXPECT_EQ(report.counters.corrupt_dropped, 1u);
}

TEST(ModelFaults, ARepeatedAndALatePacketAreNoticed) {
  const run::RunReport twice = with_faults("pio", "dup=0.01", 1);
  EXPECT_NE(twice.exit_code, 0);
  EXPECT_TRUE(says(twice, "a packet came twice (from node ")) << twice.failure;
  for (const char* faults : {"reorder=0.01", "delay=200us:0.01"}) {
    const run::RunReport late = with_faults("pio", faults, 1);
    EXPECT_NE(late.exit_code, 0) << faults;
    EXPECT_TRUE(says(late, "a packet is missing or out of order")) << late.failure;
  }
}

run::RunReport mended(const char* faults, const char* topology = "") {
  run::WorldOptions options = modelled("myrinet-p3", "nirx", 12);
  options.faults = faults;
  options.topology = topology;
  const auto report =
      run::run_world(options, [](run::Context& rank) { return numbered_all_to_all(rank, 100); });
  EXPECT_TRUE(report.ok()) << report.error().text;
  return report.ok() ? report.value() : run::RunReport{};
}

// Two leaves of a Clos network: nodes 0 to 7, and 8 to 11.
TEST(ModelFaults, OneLinkMayLoseWhatTheOthersCarry) {
  const run::RunReport whole = mended("");
  EXPECT_EQ(whole.counters.retransmissions, 0u);
  for (const char* faults :
       {"link=3:drop=0.2", "link=3-9:corrupt=0.2", "link=leaf0-spine1:drop=0.2",
        "link=leaf1-spine2:dup=0.2,link=2:reorder=0.1", "link=10-leaf1:delay=300us:0.1"}) {
    const run::RunReport report = mended(faults);
    // Expect: everything came once and in order, by sending again; the same the next time
    EXPECT_EQ(report.failure, "") << faults;
    EXPECT_GT(report.counters.retransmissions + report.counters.duplicates_dropped, 0u) << faults;
    EXPECT_EQ(report.digest, mended(faults).digest) << faults;
  }
  // Expect: another network, other cables
  EXPECT_GT(mended("link=s0.0-s1.1:drop=0.2", "fat-tree").counters.retransmissions, 0u);
  // Expect: what no sending again can mend is said, from leaf 1 to node 5
  EXPECT_TRUE(says(mended("link=leaf1-spine5:drop=1"),
                   "a packet was not acknowledged however often it was sent"));
}

TEST(ModelFaults, ALinkThatIsDownIsWaitedFor) {
  const run::RunReport whole = mended("");
  for (const char* faults : {"down=3@300us+2ms", "down=leaf0-spine1@300us+2ms"}) {
    const run::RunReport report = mended(faults);
    EXPECT_EQ(report.failure, "") << faults;
    EXPECT_GT(report.counters.retransmissions, 0u) << faults;
  }
  // Expect: where every packet waits for the link, it takes about as long as it was down
  EXPECT_GT(mended("down=3@300us+30ms").virtual_time, whole.virtual_time + milliseconds(15));
}

TEST(ModelFaults, AKilledRankEndsTheJob) {
  const run::RunReport report = with_faults("sdma", "kill=2@300us", 1);
  // Expect: as a SIGKILL in the real world
  EXPECT_EQ(report.exit_code, 128 + 9);
  EXPECT_TRUE(says(report, "rank 2: killed by the fault plan")) << report.failure;
  EXPECT_EQ(report.virtual_time, microseconds(300));
}

TEST(ModelFaults, APlanThatCannotBeIsAnError) {
  for (const char* faults :
       {"drop=2", "explode=1", "kill=4@1us", "link=4:drop=1", "link=leaf0-spine9:drop=1"}) {
    run::WorldOptions options = modelled("myrinet-p3", "sdma", 4);
    options.faults = faults;
    const auto report = run::run_world(options, [](run::Context&) { return 0; });
    ASSERT_FALSE(report.ok()) << faults;
    EXPECT_NE(report.error().text.find(faults, 0, 5), std::string::npos) << report.error().text;
  }
}

TEST(ModelFaults, APlanWithoutAFaultChangesNothing) {
  const run::RunReport plain = with_faults("sdma", "", 1);
  const run::RunReport planned = with_faults("sdma", "drop=0", 1);
  EXPECT_EQ(planned.failure, "");
  EXPECT_EQ(planned.digest, plain.digest);
}

}  // namespace
}  // namespace fairlead::golden
