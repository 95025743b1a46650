#include "fairlead/lci/client/client_side.h"

#include <algorithm>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::lci {

const ClientSide::Page ClientSide::kUnbound{};

void ClientSide::bind(Chan chan, Upcall upcall, Returned returned) {
  FAIRLEAD_CHECK(known(chan), "channel {} of {}", chan, kChannels);
  const std::size_t page = chan / kPage;
  if (pages_[page] == &kUnbound) {
    pages_[page] = new Page();
  }
  (*const_cast<Page*>(pages_[page]))[chan % kPage] = Channel{upcall, returned};
  newly_bound_ = newly_bound_ || !unbound_.empty();
}

void ClientSide::defer(Task task) {
  FAIRLEAD_CHECK(deferred_.size() < kTasksMax + kOwnTasks, "more than {} deferred tasks",
                 kTasksMax);
  deferred_.push_back(task);
}

bool ClientSide::later(const Timer& a, const Timer& b) {
  return a.due != b.due ? a.due > b.due : a.order > b.order;
}

void ClientSide::after(Ps due, Task task) {
  FAIRLEAD_CHECK(timers_.size() < kTasksMax, "more than {} timers", kTasksMax);
  timers_.push_back(Timer{due, timer_order_++, task});
  std::push_heap(timers_.begin(), timers_.end(), &ClientSide::later);
}

void ClientSide::allow() {
  FAIRLEAD_CHECK(held_ > 0, "allow() without hold()");
  --held_;
}

Keep ClientSide::wait_for_bind(Packet* packet, const Arrival& arrival) {
  FAIRLEAD_CHECK(unbound_.size() < kUnboundMax, "channel {} is not bound, {} packets wait for it",
                 arrival.chan, unbound_.size());
  unbound_.push_back(Waiting{packet, arrival});
  return Keep::yes;
}

void ClientSide::give_back(const Arrival& arrival, Post why) {
  const Returned& returned = channel_of(arrival.chan).returned;
  if (returned.run == nullptr) return;
  in_upcall_ = true;
  upcall_lane_ = arrival.lane;
  returned.run(returned.context, arrival, why);
  in_upcall_ = false;
}

int ClientSide::run_bound(void (*release)(void* context, Packet* packet), void* context) {
  newly_bound_ = false;
  std::vector<Waiting> waiting = std::move(unbound_);
  unbound_.clear();
  int ran = 0;
  for (const Waiting& item : waiting) {
    const bool bound = channel_of(item.arrival.chan).upcall.run != nullptr;
    if (deliver(item.packet, item.arrival) == Keep::no) release(context, item.packet);
    ran += bound ? 1 : 0;
  }
  return ran;
}

int ClientSide::run_due(Ps now, void (*release)(void* context, Packet* packet), void* context) {
  int ran = 0;
  if (newly_bound_) ran += run_bound(release, context);
  // Tasks may defer again: those run next time.
  std::vector<Task> tasks = std::move(deferred_);
  deferred_.clear();
  for (const Task& task : tasks) task.run(task.context);
  ran += static_cast<int>(tasks.size());
  while (!timers_.empty() && timers_.front().due <= now) {
    std::pop_heap(timers_.begin(), timers_.end(), &ClientSide::later);
    const Task task = timers_.back().task;
    timers_.pop_back();
    task.run(task.context);
    ++ran;
  }
  return ran;
}

Ps ClientSide::next_due() const {
  if (newly_bound_ || !deferred_.empty()) return Ps{0};
  return timers_.empty() ? kNever : timers_.front().due;
}

}  // namespace fairlead::lci
