#include "fairlead/sim/timers.h"

#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::sim {

Timer::~Timer() { FAIRLEAD_DCHECK(!armed_, "timer {} is destroyed while armed", id_); }

TimerSet::~TimerSet() { FAIRLEAD_DCHECK(root_ == nullptr, "{} timers are armed", size_); }

// Melds two heaps; either may be null. The roots have no siblings.
Timer* TimerSet::meld(Timer* a, Timer* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (b->before(*a)) std::swap(a, b);
  b->previous_ = a;
  b->next_ = a->child_;
  if (a->child_ != nullptr) a->child_->previous_ = b;
  a->child_ = b;
  return a;
}

// The two passes of a pairing heap: pairs from left to right, then all of them from right to left.
Timer* TimerSet::meld_siblings(Timer* first) {
  Timer* pairs = nullptr;
  while (first != nullptr) {
    Timer* const a = first;
    Timer* const b = a->next_;
    first = b != nullptr ? b->next_ : nullptr;
    a->next_ = a->previous_ = nullptr;
    if (b != nullptr) b->next_ = b->previous_ = nullptr;
    Timer* const pair = meld(a, b);
    pair->next_ = pairs;
    pairs = pair;
  }
  Timer* root = nullptr;
  while (pairs != nullptr) {
    Timer* const rest = pairs->next_;
    pairs->next_ = nullptr;
    root = meld(root, pairs);
    pairs = rest;
  }
  return root;
}

void TimerSet::remove(Timer& timer) {
  Timer* const children = meld_siblings(std::exchange(timer.child_, nullptr));
  if (&timer == root_) {
    root_ = children;
  } else {
    (timer.previous_->child_ == &timer ? timer.previous_->child_ : timer.previous_->next_) =
        timer.next_;
    if (timer.next_ != nullptr) timer.next_->previous_ = timer.previous_;
    timer.next_ = timer.previous_ = nullptr;
    root_ = meld(root_, children);
  }
  timer.armed_ = false;
  --size_;
}

void TimerSet::arm(Timer& timer, Ps deadline) {
  FAIRLEAD_CHECK(deadline >= engine_.now(), "deadline {} ps, now {} ps", deadline.count,
                 engine_.now().count);
  if (timer.armed_) remove(timer);
  timer.at_ = deadline;
  timer.order_ = next_order_++;
  timer.armed_ = true;
  ++size_;
  root_ = meld(root_, &timer);
  if (!firing_) schedule();
}

bool TimerSet::cancel(Timer& timer) {
  if (!timer.armed_) return false;
  remove(timer);
  return true;
}

// Sees to an event at or before the earliest deadline. Cancelling leaves a too early event, which
// re-arms when it fires; an earlier deadline leaves a too late one, which its generation disarms.
void TimerSet::schedule() {
  if (root_ == nullptr || event_at_ <= root_->at_) return;
  event_at_ = root_->at_;
  engine_.at(event_at_, node_, kTimerEvent, &TimerSet::on_event, this, 0, ++generation_);
}

void TimerSet::on_event(void* context, std::uint64_t, std::uint64_t generation) {
  auto& set = *static_cast<TimerSet*>(context);
  if (generation == set.generation_) set.fire_due();
}

void TimerSet::fire_due() {
  event_at_ = kNever;
  firing_ = true;
  while (root_ != nullptr && root_->at_ <= engine_.now()) {
    Timer& timer = *root_;
    remove(timer);
    timer.fired_(timer.context_, timer.id_);
  }
  firing_ = false;
  schedule();
}

}  // namespace fairlead::sim
