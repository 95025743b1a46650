// Multigame: from the rules of a board game it plays it, by a parallel search of the game's tree.
// LCI paper section 6.2. Positions that were searched are kept in a hash table that is partitioned
// over the ranks; a position is sent as a job to the owner of its entry, which looks it up and
// searches on (transposition-table-driven scheduling). Jobs are collected per destination and sent
// so many at a time. One rank's Multigame stands on its Panda-ST.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/run/context.h"

namespace fairlead::multigame {

struct Core;  // internal

// What tells two positions of a game apart and all that the rules need to play on from one, packed
// by the rules as they like: equal positions have equal bytes. Not in it: how it was reached.
struct Position {
  std::array<std::uint64_t, 3> words{};

  friend bool operator==(const Position&, const Position&) = default;
};

// A position and the move that led to it; the meaning of `move` is the rules' own.
struct Move {
  Position position;
  std::uint8_t move = 0;
};
constexpr std::uint8_t kNoMove = 0xff;
constexpr std::size_t kMovesMax = 64;  // of one position
constexpr int kValueMax = 32'000;      // of a position, either sign

// A good hash of all the bytes, for rules that have no better one.
std::uint64_t hash_of(const Position& position);

// A game. The system calls it from the rank's thread only, often: no call may block or communicate.
// Every answer depends on the arguments alone and is the same on every rank; what is found to
// differ ends the job with the rank and the position.
class Rules {
 public:
  virtual ~Rules() = default;
  // A string that outlives the rules.
  virtual const char* name() const = 0;
  // Writes what can be reached by one move, at most to.size() (kMovesMax) of them, in an order that
  // does not change, and returns how many there are: more than to.size() ends the job. `last` is
  // the move that led here, which rules may use to leave out the way back, or kNoMove.
  virtual std::size_t moves(const Position& from, std::uint8_t last, std::span<Move> to) const = 0;
  // Decides on the owner (high bits) and the place in the owner's table (low bits).
  virtual std::uint64_t hash(const Position& position) const { return hash_of(position); }
  // For messages.
  virtual std::string text(const Position& position) const;
  // Operations that a modelled host takes to expand one position, its moves' hash and bound
  // included (Port::charge). In the real world the code itself runs.
  virtual std::uint64_t ops_per_position() const { return 0; }
};

// A game of one player who looks for the shortest way to a goal.
class OnePlayer : public Rules {
 public:
  // Never more than the moves that are still needed: else what is found may not be the shortest. 0
  // at a goal and nowhere else.
  virtual std::uint16_t bound(const Position& position) const = 0;
};

// A game of two players who move in turn; a position without moves is the end of the game.
class TwoPlayers : public Rules {
 public:
  // The worth for who is to move, from -kValueMax to kValueMax; beyond that the job ends.
  virtual int evaluate(const Position& position) const = 0;
};

struct Options {
  // Jobs that are sent at a time to a rank, 1 to 1024; fewer when a rank has nothing else to do.
  std::uint32_t jobs_per_message = 4;
  // This rank's part of the hash table, 64 bytes for two positions; rounded down to a power of two.
  // 0: no table, every position is searched as often as it is reached.
  std::size_t table_bytes = std::size_t{16} << 20;
  // Jobs that may wait in a rank, 32 or 48 bytes each; one more ends the job naming this option.
  std::size_t jobs_max = std::size_t{1} << 22;
  // Positions that a rank expands between two polls of the network.
  std::uint32_t positions_per_poll = 16;
};

struct IdaOptions {
  // Positions that can be left at most this number of moves worse than the best before they are
  // beyond the bound (bound - made - lower bound < local_slack) are searched where they are
  // reached, without the table: small subtrees are not worth a message. 0: none.
  std::uint16_t local_slack = 0;
  // Ends the last iteration only when all its positions were searched: then what is counted does
  // not depend on which solution is met first.
  bool all_solutions = false;
  std::uint16_t length_max = 1000;  // gives up beyond
};

struct AlphaBetaOptions {
  // Positions that are to be searched so deep or less are searched by the owner alone,
  // sequentially. At least 1.
  std::uint8_t local_depth = 4;
};

// What one rank counted, or the sum over the ranks. Of fixed width, as it travels.
struct Counts {
  std::uint64_t expanded = 0;  // positions whose moves were generated
  std::uint64_t jobs_local = 0, jobs_sent = 0, jobs_received = 0;
  std::uint64_t messages_sent = 0;  // of jobs and answers; a message holds one to jobs_per_message
  std::uint64_t looked_up = 0, hits = 0, stored = 0, replaced = 0;  // of the table
  std::uint64_t dropped = 0;  // jobs thrown away, because the answer was known
  std::uint64_t idle = 0;     // times without a job

  void add(const Counts& other);
  Counts since(const Counts& before) const;
};

struct Iteration {
  unsigned bound = 0;
  std::uint64_t expanded = 0;
  bool complete = true;  // false: a solution ended it
};

struct IdaAnswer {
  bool solved = false;
  unsigned length = 0;  // of the solution
  std::vector<Iteration> iterations;
  Counts own, total;  // of the calling rank, of all
};

struct AlphaBetaAnswer {
  int value = 0;                // for who is to move
  std::uint8_t move = kNoMove;  // one of that value; kNoMove: the game is over
  Counts own, total;
};

// One rank's Multigame. Thread: the rank's. Set-up returns Result; what goes wrong later (a lost
// rank, rules that break their contract, a full queue) ends the job from the rank that sees it,
// with its number, the cause and, of rules, the position (Context::abort_job).
class Multigame {
 public:
  // Makes it on the rank's Panda-ST, which it starts where the program has not; the same options on
  // every rank. Once per context.
  static Result<Multigame*> start(run::Context& context, const Options& options);
  // The one that start() made; nullptr before.
  static Multigame* of(run::Context& context);
  // All ranks: nothing is under way afterwards. Ends Panda where start() started it. The object is
  // gone.
  void stop();
  ~Multigame();

  Rank self() const;
  Rank size() const;

  // All ranks, with the same arguments; the same answer everywhere but for `own`. `rules` and the
  // position are the caller's for the time of the call.
  //
  // Iterative deepening A* (Korf): iterations with a growing limit on made moves plus lower bound.
  // A position that was reached before in the same iteration, by no more moves, is not
  // searched again. Without a table every complete iteration expands exactly the positions of the
  // sequential search.
  IdaAnswer ida(const OnePlayer& rules, const Position& start, const IdaOptions& options);
  // The value of `start` searched `depth` moves deep (at least 1) and its best move: iterative
  // deepening, alpha-beta; brothers of the first child are searched at the same time (young
  // brothers wait). The value is the sequential one, which is plain minimax.
  AlphaBetaAnswer alpha_beta(const TwoPlayers& rules, const Position& start, std::uint8_t depth,
                             const AlphaBetaOptions& options);

  // All ranks: returns when each has called it.
  void barrier();
  // Since the start.
  const Counts& counts() const;

 private:
  explicit Multigame(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

// --- The same searches by one rank alone, without table and messages: what others are compared
// with. A rule that breaks its contract ends the process (CHECK).

IdaAnswer ida_alone(const OnePlayer& rules, const Position& start, const IdaOptions& options);
AlphaBetaAnswer alpha_beta_alone(const TwoPlayers& rules, const Position& start,
                                 std::uint8_t depth);

}  // namespace fairlead::multigame
