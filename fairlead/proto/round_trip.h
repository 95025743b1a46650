// The round trip to one peer as it was measured, and the timeout that follows from it (RFC 6298).
#pragma once
#include <algorithm>

#include "fairlead/base/units.h"

namespace fairlead::proto {

class RoundTrip {
 public:
  // A packet that was sent only once was acknowledged after `length`.
  void measured(Ps length) {
    last_ = length;
    if (!known_) {
      known_ = true;
      mean_ = length;
      deviation_ = length / 2;
      return;
    }
    const Ps off = length > mean_ ? length - mean_ : mean_ - length;
    deviation_ = (deviation_ * 3 + off) / 4;
    mean_ = (mean_ * 7 + length) / 8;
  }
  // Smoothed; 0 before the first one.
  Ps mean() const { return mean_; }
  // As above, but at once the last one where that is much shorter: a peer that was busy and
  // answered late raises the mean for long.
  Ps recent() const { return last_ * 4 < mean_ ? last_ : mean_; }
  // Without an answer for so long, a packet is taken for lost. `first`: before any was measured.
  Ps timeout(Ps first, Ps shortest) const {
    return known_ ? std::max(mean_ + deviation_ * 4, shortest) : first;
  }

 private:
  Ps mean_{};
  Ps deviation_{};
  Ps last_{};
  bool known_ = false;
};

}  // namespace fairlead::proto
