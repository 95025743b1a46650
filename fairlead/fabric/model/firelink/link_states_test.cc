// Links that die, and what drivers believe of them.
#include "fairlead/fabric/model/firelink/link_states.h"

#include <gtest/gtest.h>

#include "fairlead/hw/test_platform.h"

namespace fairlead::fabric::model {
namespace {

class LinkStatesTest : public ::testing::Test {
 protected:
  LinkStatesTest()
      : platform_(hw::round_firelink_platform(2, 2)),
        wiring_(platform_.ni.as<hw::FirelinkParams>(), 2),
        states_(wiring_, 3) {}

  hw::Platform platform_;
  hw::FirelinkWiring wiring_;
  LinkStates states_;
};

TEST_F(LinkStatesTest, ACableHasTwoEndsAndOneState) {
  EXPECT_TRUE(states_.whole(0, 1));
  states_.fail(0, 1);
  EXPECT_FALSE(states_.up(1, 1));
  EXPECT_EQ(states_.downs(0, 1, {1, 1}), 2u);
  // Expect: until a driver looks it is used all the same
  EXPECT_EQ(states_.routed(1, 0).size(), 3u);
  EXPECT_FALSE(states_.whole(1, 0));
  EXPECT_TRUE(states_.look(0, 1));
  EXPECT_TRUE(states_.whole(1, 0));
  EXPECT_EQ(states_.routed(1, 0)[1].out, 2u);
  // Expect: another link takes the place of the third stripe
  EXPECT_EQ(states_.routed(1, 0)[2].out, 3u);
  EXPECT_FALSE(states_.look(0, 1));
}

TEST_F(LinkStatesTest, WhatHasTwoCausesOfDeathLivesWhenBothAreOver) {
  states_.fail(0, 0);
  states_.fail(1, 0);
  states_.mend(0, 0);
  EXPECT_FALSE(states_.up(0, 1, {0, 0}));
  states_.mend(1, 0);
  EXPECT_TRUE(states_.up(0, 1, {0, 0}));
  // Expect: it died once, at both ends
  EXPECT_EQ(states_.downs(0, 1, {0, 0}), 2u);
}

TEST_F(LinkStatesTest, TheLastLinkLeavesNoWay) {
  for (std::uint32_t link = 0; link < 4; ++link) {
    states_.fail(0, link);
    (void)states_.look(0, link);
  }
  EXPECT_TRUE(states_.routed(0, 1).empty());
  EXPECT_FALSE(states_.whole(0, 1));
}

}  // namespace
}  // namespace fairlead::fabric::model
