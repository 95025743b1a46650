// The searches by one rank: short and plain, so that the parallel ones can be checked against them.
#include <algorithm>

#include "fairlead/base/check.h"
#include "fairlead/systems/multigame/multigame.h"

namespace fairlead::multigame {
namespace {

std::size_t checked_moves(const Rules& rules, const Position& from, std::uint8_t last,
                          std::vector<Move>& to) {
  const std::size_t first = to.size();
  to.resize(first + kMovesMax);
  const std::size_t count = rules.moves(from, last, {to.data() + first, kMovesMax});
  FAIRLEAD_CHECK(count <= kMovesMax, "{} moves of {}", count, rules.text(from));
  to.resize(first + count);
  return count;
}

// One iteration of IDA*.
struct DepthFirst {
  const OnePlayer& rules;
  const IdaOptions& options;
  std::uint32_t bound;
  std::uint32_t next_bound = UINT32_MAX;
  std::uint64_t expanded = 0;
  bool found = false;
  std::vector<Move> line{};

  bool ended() const { return found && !options.all_solutions; }

  void search(const Position& from, std::uint8_t last, std::uint32_t made) {
    ++expanded;
    const std::size_t first = line.size();
    const std::size_t count = checked_moves(rules, from, last, line);
    for (std::size_t i = first; i < first + count && !ended(); ++i) {
      const Move child = line[i];
      const std::uint32_t lower = rules.bound(child.position);
      if (made + 1 + lower > bound) {
        next_bound = std::min(next_bound, made + 1 + lower);
      } else if (lower == 0) {
        found = true;
      } else {
        search(child.position, child.move, made + 1);
      }
    }
    line.resize(first);
  }
};

struct Negamax {
  const TwoPlayers& rules;
  std::uint64_t expanded = 0;
  std::vector<Move> line{};

  AlphaBetaAnswer search(const Position& from, std::uint8_t last, unsigned depth, int alpha,
                         int beta) {
    AlphaBetaAnswer best;
    best.value = rules.evaluate(from);
    FAIRLEAD_CHECK(best.value >= -kValueMax && best.value <= kValueMax, "{}: {}", rules.text(from),
                   best.value);
    if (depth == 0) return best;
    ++expanded;
    const std::size_t first = line.size();
    const std::size_t count = checked_moves(rules, from, last, line);
    if (count == 0) return best;
    best.value = -kValueMax - 1;
    for (std::size_t i = first; i < first + count && alpha < beta; ++i) {
      const Move child = line[i];
      const int value = -search(child.position, child.move, depth - 1, -beta, -alpha).value;
      if (value > best.value) {
        best.value = value;
        best.move = child.move;
      }
      alpha = std::max(alpha, value);
    }
    line.resize(first);
    return best;
  }
};

}  // namespace

IdaAnswer ida_alone(const OnePlayer& rules, const Position& start, const IdaOptions& options) {
  IdaAnswer answer;
  std::uint32_t next = rules.bound(start);
  answer.solved = next == 0;
  while (!answer.solved && next <= options.length_max) {
    DepthFirst iteration{.rules = rules, .options = options, .bound = next};
    iteration.search(start, kNoMove, 0);
    answer.solved = iteration.found;
    answer.length = answer.solved ? next : 0;
    answer.iterations.push_back({.bound = next,
                                 .expanded = iteration.expanded,
                                 .complete = !iteration.found || options.all_solutions});
    answer.own.expanded += iteration.expanded;
    next = iteration.next_bound;
  }
  answer.total = answer.own;
  return answer;
}

AlphaBetaAnswer alpha_beta_alone(const TwoPlayers& rules, const Position& start,
                                 std::uint8_t depth) {
  Negamax search{.rules = rules};
  AlphaBetaAnswer answer = search.search(start, kNoMove, depth, -kValueMax - 1, kValueMax + 1);
  answer.own.expanded = answer.total.expanded = search.expanded;
  return answer;
}

}  // namespace fairlead::multigame
