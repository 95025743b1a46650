// A job of processes on this machine, seen from the command: forks the guardian, forwards signals,
// and stands in should the guardian be killed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/fabric/engine/queues.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/job/job_plan.h"
#include "fairlead/run/job/job_watch.h"
#include "fairlead/run/run_report.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

// The command's end of its socket to the guardian, for a JobWatch.
class GuardianLink {
 public:
  // `control` and `signals` (a signalfd; -1: none) outlive it.
  GuardianLink(int control, int signals) : control_(control), signals_(signals) {}
  // Forwards what signals have come; true once the guardian has ended and everything it said was
  // taken. A microsecond.
  [[nodiscard]] bool over();
  // Takes what a rank of several nodes told through the guardian; nullopt: nothing more is there.
  std::optional<AddressNote> receive();
  // receive() has met it: the ranks of this node have ended, and its NI engine serves others' until
  // all_ended().
  bool ranks_ended() const { return ranks_ended_; }
  void all_ended();
  // Blocks until over() or receive() may have something to do.
  void wait();
  // Blocks until over(). What the guardian still says is dropped: a note that nobody takes would
  // keep the socket readable, and the end out of sight behind it.
  void await_end();
  // Sends a signal to every rank; the second SIGINT or SIGTERM kills them.
  void signal(int number);
  // Readable when over() or receive() has something to do.
  int control() const { return control_; }
  // Ends every rank; `reason` is what is reported, cut to AbortNote::kReasonBytes - 1.
  void abort(int code, const std::string& reason);

 private:
  int control_;
  int signals_;
  bool ranks_ended_ = false;
};

// Adds what went wrong after the job, unless it had failed already.
void add_failure(RunReport& report, const Error& error);

// Runs ranks as processes on shared memory. `plan.options` are checked; ground, binding,
// rank_signals, rank_files and stdin_is_foreign are filled in here. Threads and children: see
// launcher.h.
Result<RunReport> run_job(JobPlan plan);

// As above, on what plan.ground says, with plan.binding as given; the counters are the caller's.
Result<RunReport> run_job_on(JobPlan plan);

// Adds to the report what each rank has counted, and the sum.
void collect_counters(const fabric::ShmJob& job, RunReport& report);

// Adds what the NI engines of these nodes did to what their first ranks have counted, and to the
// sum.
void collect_engine_counters(const fabric::ShmJob& job, const NodeMap& nodes, Peer first, Peer end,
                             RunReport& report);

}  // namespace fairlead::run
