// One direction of a link, or an interface's way to the node's memory interconnect: carries runs of
// lines one after the other. A run is booked as a whole, so that a line of another that comes in
// the middle of it waits for its end: with 32 lines, 2 us on a link of 1 GB/s at most. What is
// carried in all is exact.
#pragma once
#include <algorithm>

#include "fairlead/base/units.h"

namespace fairlead::hw {

class LineLane {
 public:
  // Takes the lane for `time` from the first moment it is free at or after `at`; returns the end.
  Ps carry(Ps at, Ps time) {
    free_at_ = std::max(free_at_, at) + time;
    busy_ += time;
    return free_at_;
  }
  // Time that it was or will be taken, by what was booked so far.
  Ps busy() const { return busy_; }

 private:
  Ps free_at_{};
  Ps busy_{};
};

}  // namespace fairlead::hw
