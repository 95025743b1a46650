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
  // What the port calls when the fabric did what its composition cannot mend; made before there is
  // a context, so it goes through a link of its own.
  struct FatalLink {
    RankContext* context = nullptr;
    std::string repeat;  // how to see it again
  };
  // In the order they are built on each other.
  struct Parts {
    std::unique_ptr<fabric::Nic> nic;
    std::unique_ptr<fabric::Nic> faulty;  // around nic, with --faults
    std::unique_ptr<FatalLink> fatal;
    std::unique_ptr<lci::Port> port;
  };
  static void end_job(void* link, const std::string& reason);

  RankContext(std::uint32_t rank, Parts parts, std::optional<Board> board, Fd life);

  std::uint32_t rank_;
  Parts parts_;
  std::optional<Board> board_;
  Fd life_;
  CheckContext check_;
};

}  // namespace fairlead::run
