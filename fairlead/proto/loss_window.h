// How many packets may be under way to one peer: the window grows while it is used, doubling each
// round trip until a loss or until no more comes through, and shrinks with the share of packets
// lost (as DCTCP's does with marks), so that random loss costs little and a queue that overflows
// drains. A round is the packets that were under way when the one before it ended.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"

namespace fairlead::proto {

class LossWindow {
 public:
  // `first` packets to begin with, never more than `most`; the first packet has number `number`.
  LossWindow(std::uint32_t first, std::uint32_t most, std::uint32_t number)
      : most_(most * kFraction), window_(std::min(first, most) * kFraction), round_end_(number) {}

  std::uint32_t packets() const { return window_ / kFraction; }
  // A packet was lost within the last rounds: those that follow are spread over the round trip.
  bool is_careful() const { return careful_rounds_ > 0; }

  // A packet leaves, and nothing else is under way.
  void resumed() { paused_ = true; }
  // `taken` packets of the `out` that were under way were acknowledged for the first time. All
  // before `base` have come, and `next` is the next to leave.
  void acknowledged(Ps now, std::uint32_t taken, std::uint32_t out, std::uint32_t base,
                    std::uint32_t next) {
    round_acked_ += taken;
    // A window that is not used tells nothing of what the way holds (RFC 7661).
    if (2 * out >= packets()) {
      used_ = true;
      grow(taken);
    }
    if (static_cast<std::int32_t>(base - round_end_) > 0) end_round(now, next);
  }
  // A packet was found lost by what came after it.
  void lost() {
    threshold_ = std::min(threshold_, window_);
    ++round_lost_;
    careful_rounds_ = kCarefulRounds;
  }
  // A timeout after another one: more than a packet was lost, or the peer looks away.
  void timed_out_again() {
    shrink(kFraction);
    threshold_ = window_;
    ++round_lost_;
  }

  static constexpr std::uint32_t kLeast = 4;  // packets: so many can overtake a lost one

 private:
  // The unit in which the window and the share of lost packets are counted.
  static constexpr std::uint32_t kFraction = 1024;
  static constexpr std::uint32_t kFullRounds = 2;       // without more: no more doubling
  static constexpr std::uint32_t kCarefulRounds = 256;  // after a loss: spread out

  void grow(std::uint32_t taken) {
    const bool fast = window_ < threshold_;
    const std::uint32_t more =
        fast ? taken * kFraction
             : std::max<std::uint32_t>(
                   1, static_cast<std::uint32_t>(std::uint64_t{taken} * kFraction * kFraction /
                                                 window_));
    window_ = std::min(window_ + more, most_);
  }
  // Once a round trip: the window follows the share of what was lost.
  void end_round(Ps now, std::uint32_t next) {
    const std::uint32_t all = round_acked_ + round_lost_;
    const std::uint32_t share = all == 0 ? 0 : std::min(kFraction, round_lost_ * kFraction / all);
    loss_share_ = (loss_share_ * 15 + share) / 16;
    if (round_lost_ > 0) {
      shrink(std::max(loss_share_, share / 2) + 2 * share * share / kFraction);
      threshold_ = window_;
    } else if (careful_rounds_ > 0) {
      --careful_rounds_;
    } else if (window_ < threshold_ && used_ && !paused_) {
      find_full(now);
    }
    used_ = paused_ = false;
    round_at_ = now;
    round_acked_ = round_lost_ = 0;
    round_end_ = next;
  }
  // A window that has doubled several times, and no more came through: it is large enough.
  void find_full(Ps now) {
    const std::int64_t each = (now - round_at_).count / std::max(round_acked_, 1u);
    if (full_each_ == 0 || each * 5 < full_each_ * 4) {
      full_each_ = each;
      full_rounds_ = 0;
    } else if (++full_rounds_ == kFullRounds) {
      threshold_ = window_;
    }
  }
  // By half of `share`, which may be more than all.
  void shrink(std::uint32_t share) {
    const std::uint32_t kept = 2 * kFraction - std::min(share, 2 * kFraction);
    const auto left = static_cast<std::uint32_t>(std::uint64_t{window_} * kept / (2 * kFraction));
    window_ = std::max(left, kLeast * kFraction);
  }

  std::uint32_t most_;  // 1/kFraction of a packet, as the next two
  std::uint32_t window_;
  std::uint32_t threshold_ = UINT32_MAX;  // below it the window doubles every round trip
  std::uint32_t round_end_;               // number of the first packet after the round
  std::uint32_t round_acked_ = 0;
  std::uint32_t round_lost_ = 0;
  std::uint32_t loss_share_ = 0;  // average, of kFraction
  std::uint32_t careful_rounds_ = 0;
  bool used_ = false;    // the window was, in this round
  bool paused_ = false;  // nothing was out, at times in this round
  // While the window doubles: the least time that a packet of a round took, in ps, and rounds
  // since then.
  std::uint32_t full_rounds_ = 0;
  std::int64_t full_each_ = 0;
  Ps round_at_{};  // it began
};

}  // namespace fairlead::proto
