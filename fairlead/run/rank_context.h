// The context of a rank that is a process: its Nic and Port on the job's shared memory, its slot on
// the board, its socket to the guardian.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "fairlead/base/check.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/run/board.h"
#include "fairlead/run/bootstrap_messages.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fd.h"

namespace fairlead::run {

class RankContext final : public Context {
 public:
  // Joins the shared-memory job behind `job_fd` (which stays the caller's) as welcome says. `board`
  // and `life` may be empty: a job of one rank without a launcher.
  static Result<std::unique_ptr<RankContext>> join(const Welcome& welcome, int job_fd,
                                                   std::optional<Board> board, Fd life);
  ~RankContext() override;

  void began(System system) override;
  void ended(System system) override;
  [[noreturn]] void abort_job(int code, const std::string& reason) override;
  std::string processor_name() const override;
  // For set_check_context() on the thread that is this rank.
  const CheckContext& check() const { return check_; }

 private:
  RankContext(std::uint32_t rank, std::unique_ptr<fabric::Nic> nic, std::unique_ptr<lci::Port> port,
              std::optional<Board> board, Fd life);

  std::uint32_t rank_;
  std::unique_ptr<fabric::Nic> nic_;
  std::unique_ptr<lci::Port> port_;
  std::optional<Board> board_;
  Fd life_;
  CheckContext check_;
};

}  // namespace fairlead::run
