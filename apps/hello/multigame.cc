// From 1 to 100 by adding 1, taking 1 away or doubling, in the fewest moves.
#include <cstdio>

#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/multigame/multigame.h"

FAIRLEAD_FIBER_PROGRAM;

namespace mg = fairlead::multigame;

class Numbers : public mg::OnePlayer {
 public:
  const char* name() const override { return "numbers"; }

  std::size_t moves(const mg::Position& from, std::uint8_t, std::span<mg::Move> to) const override {
    const std::uint64_t n = from.words[0];
    to[0] = {{{n + 1}}, '+'};
    to[1] = {{{n - 1}}, '-'};
    to[2] = {{{2 * n}}, '*'};
    return n == 0 ? 1 : 3;
  }

  // Every move doubles at most.
  std::uint16_t bound(const mg::Position& at) const override {
    std::uint16_t moves = at.words[0] == 100 ? 0 : 1;
    for (std::uint64_t n = at.words[0]; n != 0 && 2 * n < 100; n *= 2) ++moves;
    return moves;
  }
};

int main() {
  const auto rank = fairlead::run::attach();
  if (!rank.ok()) {
    std::fprintf(stderr, "%s\n", rank.error().text.c_str());
    return 1;
  }
  const auto started = mg::Multigame::start(*rank.value(), {});
  if (!started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().text.c_str());
    return 1;
  }
  mg::Multigame& game = *started.value();
  const mg::IdaAnswer answer = game.ida(Numbers(), {{1}}, {});
  if (game.self() == 0) {
    std::printf("100 in %u moves; %llu positions on %u ranks\n", answer.length,
                static_cast<unsigned long long>(answer.total.expanded), game.size());
  }
  game.stop();
  return 0;
}
