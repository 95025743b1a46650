// The process between the command and the ranks. It starts the ranks, watches them, and ends all
// that descends from it at the first failure or when the command is gone. Being a subreaper it
// inherits every orphan of the job; being in a session of its own it gets no signal from a
// terminal.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/run/job/engine_process.h"
#include "fairlead/run/job/job_plan.h"
#include "fairlead/run/job/job_report.h"
#include "fairlead/run/job/output_relay.h"
#include "fairlead/run/job/rank_process.h"
#include "fairlead/run/node/board.h"

namespace fairlead::run {

class Guardian {
 public:
  // In the freshly forked process, every signal blocked. `control` is the socket to the command,
  // process `command`.
  Guardian(const JobPlan& plan, Board& board, JobReport& report, Fd control, pid_t command);

  // Runs the job to its end; the report is complete then, unless the command is gone.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  struct Ward {
    std::uint32_t rank = 0;
    RankProcess process;
    bool reaped = false;
    std::optional<Clock::time_point> lost_at;  // its program's socket closed before it was reaped
    bool absent = false;  // it ended in order and no program of it had joined the job
  };

  bool settle();
  bool start_engines();
  // The ranks of this node have ended, and those of others may still need its NI engine.
  bool serves_others() const;
  void tell_end();
  void engine_ended(EngineProcess& engine, int status);
  void read_engine(EngineProcess& engine);
  void start_ranks();
  void close_inherited();
  void serve();
  int wait_ms() const;
  void wait_for_events();
  void read_signals();
  void read_control();
  void obey(std::span<const std::byte> message);
  void read_life(Ward& ward);
  // What a rank says.
  void hear(const Ward& ward, std::span<const std::byte> message);
  void forward(int signal);
  void check_deadlines();
  // Ranks that ended without having joined are a failure once others wait for them in the job.
  void check_absent();
  std::string waits_of_running() const;

  void reap();
  void rank_ended(Ward& ward, int status);
  // Whether that was a failure, and whose.
  void judge_end(const Ward& ward, int status);
  void fail(int exit_code, const std::string& text, std::chrono::milliseconds grace);
  void fail_output();
  void end_all();
  bool all_reaped() const { return running_ == 0; }
  bool over() const;

  const JobPlan& plan_;
  Board& board_;
  JobReport& report_;
  Fd control_;
  pid_t command_;
  Fd signals_;
  OutputRelay relay_;
  std::vector<EngineProcess> engines_;  // of the nodes here; pid 0: it has ended
  bool end_told_ = false;               // that the ranks of this node have ended
  bool all_ended_ = false;              // those of all nodes
  std::vector<Ward> wards_;
  std::uint32_t running_ = 0;
  std::uint32_t interrupts_ = 0;
  bool orphaned_ = false;  // the command is gone
  Clock::time_point deadline_;
  std::optional<Clock::time_point> kill_at_;
};

// Files that libfabric's shm provider made for the ranks here and did not remove: they were killed.
void remove_endpoints(const JobPlan& plan);

}  // namespace fairlead::run
