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

TEST(FaultPlan, NamesWhatIsWrongAndWhatIsValid) {
  for (const char* text :
       {"lose=0.1", "drop", "drop=", "drop=x", "drop=1.5", "drop=-1", "drop=nan", "delay=5us",
        "delay=5:0.1", "delay=us:0.1", "kill=3", "kill=@1s", "kill=x@1s", "kill=1@", "kill=-1@1s",
        "drop=0.1,", ",", "kill=1@9999999s"}) {
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
