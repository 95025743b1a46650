// What happened to a segment and was not told to the program yet.
#pragma once
#include <deque>

#include "fairlead/base/post.h"
#include "fairlead/systems/sisci/sisci_types.h"

namespace fairlead::sisci {

struct Event {
  sci_segment_cb_reason_t reason;
  Rank node;
  sci_error_t status;
};

class Events {
 public:
  void add(const Event& event) {
    // Who never asks shall not be told for ever: the oldest ones go.
    if (list_.size() == kMost) list_.pop_front();
    list_.push_back(event);
  }
  bool empty() const { return list_.empty(); }
  Event take() {
    const Event event = list_.front();
    list_.pop_front();
    return event;
  }

 private:
  static constexpr std::size_t kMost = 4096;

  std::deque<Event> list_;
};

}  // namespace fairlead::sisci
