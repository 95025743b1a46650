#include "fairlead/systems/am/idle_polls.h"

#include <gtest/gtest.h>

namespace fairlead::am {
namespace {

// Polls that find nothing until it is time to yield.
std::uint32_t polls_of(IdlePolls& idle) {
  std::uint32_t polls = 1;
  while (!idle.found_nothing()) ++polls;
  return polls;
}

TEST(IdlePolls, ARankWithItsOwnProcessorYieldsSeldom) {
  IdlePolls idle;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(polls_of(idle), IdlePolls::kMost);
    idle.yielded(nanoseconds(300));
  }
}

TEST(IdlePolls, WhatIsFoundBeginsAnew) {
  IdlePolls idle;
  for (std::uint32_t i = 1; i < IdlePolls::kMost; ++i) EXPECT_FALSE(idle.found_nothing());
  idle.found_something();
  EXPECT_EQ(polls_of(idle), IdlePolls::kMost);
}

TEST(IdlePolls, OneThatSharesItYieldsAtOnce) {
  IdlePolls idle;
  EXPECT_EQ(polls_of(idle), 64u);
  idle.yielded(microseconds(5));
  EXPECT_EQ(polls_of(idle), 8u);
  idle.yielded(microseconds(5));
  EXPECT_EQ(polls_of(idle), 1u);
  idle.yielded(microseconds(5));
  EXPECT_EQ(polls_of(idle), 1u);
  // Expect: back again, by and by, once nobody else wants it
  idle.yielded(nanoseconds(200));
  EXPECT_EQ(polls_of(idle), 2u);
  idle.yielded(nanoseconds(200));
  EXPECT_EQ(polls_of(idle), 4u);
  for (int i = 0; i < 10; ++i) idle.yielded(nanoseconds(200));
  EXPECT_EQ(polls_of(idle), 64u);
}

}  // namespace
}  // namespace fairlead::am
