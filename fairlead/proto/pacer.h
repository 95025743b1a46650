// When packets may leave so that what a window allows is spread over the round trip (RFC 9002,
// section 7.7): a burst that leaves at the sender's speed overflows short queues on a slower way,
// however right its size. Credit for packets, earned one each interval. What leaves together is
// what a slice of time earns, so that sending many by one call stays worth it on a fast way.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"

namespace fairlead::proto {

class Pacer {
 public:
  struct Options {
    std::uint32_t burst = 8;      // packets that leave at once after a pause, however slow the way
    Ps slice = microseconds(5);   // packets wait for each other so long: what little queues hold
    Ps late = microseconds(100);  // what was earned and fetched so late counts: a nap takes 60 us
  };

  Pacer() : Pacer(Options{}) {}
  explicit Pacer(const Options& options) : options_(options), credit_(options.burst) {}

  // Whether `ready` packets may leave now, whatever the interval.
  [[nodiscard]] bool may_all(std::uint32_t ready) {
    if (credit_ < ready) return false;
    held_ = false;
    return true;
  }
  // So many of `ready` packets may leave now, all of them or a slice at least; 0: those that wait
  // may at due(). `interval`: a packet each, on average; 0: as fast as they can.
  [[nodiscard]] std::uint32_t may_leave(Ps now, Ps interval, std::uint32_t ready) {
    if (interval.count <= 0) {
      held_ = false;
      return ready;
    }
    if (may_all(ready)) return ready;
    const std::uint32_t slice = packets_of(options_.slice, interval);
    const std::uint32_t late = held_ ? packets_of(options_.late, interval) : 0;
    earn(now, interval, std::max(options_.burst, slice) + late);
    const std::uint32_t together = std::min(ready, slice);
    held_ = credit_ < together;
    if (!held_) return std::min(credit_, ready);
    due_ = since_ + interval * static_cast<std::int64_t>(together - credit_);
    return 0;
  }
  void left(std::uint32_t packets) { credit_ -= std::min(credit_, packets); }
  // Packets wait for their time, and when it comes.
  bool held() const { return held_; }
  Ps due() const { return due_; }

 private:
  // At least two: each call has a cost here and at the receiver.
  static std::uint32_t packets_of(Ps time, Ps interval) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(time.count / interval.count, 2, kPacketsMax));
  }
  void earn(Ps now, Ps interval, std::uint32_t most) {
    const std::int64_t earned = std::max<std::int64_t>((now - since_).count / interval.count, 0);
    if (earned + credit_ >= most) {
      credit_ = std::max(credit_, most);
      since_ = now;
    } else {
      credit_ += static_cast<std::uint32_t>(earned);
      since_ += interval * earned;
    }
  }

  static constexpr std::int64_t kPacketsMax = 1 << 20;

  Options options_;
  std::uint32_t credit_;  // packets
  bool held_ = false;
  Ps since_{};  // credit was earned up to then
  Ps due_{};
};

}  // namespace fairlead::proto
