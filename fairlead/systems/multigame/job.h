// What ranks send each other: jobs and answers, many in a message, and what the end of a search
// takes. All fixed-width, in the byte order of the job's machines.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/base/post.h"
#include "fairlead/systems/multigame/multigame.h"

namespace fairlead::multigame {

// A position of a one-player game that is to be searched: the 32 bytes of the LCI paper's section
// 6.2. Nothing is reported back.
struct Job {
  Position position;
  std::uint16_t check;  // bits of the hash, as its sender saw it
  std::uint16_t made;   // moves from the start
  std::uint16_t lower;  // bound of the position
  std::uint8_t move;    // that led here
  std::uint8_t local;   // 1: searched where it is, without the table
};
static_assert(sizeof(Job) == 32 && std::is_trivially_copyable_v<Job>);

// A position of a two-player game whose value its parent's rank asks for.
struct Ask {
  Position position;
  Rank rank;  // of the parent
  std::uint32_t node;
  std::uint32_t generation;
  std::int16_t alpha;
  std::int16_t beta;
  std::uint16_t check;
  std::uint8_t depth;
  std::uint8_t move;  // that led here
  std::uint32_t unused;
};
static_assert(sizeof(Ask) == 48 && std::is_trivially_copyable_v<Ask>);

struct Answer {
  std::uint32_t node;
  std::uint32_t generation;
  std::int16_t value;  // for who moves in the child
  std::uint8_t move;   // that led to the child
  std::uint8_t best;   // of the child's moves; kNoMove: none
  std::uint32_t unused;
};
static_assert(sizeof(Answer) == 16 && std::is_trivially_copyable_v<Answer>);

// The high half of a hash names the owner, the low bits the place in the owner's table.
inline Rank owner_of(std::uint64_t hash, Rank ranks) {
  return static_cast<Rank>(((hash >> 32) * ranks) >> 32);
}
// Bits of the hash that travel with a position, for its owner to compare.
inline std::uint16_t check_of(std::uint64_t hash) { return static_cast<std::uint16_t>(hash >> 24); }

// Before the jobs of a message: the phase they belong to. Ranks begin a phase one after another.
using Phase = std::uint32_t;

struct Sums {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

// What a phase has found so far, on a rank or on several.
struct Tally {
  Counts counts;
  std::uint32_t next_bound = UINT32_MAX;  // least made + lower bound that was too much
  std::uint32_t found = 0;                // one-player games: 1 when a goal was met

  void add(const Tally& other) {
    counts.add(other.counts);
    if (other.next_bound < next_bound) next_bound = other.next_bound;
    found |= other.found;
  }
};

struct Control {
  enum class Kind : std::uint32_t {
    probe,   // rank 0 to all: a wave of the end's detection begins
    report,  // to the parent in the tree of ranks: the wave has been through this subtree
    found,   // to rank 0: the answer is known
    enough,  // rank 0 to all: so what is left of this phase need not be done
    over,    // rank 0 to all: nothing is under way
  };
  Kind kind{};
  Phase phase = 0;
  std::uint32_t wave = 0;
  std::int32_t value = 0;  // over, of a two-player game; `move` too
  Sums sums;
  Tally tally;
  std::uint8_t move = kNoMove;
};
static_assert(std::is_trivially_copyable_v<Control>);

}  // namespace fairlead::multigame
