#include "fairlead/sim/resource.h"

namespace fairlead::sim {

void Holding::account(Ps now) {
  FAIRLEAD_CHECK(now >= since_, "{} ps after {} ps", now.count, since_.count);
  held_ = held(now);
  waited_ = waited(now);
  since_ = now;
}

Grant Holding::acquire(Waiter& waiter, Ps now) {
  FAIRLEAD_CHECK(!waiter.queued_, "waiter {} is in a queue already", waiter.id);
  account(now);
  if (free_ > 0) {
    --free_;
    return Grant::now;
  }
  waiter.queued_ = true;
  waiter.next_ = nullptr;
  waiter.previous_ = last_;
  (last_ != nullptr ? last_->next_ : first_) = &waiter;
  last_ = &waiter;
  ++waiting_;
  return Grant::later;
}

void Holding::unlink(Waiter& waiter) {
  (waiter.previous_ != nullptr ? waiter.previous_->next_ : first_) = waiter.next_;
  (waiter.next_ != nullptr ? waiter.next_->previous_ : last_) = waiter.previous_;
  waiter.queued_ = false;
  --waiting_;
}

void Holding::release(Ps now) {
  FAIRLEAD_CHECK(free_ < capacity_, "a unit nobody holds, of {}", capacity_);
  account(now);
  if (first_ == nullptr) {
    ++free_;
    return;
  }
  Waiter& next = *first_;
  unlink(next);
  next.granted(next, now);
}

bool Holding::cancel(Waiter& waiter, Ps now) {
  if (!waiter.queued_) return false;
  account(now);
  unlink(waiter);
  return true;
}

}  // namespace fairlead::sim
