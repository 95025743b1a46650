// IDA* on many ranks: one phase of Core an iteration. Every position within the bound is a job of
// its owner, whose table tells whether it was reached before in this iteration.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/systems/multigame/core.h"

namespace fairlead::multigame {

class IdaDriver {
 public:
  IdaDriver(Core& core, const OnePlayer& rules, const IdaOptions& options);

  IdaAnswer run(const Position& start);

  // --- For Core::run_phase().
  bool step();
  void flush() { core_.flush(core_.jobs); }
  void drop();
  Tally tally() const;
  void conclude(Control&) {}

 private:
  void begin(const Position& start, std::uint16_t lower);
  void search(const Job& job);
  // False: searched before in this iteration, by no more moves.
  bool enter(const Job& job, std::uint64_t hash);
  void meet(const Move& child, std::uint16_t made);

  Core& core_;
  const OnePlayer& rules_;
  const IdaOptions options_;
  const Counts before_;
  std::vector<Job> stack_;  // the deepest on top
  std::uint16_t bound_ = 0;
  std::uint32_t next_bound_ = UINT32_MAX;
  bool found_ = false;
};

}  // namespace fairlead::multigame
