// How many packets a sender may have under way to a peer, lane by lane, and what both sides say
// about it: every packet carries how many of each lane its sender has taken.
#pragma once
#include <array>
#include <cstdint>

#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

// One endpoint's view of one peer.
class LaneWindows {
 public:
  static constexpr std::uint32_t kWindow = 128;  // packets per lane
  static constexpr std::uint32_t kBits = 10;     // of a lane's count in an acknowledgment

  LaneWindows() = default;
  // `first`: number of the first packet of a lane, the same at both ends; they wrap.
  explicit LaneWindows(std::uint32_t first) {
    for (auto* const each : {&sent_, &taken_there_, &come_, &taken_, &told_}) each->fill(first);
  }

  // --- What goes there
  bool open(std::uint32_t lane) const { return sent_[lane] - taken_there_[lane] < kWindow; }
  // The number of the packet that goes now.
  std::uint32_t send(std::uint32_t lane) { return sent_[lane]++; }
  // False: it counts what was never sent.
  [[nodiscard]] bool acknowledged(std::uint32_t acknowledgment) {
    std::array<std::uint32_t, kLanes> taken = taken_there_;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      taken[lane] += ((acknowledgment >> (lane * kBits)) - taken[lane]) & kMask;
      if (taken[lane] - taken_there_[lane] > sent_[lane] - taken_there_[lane]) return false;
    }
    taken_there_ = taken;
    return true;
  }
  bool all_taken() const { return sent_ == taken_there_; }
  std::uint32_t total_sent() const { return sent_[0] + sent_[1] + sent_[2]; }

  // --- What comes from there
  // False: a packet with this number is not the next one.
  [[nodiscard]] bool came(std::uint32_t lane, std::uint32_t number) {
    if (number != come_[lane]) return false;
    ++come_[lane];
    return true;
  }
  std::uint32_t next(std::uint32_t lane) const { return come_[lane]; }
  // The client has had a packet. True: the peer should be told soon.
  bool take(std::uint32_t lane) { return ++taken_[lane] - told_[lane] >= kWindow / 2; }
  bool owes() const { return taken_ != told_; }
  // What the packet that goes now says.
  std::uint32_t acknowledgment() {
    told_ = taken_;
    std::uint32_t all = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      all |= (taken_[lane] & kMask) << (lane * kBits);
    }
    return all;
  }

 private:
  static constexpr std::uint32_t kMask = (1u << kBits) - 1;
  static_assert(2 * kWindow <= kMask && kLanes * kBits <= 32);

  std::array<std::uint32_t, kLanes> sent_{};
  std::array<std::uint32_t, kLanes> taken_there_{};
  std::array<std::uint32_t, kLanes> come_{};
  std::array<std::uint32_t, kLanes> taken_{};
  std::array<std::uint32_t, kLanes> told_{};
};

}  // namespace fairlead::fabric
