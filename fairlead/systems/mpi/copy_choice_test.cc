#include "fairlead/systems/mpi/copy_choice.h"

#include <gtest/gtest.h>

#include <map>

namespace fairlead::mpi {
namespace {

using Way = CopyChoice::Way;

struct CopyChoiceTest : testing::Test {
  CopyChoice choice;
  Ps now{};

  // Messages one after the other, each as fast as its way is here; how many went which way.
  std::map<Way, int> run(int messages, std::uint64_t bytes, Ps single_copy, Ps pieces) {
    std::map<Way, int> went;
    for (int i = 0; i < messages; ++i) {
      const Way way = choice.choose(bytes);
      ++went[way];
      const Ps asked = now;
      now += way == Way::single_copy ? single_copy : pieces;
      choice.arrived(way, bytes, asked, now);
      now += microseconds(5);  // what the program does between
    }
    return went;
  }
};

TEST_F(CopyChoiceTest, TheFasterWayGetsNearlyAllMessages) {
  auto went = run(20'000, 64 << 10, microseconds(6), microseconds(9));
  EXPECT_GT(went[Way::single_copy], 19'000);
  EXPECT_GT(went[Way::pieces], 0);
  CopyChoice fresh;
  choice = fresh;
  went = run(20'000, 64 << 10, microseconds(9), microseconds(6));
  EXPECT_GT(went[Way::pieces], 19'000);
  EXPECT_GT(went[Way::single_copy], 0);
}

TEST_F(CopyChoiceTest, FewJudgeWhatNeverOverlaps) {
  choice = choice.one_at_a_time();
  auto went = run(1500, 1 << 20, microseconds(160), microseconds(590));
  EXPECT_LE(went[Way::pieces], 30);
  // Expect: of what was measured nothing stays, of the user's wish all.
  choice = choice.one_at_a_time();
  went = run(1500, 1 << 20, microseconds(100), microseconds(40));
  EXPECT_LE(went[Way::single_copy], 60);
  const CopyChoice never = CopyChoice::of_text("never").value().one_at_a_time();
  EXPECT_FALSE(never.permits_single_copy());
}

TEST_F(CopyChoiceTest, SizesAreMeasuredApart) {
  run(5000, 64 << 10, microseconds(9), microseconds(6));
  run(500, 1 << 20, microseconds(60), microseconds(90));
  EXPECT_EQ(choice.choose(64 << 10), Way::pieces);
  EXPECT_EQ(choice.choose(1 << 20), Way::single_copy);
  // Expect: about the same size, the same answer.
  EXPECT_EQ(choice.choose(100 << 10), Way::pieces);
}

TEST_F(CopyChoiceTest, WhatTheNetworkCopiesIsNotMeasured) {
  run(5000, 64 << 10, microseconds(9), microseconds(6));
  EXPECT_EQ(choice.choose(64 << 10), Way::pieces);
  EXPECT_EQ(choice.choose(64 << 10, true), Way::single_copy);
  // Expect: what the user says counts there too.
  const CopyChoice never = CopyChoice::of_text("never").value();
  EXPECT_EQ(never.choose(64 << 20, true), Way::pieces);
}

TEST_F(CopyChoiceTest, FollowsAChange) {
  run(10'000, 64 << 10, microseconds(9), microseconds(6));
  const auto went = run(100'000, 64 << 10, microseconds(6), microseconds(9));
  EXPECT_GT(went.at(Way::single_copy), 80'000);
}

// Messages of a window are asked for together: the time of each is what it adds.
TEST_F(CopyChoiceTest, WindowsCountWhatEachMessageAdds) {
  constexpr std::uint64_t kBytes = 256 << 10;
  std::map<Way, int> went;
  for (int window = 0; window < 1000; ++window) {
    const Ps asked = now;
    for (int i = 0; i < 16; ++i) {
      const Way way = choice.choose(kBytes);
      ++went[way];
      // One alone takes longer in pieces; the next ones less.
      now += way == Way::single_copy ? microseconds(20) : microseconds(i == 0 ? 40 : 15);
      choice.arrived(way, kBytes, asked, now);
    }
  }
  EXPECT_GT(went[Way::pieces], 15'000);
}

TEST_F(CopyChoiceTest, OneSlowTrialIsForgotten) {
  run(1000, 1 << 20, microseconds(60), microseconds(90));
  run(64, 1 << 20, milliseconds(50), microseconds(90));  // another program had the processor
  const auto went = run(10'000, 1 << 20, microseconds(60), microseconds(90));
  EXPECT_GT(went.at(Way::single_copy), 9000);
}

TEST_F(CopyChoiceTest, WhatTheUserSaysHolds) {
  Result<CopyChoice> given = CopyChoice::of_text("100000");
  ASSERT_TRUE(given.ok());
  choice = given.value();
  run(5000, 64 << 10, microseconds(6), microseconds(9));
  run(500, 1 << 20, microseconds(90), microseconds(60));
  EXPECT_EQ(choice.choose(99'999), Way::pieces);
  EXPECT_EQ(choice.choose(100'000), Way::single_copy);
  EXPECT_EQ(CopyChoice::of_text("0").value().choose(1), Way::single_copy);
  EXPECT_EQ(CopyChoice::of_text("256K").value().choose(256 << 10), Way::single_copy);
  EXPECT_EQ(CopyChoice::of_text("256K").value().choose((256 << 10) - 1), Way::pieces);
  EXPECT_EQ(CopyChoice::of_text("never").value().choose(1 << 30), Way::pieces);
}

TEST_F(CopyChoiceTest, SaysWhatItMeasured) {
  EXPECT_EQ(choice.report(), "");
  run(1000, 64 << 10, microseconds(6), microseconds(9));
  run(1000, 4 << 20, microseconds(400), microseconds(200));
  EXPECT_EQ(choice.report(),
            "from 64 KiB 6 us by one copy, 9 us in pieces; "
            "from 4096 KiB 400 us by one copy, 200 us in pieces");
}

TEST_F(CopyChoiceTest, WhatTheUserMeantIsAskedFor) {
  for (const char* text :
       {"", "often", "64X", "64KBit", "-1", "1.5", "99999999999999999999999", "99999999999G"}) {
    const Result<CopyChoice> given = CopyChoice::of_text(text);
    ASSERT_FALSE(given.ok()) << text;
    EXPECT_NE(given.error().text.find("auto, never or bytes"), std::string::npos);
  }
}

}  // namespace
}  // namespace fairlead::mpi
