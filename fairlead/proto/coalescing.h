// When small packets are held back so that several share a frame (coalescing): a packet that
// follows another one soon waits for more, until its client waits itself, the frame is full, or the
// client turns out to do other things between its calls. Nagle's idea with the time of one system
// call in the place of a round trip. No clock, no queue: it says whether what was posted leaves
// now.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "fairlead/base/units.h"

namespace fairlead::proto {

struct CoalescingOptions {
  // How soon a packet must follow another one to wait for more: twice the time that sending a small
  // frame takes here, within these.
  Ps burst_min;
  Ps burst_max;
  // A client that let packets wait so long does other things between its calls: the next packets
  // leave at once, so many more of them each time.
  Ps forgotten;
  std::uint32_t eager_first;
  std::uint32_t eager_max;
};

// One for all flows of an endpoint: how soon is soon.
class BurstLength {
 public:
  explicit BurstLength(const CoalescingOptions& options)
      : options_(options), length_(options.burst_min) {}
  Ps length() const { return length_; }
  // Handing a small frame to the fabric took so long.
  void sent_one(Ps took) {
    cost_ = (cost_ * 7 + std::min(took, options_.burst_max / 2)) / 8;
    length_ = std::max(options_.burst_min, cost_ * 2);
  }

 private:
  CoalescingOptions options_;
  Ps cost_{};  // smoothed
  Ps length_;
};

// One for each flow.
class Coalescing {
 public:
  explicit Coalescing(const CoalescingOptions& options) : penalty_(options.eager_first / 2) {}

  // Something waits for more to share its frame.
  bool holds() const { return holds_; }
  // A packet was put into the frame under construction. True: the frame leaves now. `burst`: a
  // packet that comes within it after the last one left is one of several; 0: none is. `full`: as
  // much waits as leaves at once.
  [[nodiscard]] bool posted(Ps now, Ps burst, bool full) {
    const bool soon = now - left_ < burst;
    if (eager_ > 0) --eager_;
    if (full || !soon || eager_ > 0) return true;
    if (!holds_) since_ = now;
    holds_ = true;
    return false;
  }
  // What was held back may leave: returns whether there was anything.
  bool release() { return std::exchange(holds_, false); }
  // A frame has left.
  void left(Ps now) { left_ = now; }
  // The client waits, and what it posted leaves, which was held back for its next packet until now.
  void client_waits(const CoalescingOptions& options, Ps now) {
    if (holds_ && now - since_ > options.forgotten) {
      penalty_ = std::min(penalty_ * 2, options.eager_max);
      eager_ = penalty_;
    } else if (eager_ == 0) {
      penalty_ = options.eager_first / 2;
    }
  }

 private:
  bool holds_ = false;
  std::uint32_t eager_ = 0;     // packets that leave at once
  std::uint32_t penalty_;       // so many the last time
  Ps left_{-kNever.count / 2};  // when something last did
  Ps since_{};                  // it holds something since then
};

}  // namespace fairlead::proto
