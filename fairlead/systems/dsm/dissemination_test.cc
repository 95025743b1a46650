#include "fairlead/systems/dsm/dissemination.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fairlead::dsm {
namespace {

// All ranks' steps, round by round: whose words each of them holds, in the order they came.
std::vector<std::vector<Rank>> heard_by_all(std::uint32_t size) {
  std::vector<Dissemination> plans;
  std::vector<std::vector<Rank>> heard;
  for (Rank rank = 0; rank < size; ++rank) {
    plans.emplace_back(rank, size);
    heard.push_back({rank});
  }
  for (std::size_t first = 0; first < plans[0].steps().size();) {
    const std::vector<std::vector<Rank>> before = heard;
    const std::size_t count = plans[0].round_at(first).size();
    for (Rank rank = 0; rank < size; ++rank) {
      for (const Dissemination::Step& step : plans[rank].round_at(first)) {
        for (const Rank of : before[rank]) {
          if (plans[rank].tells(step, of)) heard[step.to].push_back(of);
        }
      }
    }
    first += count;
  }
  return heard;
}

TEST(Dissemination, BringsEachRanksWordsToEachOtherRankOnce) {
  for (std::uint32_t size = 1; size <= 100; ++size) {
    const std::vector<std::vector<Rank>> heard = heard_by_all(size);
    for (const std::vector<Rank>& words : heard) {
      EXPECT_EQ(words.size(), size);
      EXPECT_EQ(std::set<Rank>(words.begin(), words.end()).size(), size);
    }
  }
}

TEST(Dissemination, ARankIsToldByWhoHasItAmongThoseToTell) {
  for (std::uint32_t size = 1; size <= 70; ++size) {
    for (Rank rank = 0; rank < size; ++rank) {
      const Dissemination plan(rank, size);
      std::set<Rank> from;
      for (const Dissemination::Step& step : plan.steps()) {
        const Dissemination other(step.from, size);
        const std::size_t number = plan.step_from(step.from);
        ASSERT_LT(number, plan.steps().size());
        EXPECT_EQ(other.steps()[number].to, rank);
        EXPECT_EQ(other.steps()[number].round, step.round);
        EXPECT_NE(step.from, rank);
        EXPECT_TRUE(from.insert(step.from).second);
      }
      // Expect: itself tells it nothing.
      EXPECT_EQ(plan.step_from(rank), plan.steps().size());
    }
  }
}

TEST(Dissemination, TakesRoundsAsTheLogarithmOfTheRanks) {
  const auto rounds = [](std::uint32_t size) {
    const Dissemination plan(0, size);
    return plan.steps().empty() ? 0 : plan.steps().back().round + 1;
  };
  EXPECT_EQ(rounds(1), 0U);
  EXPECT_EQ(rounds(2), 1U);
  EXPECT_EQ(rounds(4), 1U);
  EXPECT_EQ(rounds(5), 2U);
  EXPECT_EQ(rounds(16), 2U);
  EXPECT_EQ(rounds(64), 3U);
  EXPECT_EQ(rounds(65), 4U);
  EXPECT_EQ(rounds(1024), 5U);
  EXPECT_EQ(Dissemination(0, 1024).steps().size(), 15U);
}

}  // namespace
}  // namespace fairlead::dsm
