// The clock of a modelled rank, on the rank's task: it may be ahead of the engine's until the rank
// meets the rest of the machine; and how the rank sleeps until there is something new.
#pragma once
#include "fairlead/base/trace.h"
#include "fairlead/base/units.h"
#include "fairlead/sim/engine.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {

class RankClock {
 public:
  explicit RankClock(sim::Engine& engine) : engine_(engine) {}
  RankClock(const RankClock&) = delete;
  RankClock& operator=(const RankClock&) = delete;

  // The task whose time the calls below take; before the first of them.
  void run_on(sim::Task& task) { task_ = &task; }
  // Shows on the host's line when it sleeps.
  void trace(TraceLane lane) { trace_ = lane; }

  Ps now() const { return ahead() ? local_ : engine_.now(); }
  bool ahead() const { return local_ > engine_.now(); }
  // The rank has come to `time`, which is not before now().
  void set(Ps time) { local_ = time; }
  // Lets the rest of the machine catch up with it.
  void sync();

  // Something new for the rank, which wakes it where it sleeps.
  void wake();
  // Until `deadline` or something new. Not at all where `news`, or where something came since it
  // slept last. `what` is shown when the job hangs.
  void sleep(Ps deadline, bool news, const char* what);
  // Until somebody calls wake_task(), whatever else is new.
  void block(const char* what) { task_->block(what); }
  void wake_task() { task_->wake(engine_.now()); }
  // For a rank that computes and may be interrupted: until `deadline` or, between waits(true) and
  // waits(false), until something is new.
  void block_until(Ps deadline, const char* what) { (void)task_->block_until(deadline, what); }
  void waits(bool waiting) { waiting_ = waiting; }

 private:
  sim::Engine& engine_;
  sim::Task* task_ = nullptr;
  TraceLane trace_;
  Ps local_{};
  bool waiting_ = false;
  bool news_ = false;  // something came since it slept last
};

}  // namespace fairlead::fabric::model
