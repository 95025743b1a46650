// Searches on ranks find what the sequential ones find, in every world.
#include "tests/multigame/games.h"

namespace fairlead::multigame_test {
namespace {

using multigame::AlphaBetaAnswer;
using multigame::IdaAnswer;
using multigame::IdaOptions;
using multigame::Multigame;
using multigame::Options;
using multigame::Position;

class Searches : public port_test::PerWorld {};

Options without_table(std::uint32_t jobs_per_message) {
  Options options;
  options.jobs_per_message = jobs_per_message;
  options.table_bytes = 0;
  return options;
}

Options with_table(std::size_t bytes) {
  Options options;
  options.table_bytes = bytes;
  return options;
}

// Complete iterations alike, the last one where all of it is asked for.
bool same_iterations(const Multigame& game, const IdaAnswer& got, const IdaAnswer& expected) {
  bool good = MULTIGAME_TEST_CHECK(got.solved == expected.solved, game, got.solved);
  good &= MULTIGAME_TEST_CHECK(got.length == expected.length, game, got.length);
  if (!MULTIGAME_TEST_CHECK(got.iterations.size() == expected.iterations.size(), game,
                            got.iterations.size())) {
    return false;
  }
  for (std::size_t i = 0; i < got.iterations.size(); ++i) {
    const multigame::Iteration& mine = got.iterations[i];
    good &= MULTIGAME_TEST_CHECK(mine.bound == expected.iterations[i].bound, game, mine.bound);
    if (!mine.complete) continue;
    good &=
        MULTIGAME_TEST_CHECK(mine.expanded == expected.iterations[i].expanded, game, mine.expanded);
  }
  return good;
}

TEST_P(Searches, without_a_table_every_iteration_expands_what_the_sequential_one_does) {
  const puzzle::SlidingTiles tiles(3, 0);
  const Position start = tiles.scrambled(5, 60);
  for (const bool all : {false, true}) {
    for (const std::uint16_t local_slack : {std::uint16_t{0}, std::uint16_t{4}}) {
      const IdaOptions ida{.local_slack = local_slack, .all_solutions = all};
      const IdaAnswer alone = multigame::ida_alone(tiles, start, ida);
      ASSERT_TRUE(alone.solved);
      ASSERT_GE(alone.iterations.size(), 3u);
      for (const unsigned ranks : {1u, 2u, 5u}) {
        run_ranks(GetParam(), ranks, without_table(ranks == 2 ? 64 : 4), [&](Multigame& game) {
          const IdaAnswer answer = game.ida(tiles, start, ida);
          bool good = same_iterations(game, answer, alone);
          // Expect: no job lost or made up by the system.
          good &= MULTIGAME_TEST_CHECK(answer.total.looked_up == 0, game, answer.total.looked_up);
          if (all) {
            good &= MULTIGAME_TEST_CHECK(answer.total.jobs_sent == answer.total.jobs_received, game,
                                         answer.total.jobs_sent);
            good &= MULTIGAME_TEST_CHECK(answer.total.dropped == 0, game, answer.total.dropped);
          }
          return good;
        });
      }
    }
  }
}

TEST_P(Searches, with_a_table_the_solution_is_as_long_and_less_is_expanded) {
  const puzzle::SlidingTiles tiles(3, 100);
  const Position start = tiles.scrambled(9, 80);
  const IdaOptions ida{.all_solutions = true};
  const IdaAnswer alone = multigame::ida_alone(tiles, start, ida);
  ASSERT_GE(alone.length, 16u);
  for (const std::size_t table : {std::size_t{64}, std::size_t{1} << 20}) {
    run_ranks(GetParam(), 4, with_table(table), [&](Multigame& game) {
      const IdaAnswer answer = game.ida(tiles, start, ida);
      bool good = MULTIGAME_TEST_CHECK(answer.solved, game, table);
      good &= MULTIGAME_TEST_CHECK(answer.length == alone.length, game, answer.length);
      good &= MULTIGAME_TEST_CHECK(answer.total.expanded <= alone.total.expanded, game,
                                   answer.total.expanded);
      if (table > 64) {
        good &= MULTIGAME_TEST_CHECK(answer.total.hits > 0, game, answer.total.hits);
        good &= MULTIGAME_TEST_CHECK(answer.total.expanded < alone.total.expanded, game,
                                     answer.total.expanded);
      } else {
        // Expect: a table of two positions loses some.
        good &= MULTIGAME_TEST_CHECK(answer.total.replaced > 0, game, answer.total.replaced);
      }
      return good;
    });
  }
}

TEST_P(Searches, of_two_players_have_the_sequential_value) {
  const connect4::Grid grid(5, 4, 50);
  for (const std::size_t table : {std::size_t{0}, std::size_t{1} << 18}) {
    for (const unsigned ranks : {1u, 3u}) {
      run_ranks(GetParam(), ranks, with_table(table), [&](Multigame& game) {
        bool good = true;
        const std::uint8_t one = 1;
        const std::uint8_t three = 3;
        for (const std::uint8_t depth : std::initializer_list<std::uint8_t>{1, 4, 6}) {
          const AlphaBetaAnswer alone = multigame::alpha_beta_alone(grid, {}, depth);
          const AlphaBetaAnswer answer =
              game.alpha_beta(grid, {}, depth, {.local_depth = depth < 6 ? one : three});
          good &= MULTIGAME_TEST_CHECK(answer.value == alone.value, game, answer.value);
          // Expect: a move that is worth it.
          multigame::Move moves[multigame::kMovesMax];
          const std::size_t count = grid.moves({}, multigame::kNoMove, moves);
          bool worth = false;
          for (std::size_t i = 0; i < count; ++i) {
            if (moves[i].move != answer.move) continue;
            worth = -multigame::alpha_beta_alone(grid, moves[i].position,
                                                 static_cast<std::uint8_t>(depth - 1))
                         .value == answer.value;
          }
          good &= MULTIGAME_TEST_CHECK(worth, game, answer.move);
        }
        return good;
      });
    }
  }
}

TEST_P(Searches, follow_each_other_without_a_meeting) {
  const puzzle::SlidingTiles tiles(3, 0);
  const connect4::Grid grid(4, 4, 0);
  run_ranks(GetParam(), 3, with_table(1 << 16), [&](Multigame& game) {
    bool good = true;
    multigame::Counts sum;
    for (unsigned i = 0; i < 12; ++i) {
      // From the goal itself, too.
      const Position start = tiles.scrambled(i, 3 * i);
      const IdaAnswer alone = multigame::ida_alone(tiles, start, {});
      const IdaAnswer answer = game.ida(tiles, start, {});
      good &= MULTIGAME_TEST_CHECK(answer.length == alone.length, game, i);
      sum.add(answer.own);
      if (i % 4 != 0) continue;
      const AlphaBetaAnswer played = game.alpha_beta(grid, {}, 3, {.local_depth = 1});
      good &= MULTIGAME_TEST_CHECK(played.value == multigame::alpha_beta_alone(grid, {}, 3).value,
                                   game, i);
      sum.add(played.own);
    }
    // Expect: what each search says of this rank is all that the rank did.
    good &= MULTIGAME_TEST_CHECK(sum.expanded == game.counts().expanded, game, sum.expanded);
    good &= MULTIGAME_TEST_CHECK(sum.jobs_sent == game.counts().jobs_sent, game, sum.jobs_sent);
    return good;
  });
}

TEST_P(Searches, give_up_beyond_the_longest_length) {
  const puzzle::SlidingTiles tiles(3, 0);
  run_ranks(GetParam(), 2, with_table(1 << 16), [&](Multigame& game) {
    const IdaAnswer answer = game.ida(tiles, tiles.scrambled(9, 80), {.length_max = 12});
    return MULTIGAME_TEST_CHECK(!answer.solved, game, answer.length) &&
           MULTIGAME_TEST_CHECK(answer.iterations.empty() || answer.iterations.back().bound <= 12,
                                game, answer.iterations.size());
  });
}

INSTANTIATE_PORT_TESTS(Searches);

}  // namespace
}  // namespace fairlead::multigame_test
