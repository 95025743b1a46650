// What every rank that is a process shares, whatever carries its packets: its slot on the board,
// its socket to the guardian.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fairlead/base/check.h"
#include "fairlead/base/fd.h"
#include "fairlead/run/context.h"
#include "fairlead/run/node/board.h"
#include "fairlead/run/node/launched_job.h"
#include "fairlead/run/rank/trace_parts.h"

namespace fairlead::run {

class ProcessContext : public Context {
 public:
  void began(System system) override;
  void ended(System system) override;
  [[noreturn]] void abort_job(int code, const std::string& reason) override;
  // Writes out what the rank's trace holds so far, if it has one.
  void flush_trace();
  // At the end of the program, in its thread: stays until the rank's peers cannot need it.
  virtual void linger() {}
  // At the end of the program: what another launcher has to be told of it.
  void leave();
  // The program exits with `code`. Where another launcher started it, it ends the job if a system
  // it began has not ended: launchers may take code 0 for success, whatever the other ranks wait
  // for.
  void check_exit(int code);
  // The process exits: no thread of ours may run while what it uses is taken down.
  void stop_watching();
  // The job is another launcher's, which is told how the rank ends.
  void adopt(std::unique_ptr<LaunchedJob> launched) { launched_ = std::move(launched); }
  // For set_check_context() on the thread that is this rank.
  const CheckContext& check() const { return check_; }
  std::uint32_t rank() const { return rank_; }
  // What the rank waits in; on the board, where there is one.
  RankCall* rank_call() final { return &call(); }
  RankCall& call() { return board_ ? board_->slot(rank_).call : own_call_; }

 protected:
  // `board` and `life` may be empty: a job of one rank without a launcher. `port` is the derived
  // class's, which calls drop_states() before it goes; `traced`, with --trace, stands before it.
  // `layers` outlives it.
  ProcessContext(std::uint32_t rank, lci::Port& port, TracedRank traced, std::optional<Board> board,
                 Fd life, const LayerCosts& layers = kNoLayerCosts);

 private:
  void refuse_loss(System system);
  // " (rank 3: why it is dead)", where another launcher's job lost some; else empty.
  std::string losses() const;

  std::uint32_t rank_;
  std::uint32_t ranks_;
  TracedRank traced_;
  std::optional<Board> board_;
  Fd life_;
  std::unique_ptr<LaunchedJob> launched_;
  RankCall own_call_{};
  std::atomic<std::uint32_t> open_ = 0;  // bit per System that began and has not ended
  CheckContext check_;
};

}  // namespace fairlead::run
