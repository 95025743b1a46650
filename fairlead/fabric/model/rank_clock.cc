#include "fairlead/fabric/model/rank_clock.h"

#include "fairlead/hw/resource.h"
#include "fairlead/hw/trace_lines.h"
#include "fairlead/sim/critical_path.h"

namespace fairlead::fabric::model {

void RankClock::sync() {
  if (!ahead()) return;
  if (sim::CriticalPath* path = engine_.path(); path != nullptr) [[unlikely]]
    path->reach(local_, hw::kHostResource);
  task_->sleep_until(local_);
}

void RankClock::wake() {
  news_ = true;
  if (waiting_) wake_task();
}

void RankClock::sleep(Ps deadline, bool news, const char* what) {
  sync();
  const Ps from = engine_.now();
  waiting_ = true;
  if (!news_ && !news && deadline == kNever) {
    task_->block(what);
  } else if (!news_ && !news) {
    (void)task_->block_until(deadline, what);
  }
  waiting_ = false;
  news_ = false;
  if (trace_.on()) trace_.interval(from, engine_.now(), hw::kAsleep);
}

}  // namespace fairlead::fabric::model
