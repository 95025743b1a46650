#include "fairlead/fabric/fault_plan.h"

#include <gtest/gtest.h>

namespace fairlead::fabric {
namespace {

TEST(FaultPlan, ReadsEveryKey) {
  const auto plan = parse_fault_plan(
      "drop=0.01,dup=0.5,corrupt=1,reorder=0.25,delay=50us:0.1,kill=3@20ms,kill=0@1.5s", 9);
  ASSERT_TRUE(plan.ok()) << plan.error().text;
  const FaultPlan& p = plan.value();
  // Expect: each number where it belongs.
  EXPECT_EQ(p.drop, 0.01);
  EXPECT_EQ(p.duplicate, 0.5);
  EXPECT_EQ(p.corrupt, 1);
  EXPECT_EQ(p.reorder, 0.25);
  EXPECT_EQ(p.delay, microseconds(50));
  EXPECT_EQ(p.delayed, 0.1);
  ASSERT_EQ(p.kills.size(), 2u);
  EXPECT_EQ(p.kills[0].rank, 3u);
  EXPECT_EQ(p.kills[0].at, milliseconds(20));
  EXPECT_EQ(p.kills[1].at, milliseconds(1500));
  EXPECT_EQ(repeat_line(p),
            "--faults drop=0.01,dup=0.5,corrupt=1,reorder=0.25,delay=50us:0.1,kill=3@20ms,"
            "kill=0@1.5s --seed 9");
  EXPECT_TRUE(parse_fault_plan("", 1).ok());
}

TEST(FaultPlan, ReadsPercent) {
  const auto plan = parse_fault_plan("drop=1%,delay=50us:12.5%", 9);
  ASSERT_TRUE(plan.ok()) << plan.error().text;
  EXPECT_EQ(plan.value().drop, 0.01);
  EXPECT_EQ(plan.value().delayed, 0.125);
  EXPECT_FALSE(parse_fault_plan("drop=101%", 9).ok());
  EXPECT_FALSE(parse_fault_plan("drop=%", 9).ok());
}

TEST(FaultPlan, ReadsLinks) {
  const auto plan = parse_fault_plan(
      "drop=0.01,link=3:dup=0.5,link=3-7:delay=50us:0.1,link=leaf0-spine1:corrupt=1,"
      "down=5@10ms+2ms,down=5-s1.2@0us+1us",
      9);
  ASSERT_TRUE(plan.ok()) << plan.error().text;
  using Kind = FaultyLink::Kind;
  const std::vector<FaultPlan::Clause>& clauses = plan.value().clauses;
  ASSERT_EQ(clauses.size(), 5u);
  EXPECT_EQ(clauses[0].link.kind, Kind::node);
  EXPECT_EQ(clauses[0].link.from, 3u);
  EXPECT_EQ(clauses[0].faults.duplicate, 0.5);
  EXPECT_EQ(clauses[1].link.kind, Kind::way);
  EXPECT_EQ(clauses[1].link.to, 7u);
  EXPECT_EQ(clauses[1].faults.delay, microseconds(50));
  EXPECT_EQ(clauses[1].faults.delayed, 0.1);
  EXPECT_EQ(clauses[2].link.kind, Kind::cable);
  EXPECT_EQ(clauses[2].link.a, "leaf0");
  EXPECT_EQ(clauses[2].link.b, "spine1");
  EXPECT_EQ(clauses[2].faults.corrupt, 1);
  EXPECT_EQ(clauses[3].down_from, milliseconds(10));
  EXPECT_EQ(clauses[3].down_until, milliseconds(12));
  EXPECT_EQ(clauses[4].link.kind, Kind::cable);
  // Expect: what packets each is about; cables are for others to know
  EXPECT_EQ(clauses_of(plan.value(), 3, 7), 0b00011u);
  EXPECT_EQ(clauses_of(plan.value(), 7, 3), 0b00001u);
  EXPECT_EQ(clauses_of(plan.value(), 1, 5), 0b01000u);
  EXPECT_EQ(clauses_of(plan.value(), 1, 2), 0u);
}

TEST(FaultPlan, ALinksOwnFaultsLeaveTheOthersAsTheyWere) {
  const FaultPlan plain = parse_fault_plan("drop=0.1", 5).value();
  const FaultPlan linked =
      parse_fault_plan("drop=0.1,link=1-2:drop=0.3,link=1-2:dup=0.3,down=2@1ms+1ms", 5).value();
  int more = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    EXPECT_EQ(fate_of(linked, 2, 1, i, clauses_of(linked, 2, 1)).drop,
              fate_of(plain, 2, 1, i).drop);
    const Fate fate = fate_of(linked, 1, 2, i, clauses_of(linked, 1, 2));
    if (fate_of(plain, 1, 2, i).drop) {
      EXPECT_TRUE(fate.drop);
    } else {
      more += fate.drop ? 1 : 0;
    }
  }
  // Expect: 30 % of the other 9,000, within five standard deviations
  EXPECT_NEAR(more, 2700, 220);
  const ClauseMask clauses = clauses_of(linked, 3, 2);
  EXPECT_TRUE(fate_of(linked, 3, 2, 0, clauses, milliseconds(1)).drop);
  EXPECT_TRUE(fate_of(linked, 3, 2, 1, clauses, microseconds(1999)).drop);
  int after = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    after += fate_of(linked, 3, 2, i, clauses, milliseconds(2)).drop ? 1 : 0;
  }
  EXPECT_NEAR(after, 100, 50);
}

