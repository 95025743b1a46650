// The sequential searches, against breadth-first search and plain minimax on games of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "fairlead/systems/multigame/multigame.h"

namespace fairlead::multigame {
namespace {

// To a number: one more, one less, or twice as much; the goal is `goal`.
class Numbers : public OnePlayer {
 public:
  explicit Numbers(std::uint64_t goal) : goal_(goal) {}
  const char* name() const override { return "numbers"; }
  std::size_t moves(const Position& from, std::uint8_t, std::span<Move> to) const override {
    const std::uint64_t n = from.words[0];
    std::size_t count = 0;
    to[count++] = {{{n + 1, 0, 0}}, 0};
    if (n > 0) to[count++] = {{{n - 1, 0, 0}}, 1};
    if (n < 1000) to[count++] = {{{2 * n, 0, 0}}, 2};
    return count;
  }
  std::uint16_t bound(const Position& at) const override {
    // At most doubled by a move.
    std::uint16_t least = at.words[0] == goal_ ? 0 : 1;
    for (std::uint64_t n = std::max<std::uint64_t>(at.words[0], 1); 2 * n < goal_; n *= 2) ++least;
    return least;
  }

 private:
  std::uint64_t goal_;
};

TEST(IdaAlone, finds_the_shortest) {
  for (std::uint64_t goal = 0; goal < 60; ++goal) {
    std::map<std::uint64_t, unsigned> reached = {{1, 0}};
    std::deque<std::uint64_t> next = {1};
    const Numbers rules(goal);
    while (reached.count(goal) == 0) {
      Move moves[kMovesMax];
      const std::uint64_t from = next.front();
      next.pop_front();
      const std::size_t count = rules.moves({{from, 0, 0}}, kNoMove, moves);
      for (std::size_t i = 0; i < count; ++i) {
        if (reached.try_emplace(moves[i].position.words[0], reached[from] + 1).second) {
          next.push_back(moves[i].position.words[0]);
        }
      }
    }
    const IdaAnswer answer = ida_alone(rules, {{1, 0, 0}}, {});
    EXPECT_TRUE(answer.solved);
    EXPECT_EQ(answer.length, reached[goal]) << goal;
  }
}

TEST(IdaAlone, gives_up) {
  IdaOptions options;
  options.length_max = 4;
  const IdaAnswer answer = ida_alone(Numbers(100), {{1, 0, 0}}, options);
  EXPECT_FALSE(answer.solved);
  EXPECT_TRUE(answer.iterations.empty() || answer.iterations.back().bound <= 4);
}

// Takes 1 to 3 of a heap; who takes the last one wins.
class Nim : public TwoPlayers {
 public:
  const char* name() const override { return "nim"; }
  std::size_t moves(const Position& from, std::uint8_t, std::span<Move> to) const override {
    std::size_t count = 0;
    for (std::uint8_t take = 1; take <= 3 && take <= from.words[0]; ++take) {
      to[count++] = {{{from.words[0] - take, 0, 0}}, take};
    }
    return count;
  }
  int evaluate(const Position& at) const override { return at.words[0] == 0 ? -100 : 0; }
};

TEST(AlphaBetaAlone, plays_nim) {
  for (std::uint64_t heap = 0; heap <= 12; ++heap) {
    const AlphaBetaAnswer answer = alpha_beta_alone(Nim(), {{heap, 0, 0}}, 20);
    // Expect: a heap of a multiple of 4 is lost; else that many are taken.
    EXPECT_EQ(answer.value, heap % 4 == 0 ? -100 : 100) << heap;
    if (heap % 4 != 0) {
      EXPECT_EQ(answer.move, heap % 4);
    }
  }
}

TEST(Counts, add_and_since_are_inverse) {
  Counts a;
  a.expanded = 5;
  a.idle = 2;
  a.replaced = 9;
  Counts b = a;
  b.add(a);
  EXPECT_EQ(b.expanded, 10u);
  const Counts c = b.since(a);
  EXPECT_EQ(c.expanded, a.expanded);
  EXPECT_EQ(c.idle, a.idle);
  EXPECT_EQ(c.replaced, a.replaced);
}

}  // namespace
}  // namespace fairlead::multigame
