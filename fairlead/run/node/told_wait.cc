#include "fairlead/run/node/told_wait.h"

#include <cstring>

#include "fairlead/base/wait_ladder.h"

namespace fairlead::run {

void ToldWait::tell(CallFacts facts) {
  if (facts_) {
    facts.since_ns = facts_->since_ns;
  } else {
    facts.since_ns =
        waits_.is_real_ ? monotonic_ns() : waits_.port_.now().count / nanoseconds(1).count;
    earlier_ = std::exchange(waits_.latest_, this);
  }
  facts.is_virtual = !waits_.is_real_;
  facts_ = facts;
  if (waits_.latest_ == this) waits_.call_->set(read());
}

const CallFacts& ToldWait::read() const {
  const bool is_part =
      earlier_ != nullptr && std::strcmp(earlier_->facts_->call, facts_->call) == 0;
  return is_part ? earlier_->read() : *facts_;
}

// Waits of other threads may have begun later and last longer.
void ToldWait::over() {
  if (waits_.latest_ != this) {
    ToldWait* later = waits_.latest_;
    while (later->earlier_ != this) later = later->earlier_;
    later->earlier_ = earlier_;
    return;
  }
  waits_.latest_ = earlier_;
  earlier_ != nullptr ? waits_.call_->set(earlier_->read()) : waits_.call_->end();
}

}  // namespace fairlead::run
