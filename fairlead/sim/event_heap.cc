#include "fairlead/sim/event_heap.h"

#include <algorithm>

namespace fairlead::sim {

void EventHeap::push(const Event& event) {
  std::size_t hole = events_.size();
  events_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!before(event, events_[parent])) break;
    events_[hole] = events_[parent];
    hole = parent;
  }
  events_[hole] = event;
}

Event EventHeap::pop() {
  const Event result = events_.front();
  const Event last = events_.back();
  events_.pop_back();
  if (events_.empty()) return result;
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= events_.size()) break;
    const std::size_t end = std::min(first + kArity, events_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (before(events_[child], events_[least])) least = child;
    }
    if (!before(events_[least], last)) break;
    events_[hole] = events_[least];
    hole = least;
  }
  events_[hole] = last;
  return result;
}

}  // namespace fairlead::sim
