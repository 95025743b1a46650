#include "fairlead/lci/backlog.h"

#include <gtest/gtest.h>

namespace fairlead::lci {
namespace {

TEST(Backlog, CountsWhatWaitsInAnyOfItsQueues) {
  Backlog backlog;
  BacklogQueue<int> numbers(backlog);
  BacklogQueue<char> letters(backlog);
  EXPECT_EQ(backlog.items, 0u);
  for (int i = 0; i < 9; ++i) numbers.push_back(i);
  letters.push_back('x');
  EXPECT_EQ(backlog.items, 10u);
  // Expect: each queue in its own order
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(numbers.front(), i);
    numbers.pop_front();
  }
  EXPECT_TRUE(numbers.empty());
  EXPECT_EQ(backlog.items, 1u);
  EXPECT_EQ(letters[0], 'x');
  letters.pop_front();
  EXPECT_EQ(backlog.items, 0u);
}

}  // namespace
}  // namespace fairlead::lci
