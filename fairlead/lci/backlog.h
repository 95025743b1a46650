// What the parts of a port could not send yet: each has a queue of its own, and one number tells
// whether any of them holds something. A look at each queue would be a cache line each, at every
// poll.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fairlead/base/ring.h"

namespace fairlead::lci {

struct Backlog {
  std::uint32_t items = 0;
  std::uint32_t armed = 0;  // operations that wait for a counter (triggers.h): looked at, not sent
};

// A first-in first-out queue whose entries count in a backlog, which outlives it.
template <class T>
class BacklogQueue {
 public:
  explicit BacklogQueue(Backlog& backlog) : backlog_(backlog) {}

  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return queue_.size(); }
  T& front() { return queue_.front(); }
  const T& front() const { return queue_.front(); }
  // The i-th from the front.
  T& operator[](std::size_t i) { return queue_[i]; }

  void push_back(T value) {
    queue_.push_back(std::move(value));
    ++backlog_.items;
  }
  void pop_front() {
    queue_.pop_front();
    --backlog_.items;
  }

 private:
  Backlog& backlog_;
  Ring<T> queue_;
};

}  // namespace fairlead::lci
