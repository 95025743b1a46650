// Rules that break their contract, queues that overflow and ranks that are lost end the job with
// the rank and the place.
#include <csignal>
#include <regex>
#include <string>

#include "tests/expect_words.h"
#include "tests/multigame/games.h"

namespace fairlead::multigame_test {
namespace {

using multigame::Move;
using multigame::Multigame;
using multigame::Options;
using multigame::Position;

// A word of a hundred letters; a move appends one.
class Letters : public multigame::OnePlayer {
 public:
  const char* name() const override { return "letters"; }
  std::size_t moves(const Position& from, std::uint8_t, std::span<Move> to) const override {
    for (std::uint64_t i = 0; i < 4; ++i) {
      to[i] = {{{4 * from.words[0] + i + 1, from.words[1] + 1, 0}}, static_cast<std::uint8_t>(i)};
    }
    return 4;
  }
  std::uint16_t bound(const Position& at) const override {
    return static_cast<std::uint16_t>(100 - at.words[1]);
  }
};

class OtherHash : public Letters {
 public:
  explicit OtherHash(Rank self) : self_(self) {}
  std::uint64_t hash(const Position& position) const override {
    // From the seventh letter on it differs from rank to rank.
    const std::uint64_t wrong = position.words[1] < 7 ? 0 : std::uint64_t{self_} << 30;
    return multigame::hash_of(position) ^ wrong;
  }

 private:
  Rank self_;
};

class ManyMoves : public Letters {
 public:
  std::size_t moves(const Position& from, std::uint8_t last, std::span<Move> to) const override {
    return Letters::moves(from, last, to) + (from.words[1] == 3 ? multigame::kMovesMax : 0);
  }
};

class Rich : public multigame::TwoPlayers {
 public:
  const char* name() const override { return "rich"; }
  std::size_t moves(const Position& from, std::uint8_t, std::span<Move> to) const override {
    to[0] = {{{from.words[0] + 1, 0, 0}}, 0};
    return 1;
  }
  int evaluate(const Position& at) const override { return at.words[0] < 5 ? 0 : 40'000; }
};

// One world of each kind: what is tested is the system's own.
class Errors : public ::testing::TestWithParam<std::string> {
 protected:
  std::string failure_of(const Options& options,
                         const std::function<bool(Multigame&)>& program) const {
    const run::RunReport report = run_bare(port_test::options_of(GetParam(), 3), options, program);
    EXPECT_NE(report.exit_code, 0);
    return report.failure;
  }
};

TEST_P(Errors, a_hash_that_differs_is_named_with_rank_and_position) {
  const std::string failure = failure_of({}, [](Multigame& game) {
    (void)game.ida(OtherHash(game.self()), {}, {});
    return true;
  });
  expect_words(failure, {"rank ", "the hash of letters is not deterministic", "Rules::hash"});
  // Expect: a word whose hash differs. On real networks a longer one may come first.
  std::smatch position;
  ASSERT_TRUE(std::regex_search(failure, position,
                                std::regex("position [0-9a-f]{16} ([0-9a-f]{16}) 0{16} ")))
      << failure;
  const unsigned long letters = std::stoul(position[1], nullptr, 16);
  EXPECT_GE(letters, 7u) << failure;
  EXPECT_LE(letters, 100u) << failure;
}

TEST_P(Errors, more_moves_than_fit) {
  const std::string failure = failure_of({}, [](Multigame& game) {
    (void)game.ida(ManyMoves(), {}, {});
    return true;
  });
  expect_words(failure, {"rank ", "the rules of letters answer 68 moves of position ",
                         "0000000000000003 0000000000000000", "at most 64"});
}

TEST_P(Errors, a_value_beyond_the_limit) {
  const std::string failure = failure_of({}, [](Multigame& game) {
    (void)game.alpha_beta(Rich(), {}, 6, {.local_depth = 1});
    return true;
  });
  expect_words(failure, {"rank ", "the rules of rich give position 0000000000000005",
                         "a value of 40000, beyond 32000"});
}

TEST_P(Errors, more_jobs_than_may_wait) {
  Options options;
  options.jobs_max = 50;
  const std::string failure = failure_of(options, [](Multigame& game) {
    (void)game.ida(Letters(), {}, {});
    return true;
  });
  expect_words(failure, {"jobs wait in rank ", "Options::jobs_max (50)", "raise it"});
}

TEST_P(Errors, options_are_looked_at) {
  run::WorldOptions world = port_test::options_of(GetParam(), 1);
  const Result<run::RunReport> report = run::run_world(world, [](run::Context& rank) {
    Options options;
    options.jobs_per_message = 0;
    const Result<Multigame*> zero = Multigame::start(rank, options);
    options.jobs_per_message = 1025;
    const Result<Multigame*> many = Multigame::start(rank, options);
    options = {};
    options.positions_per_poll = 0;
    const Result<Multigame*> never = Multigame::start(rank, options);
    const auto says = [](const Result<Multigame*>& answer, const char* what) {
      return !answer.ok() && answer.error().text.find(what) != std::string::npos;
    };
    const bool good = says(zero, "jobs_per_message") && says(many, "1025") &&
                      says(never, "positions_per_poll") && Multigame::of(rank) == nullptr;
    Result<Multigame*> right = Multigame::start(rank, {});
    if (!right.ok() || Multigame::of(rank) != right.value()) return 1;
    const bool twice = says(Multigame::start(rank, {}), "before");
    right.value()->stop();
    return good && twice && Multigame::of(rank) == nullptr ? 0 : 1;
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
}

INSTANTIATE_PORT_TESTS_IN(Errors, ::testing::Values("loop", "shm", "udp", "myrinet-p3/pio"));

class LostRanks : public ::testing::TestWithParam<std::string> {};

TEST_P(LostRanks, end_the_job_with_their_number) {
  const run::RunReport report =
      run_bare(port_test::options_of(GetParam(), 3), {}, [](Multigame& game) {
        const puzzle::SlidingTiles tiles(4, 0);
        (void)game.ida(tiles, tiles.scrambled(1, 30), {});
        if (game.self() == 2) std::raise(SIGKILL);
        // Far more than there is time for.
        (void)game.ida(tiles, *tiles.position(puzzle::kKorf[2].tiles), {});
        return true;
      });
  EXPECT_NE(report.exit_code, 0);
  expect_words(report.failure, {"rank 2"});
}

INSTANTIATE_PORT_TESTS_IN(LostRanks, ::testing::Values("shm", "udp", "lossy", "nirx"));

TEST(LostModelledRanks, end_the_job_with_their_number) {
  run::WorldOptions world = port_test::options_of("myrinet-p3/sdma", 3);
  world.faults = "kill=2@2ms";
  const run::RunReport report = run_bare(world, {}, [](Multigame& game) {
    const puzzle::SlidingTiles tiles(4, 300);
    (void)game.ida(tiles, *tiles.position(puzzle::kKorf[8].tiles), {});
    return true;
  });
  EXPECT_NE(report.exit_code, 0);
  expect_words(report.failure, {"rank 2"});
}

}  // namespace
}  // namespace fairlead::multigame_test
