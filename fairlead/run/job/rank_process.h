// Starts the process of one rank: everything between fork and exec (or the body).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/run/job/job_plan.h"
#include "fairlead/run/node/board.h"

namespace fairlead::run {

struct RankStart {
  const JobPlan& plan;
  Board& board;
  std::uint32_t rank;
  int bell;  // of its NI engine; -1: it has none
  // Closes what the guardian has open, in a rank that does not exec.
  const std::function<void()>& close_inherited;
};

struct RankProcess {
  pid_t pid = 0;
  Fd life;            // the guardian's end of the rank's socket
  Fd output, errors;  // with --label: read ends of its standard output and error
};

// Called by the guardian. The rank leads a process group of its own, dies with the guardian
// (PDEATHSIG) and has the caller's signal mask, its processor, its standard streams and its
// settings waiting in a socket before its program starts. Error: the kernel refused a process or a
// socket. A program that could not be executed is told on the board (start_errno) and ends with
// 127.
Result<RankProcess> start_rank(const RankStart& start);

}  // namespace fairlead::run
