// 4-ary min-heap of events: the far future of the wheel, and what arrives too late for its sorted
// bucket. Half the depth of a binary heap, and four children share three cache lines.
#pragma once
#include <cstddef>
#include <vector>

#include "fairlead/sim/event.h"

namespace fairlead::sim {

class EventHeap {
 public:
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  const Event& top() const { return events_.front(); }
  void push(const Event& event);
  Event pop();

 private:
  static constexpr std::size_t kArity = 4;

  std::vector<Event> events_;
};

}  // namespace fairlead::sim
