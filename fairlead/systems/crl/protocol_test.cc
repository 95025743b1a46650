// Home and remotes together, their messages delivered in any order: random programs on every rank,
// with flushes, while what an operation may see is checked against what was written before it.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/systems/crl/cache.h"
#include "fairlead/systems/crl/directory.h"

namespace fairlead::crl {
namespace {

constexpr Rank kHome = 0;

struct Letter {
  Rank from;
  Rank to;
  Kind kind;
  Version version;
  int content;
};

// One rank's program: it reads, adds one under write, or flushes, over and over.
struct Program {
  enum class Doing : std::uint8_t { nothing, waiting, reading, writing };
  Doing doing = Doing::nothing;
  bool writes = false;
  int left = 0;     // operations
  int content = 0;  // of this rank's copy
};

class Job {
 public:
  Job(std::uint64_t seed, Rank ranks, Version first)
      : prng_(seed), directory_(kHome, first), programs_(ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) caches_.push_back(std::make_unique<Cache>(kHome));
    for (Program& each : programs_) each.left = 40;
  }

  // Until all programs have ended; false: nothing could be done any more.
  bool run() {
    for (int steps = 0; steps < 1'000'000; ++steps) {
      const std::size_t choices = programs_.size() + letters_.size();
      const auto choice = static_cast<std::size_t>(prng_.below(choices));
      if (choice < programs_.size()) {
        step(static_cast<Rank>(choice));
      } else {
        deliver(choice - programs_.size());
      }
      if (letters_.empty() && all_ended()) return true;
    }
    return false;
  }
  int written() const { return written_; }
  int content() const { return latest_; }

 private:
  bool all_ended() const {
    for (const Program& each : programs_) {
      if (each.left > 0 || each.doing != Program::Doing::nothing) return false;
    }
    return true;
  }

  void step(Rank rank) {
    Program& program = programs_[rank];
    switch (program.doing) {
      case Program::Doing::waiting:
        return;
      case Program::Doing::reading:
        // Expect: nobody has written since, as this read is still in progress.
        EXPECT_EQ(program.content, latest_);
        return end(rank);
      case Program::Doing::writing:
        EXPECT_EQ(program.content, latest_);
        latest_ = ++program.content;
        ++written_;
        return end(rank);
      default:
        return begin(rank);
    }
  }

  void begin(Rank rank) {
    Program& program = programs_[rank];
    if (program.left == 0) return;
    if (rank != kHome && prng_.below(4) == 0) {
      caches_[rank]->flush(out_);
      return carry_out(rank);
    }
    --program.left;
    program.writes = prng_.below(2) == 0;
    program.doing = Program::Doing::waiting;
    const bool now =
        rank == kHome
            ? (program.writes ? directory_.start_write(out_) : directory_.start_read(out_))
            : (program.writes ? caches_[rank]->start_write(out_) : caches_[rank]->start_read(out_));
    carry_out(rank);
    if (now) granted(rank);
  }

  void granted(Rank rank) {
    Program& program = programs_[rank];
    ASSERT_EQ(program.doing, Program::Doing::waiting);
    program.doing = program.writes ? Program::Doing::writing : Program::Doing::reading;
    // Expect: a writer is alone, readers are among themselves.
    for (const Program& other : programs_) {
      if (&other == &program) continue;
      EXPECT_NE(other.doing, Program::Doing::writing);
      if (program.writes) {
        EXPECT_NE(other.doing, Program::Doing::reading);
      }
    }
    EXPECT_EQ(program.content, latest_);
  }

  void end(Rank rank) {
    programs_[rank].doing = Program::Doing::nothing;
    rank == kHome ? directory_.end(out_) : caches_[rank]->end(out_);
    carry_out(rank);
  }

  void carry_out(Rank rank) {
    const Actions actions = std::move(out_);
    out_.clear();
    for (const Action& action : actions) {
      if (action.type == Action::Type::granted) {
        granted(rank);
      } else {
        letters_.push_back({rank, action.to, action.kind, action.version, programs_[rank].content});
      }
    }
  }

  void deliver(std::size_t at) {
    const Letter letter = letters_[at];
    letters_.erase(letters_.begin() + static_cast<std::ptrdiff_t>(at));
    Program& program = programs_[letter.to];
    if (letter.to == kHome) {
      if (carries_data(letter.kind)) {
        if (!directory_.takes_data(letter.from, letter.version)) return;
        program.content = letter.content;
      }
      (void)directory_.receive(letter.from, letter.kind, letter.version, out_);
    } else {
      Cache& cache = *caches_[letter.to];
      if (carries_data(letter.kind)) {
        if (!cache.takes_data(letter.version)) return;
        program.content = letter.content;
      }
      (void)cache.receive(letter.kind, letter.version, out_);
    }
    carry_out(letter.to);
  }

  Prng prng_;
  Directory directory_;
  std::vector<std::unique_ptr<Cache>> caches_;
  std::vector<Program> programs_;
  std::vector<Letter> letters_;
  Actions out_;
  int latest_ = 0;
  int written_ = 0;
};

TEST(Protocol, is_coherent_and_ends_whatever_the_order_of_messages) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const Rank ranks = 2 + static_cast<Rank>(seed % 5);
    // Every other job wraps its versions.
    Job job(seed, ranks, seed % 2 == 0 ? 0 : 0xffffffe0);
    ASSERT_TRUE(job.run());
    EXPECT_EQ(job.written(), job.content());
    EXPECT_GT(job.written(), 0);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace fairlead::crl
