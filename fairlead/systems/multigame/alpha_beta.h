// Alpha-beta on many ranks. A position deeper than AlphaBetaOptions::local_depth is a node at the
// owner of its hash, which asks the owners of its children: first for the first one alone, then,
// unless that one's value ends it, for all its younger brothers at the same time. Values come back
// to the parent. A node that is done no longer hears the answers that it waited for. At
// local_depth the owner searches by itself. Every value that is known goes to the table, and is
// used for the same depth only, so that the value of the whole is that of plain minimax.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/systems/multigame/core.h"

namespace fairlead::multigame {

class AlphaBetaDriver {
 public:
  AlphaBetaDriver(Core& core, const TwoPlayers& rules, const AlphaBetaOptions& options);

  AlphaBetaAnswer run(const Position& start, std::uint8_t depth);

  // --- For Core::run_phase().
  bool step();
  void flush();
  void drop();
  Tally tally() const { return {.counts = core_.counts.since(before_)}; }
  void conclude(Control& control);

 private:
  struct Window {
    int alpha;
    int beta;
  };
  struct Value {
    int value;
    std::uint8_t best;
  };
  struct Node {
    Ask ask;  // as it came
    std::uint32_t generation = 0;
    std::uint64_t hash = 0;
    int alpha = 0;
    Value best{};
    std::size_t answered = 0;
    std::vector<Move> moves;
  };

  void begin(const Position& start, std::uint8_t depth);
  // Where the owner will find it.
  void put(Ask ask);
  void take(const Ask& ask);
  void take(const Answer& answer);
  void open(const Ask& ask, std::uint64_t hash);
  // For the value of a node's move.
  void ask_for(std::uint32_t at, std::size_t move);
  void close(std::uint32_t at);
  void answer(const Ask& ask, Value value);

  // Whether the table has a value for the window, which it may narrow; `best` is the move it knows.
  bool known(std::uint64_t hash, const Position& position, std::uint8_t depth, Window& window,
             Value& value);
  void keep(std::uint64_t hash, const Position& position, std::uint8_t depth, const Window& asked,
            const Value& value);
  Value search(const Position& position, std::uint8_t last, std::uint8_t depth, Window window);
  int evaluate(const Position& position) const;

  Core& core_;
  const TwoPlayers& rules_;
  const std::uint8_t local_depth_;
  const Counts before_;
  std::uint16_t serial_ = 0;
  std::vector<Ask> stack_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;  // of nodes_
  std::vector<Move> line_;           // moves of the positions that search() is at
  Value root_{};                     // rank 0
};

}  // namespace fairlead::multigame