TEST(FaultPlan, LinksThatAreNotThereAreNamed) {
  const FaultPlan node = parse_fault_plan("link=4:drop=1", 1).value();
  EXPECT_TRUE(check_links(node, 5, false).ok());
  EXPECT_EQ(check_links(node, 4, true).error().text, "faults: link=4: there are only 0 to 3");
  const FaultPlan cable = parse_fault_plan("down=leaf0-spine1@0us+1s", 1).value();
  EXPECT_TRUE(check_links(cable, 4, true).ok());
  EXPECT_EQ(check_links(cable, 4, false).error().text,
            "faults: link=leaf0-spine1: there are no switches here, only on modelled platforms; a "
            "link is a rank, or FROM-TO");
}

TEST(FaultPlan, NamesWhatIsWrongAndWhatIsValid) {
  for (const char* text : {"lose=0.1",
                           "drop",
                           "drop=",
                           "drop=x",
                           "drop=1.5",
                           "drop=-1",
                           "drop=nan",
                           "delay=5us",
                           "delay=5:0.1",
                           "delay=us:0.1",
                           "kill=3",
                           "kill=@1s",
                           "kill=x@1s",
                           "kill=1@",
                           "kill=-1@1s",
                           "drop=0.1,",
                           ",",
                           "kill=1@9999999s",
                           "link=3",
                           "link=3:drop",
                           "link=:drop=1",
                           "link=3:kill=1",
                           "link=3-:drop=1",
                           "link=3-4-5:drop=1",
                           "link=3:drop=2",
                           "link=leaf0:drop=1",
                           "link=a/b-3:drop=1",
                           "down=3",
                           "down=3@1ms",
                           "down=3@1ms+",
                           "down=3+1ms",
                           "down=x@1ms+1ms",
                           "link=3=drop:1"}) {
    const auto plan = parse_fault_plan(text, 1);
    // Expect: an error that lists the valid keys.
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_NE(plan.error().text.find("valid: drop=P"), std::string::npos) << plan.error().text;
  }
}

TEST(FaultPlan, FatesRepeatAndHaveTheRatesAsked) {
  const FaultPlan plan = parse_fault_plan("drop=0.1,dup=0.2", 5).value();
  FaultPlan other = plan;
  other.seed = 6;
  int drops = 0;
  int duplicates = 0;
  int differing = 0;
  constexpr int kCount = 20000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Fate fate = fate_of(plan, 1, 2, i);
    EXPECT_EQ(fate.drop, fate_of(plan, 1, 2, i).drop);
    drops += fate.drop ? 1 : 0;
    duplicates += fate.duplicate ? 1 : 0;
    differing += fate.drop != fate_of(other, 1, 2, i).drop ? 1 : 0;
  }
  // Expect: 10 % and 20 % within five standard deviations; another seed, other packets.
  EXPECT_NEAR(drops, 2000, 215);
  EXPECT_NEAR(duplicates, 4000, 285);
  EXPECT_GT(differing, 1000);
}

}  // namespace
}  // namespace fairlead::fabric
