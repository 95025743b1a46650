// Selective repeat, the sender's half for one peer: packets are kept until they are acknowledged;
// one is sent again as soon as something sent later has arrived (RFC 8985, RACK), or when a timeout
// that follows the measured round trip (RFC 6298) has passed.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/deadlines.h"
#include "fairlead/proto/loss_window.h"
#include "fairlead/proto/round_trip.h"
#include "fairlead/proto/selective_repeat_options.h"

namespace fairlead::proto {

class SelectiveSender {
 public:
  static constexpr std::uint32_t kNothing = UINT32_MAX;
  struct Again {
    std::uint32_t item;
    std::uint32_t sequence;
  };

  SelectiveSender(const SelectiveRepeatOptions& options, Peer peer)
      : sent_(std::make_unique<Sent[]>(options.window_max)),
        next_(options.first),
        base_(options.first),
        lost_from_(options.first),
        recovered_(options.first),
        last_early_(options.first),
        mask_(options.window_max - 1),
        peer_(peer),
        window_(options.window_first, options.window_max, options.first) {}

  std::uint32_t window() const { return window_.packets(); }
  std::uint32_t free_window() const {
    const std::uint32_t out = next_ - base_;
    return out < window() ? window() - out : 0;
  }
  std::uint32_t unacknowledged() const { return next_ - base_; }
  std::uint32_t lost() const { return lost_; }
  Ps interval() const {
    if (!window_.is_careful()) return Ps{0};
    return trip_.recent() * 4 / (std::int64_t{window()} * 5);
  }
  void measured(Ps round_trip) { trip_.measured(round_trip); }

  // Keeps `item` until it is acknowledged; returns its number.
  std::uint32_t number(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now,
                       std::uint32_t item) {
    FAIRLEAD_DCHECK(next_ - base_ <= mask_, "no room in a window of {}", window());
    if (out_++ == 0) {
      start_timer(options, deadlines, now);
      window_.resumed();
    }
    sent_of(next_) = {item, false, false, false, now};
    return next_++;
  }

  // As SelectiveRepeat::acknowledged(); each(item) for what is acknowledged for the first time.
  template <class Each>
  bool acknowledged(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now,
                    const SelectiveAck& ack, Each&& each) {
    const std::uint32_t news = ack.next - base_;
    if (news > next_ - base_) {
      // An old acknowledgment, overtaken by a later one, tells nothing.
      return static_cast<std::int32_t>(news) < 0;
    }
    if (!possible(ack)) return false;
    const std::uint32_t out = next_ - base_;
    std::uint32_t taken = 0;
    Ps newest_once{-1};  // when the latest was sent of those that were sent once
    const auto take = [&](std::uint32_t sequence) {
      Sent& sent = sent_of(sequence);
      if (sent.acked) return;
      sent.acked = true;
      if (std::exchange(sent.lost, false)) --lost_;
      // It was overtaken, and not lost.
      if (!sent.again && static_cast<std::int32_t>(last_early_ - sequence) > 0) overtakes_ = true;
      --out_;
      ++taken;
      // Nobody knows which copy of a packet sent twice has come, unless the peer names it.
      if (!sent.again) {
        newest_ = std::max(newest_, sent.at);
        newest_once = std::max(newest_once, sent.at);
      }
      each(sent.item);
    };
    newest_ = std::max(newest_, ack.answers);
    for (std::uint32_t i = 0; i < news; ++i) take(base_ + i);
    base_ = ack.next;
    for_each_early(ack, take);
    if (!ack.early.empty()) last_early_ = last_early(ack);
    if (options.measures && newest_once >= Ps{0}) trip_.measured(now - newest_once);
    if (taken > 0) {
      answered(options, deadlines, now);
      window_.acknowledged(now, taken, out, base_, next_);
    } else if (news > 0) {
      answered(options, deadlines, now);
    }
    const bool recovering = static_cast<std::int32_t>(recovered_ - base_) > 0;
    if (out_ > 0 && (!ack.early.empty() || recovering)) find_lost(options);
    return true;
  }

  // The oldest packet that waits to be sent again. There is one.
  Again take_lost(Ps now) {
    if (static_cast<std::int32_t>(base_ - lost_from_) > 0) lost_from_ = base_;
    while (!sent_of(lost_from_).lost) ++lost_from_;
    return {send_again(now, lost_from_), lost_from_};
  }
  // The peer had to drop what it did not acknowledge: all of that waits to be sent again.
  void lose_all() {
    for (std::uint32_t s = base_; s != next_; ++s) {
      Sent& sent = sent_of(s);
      if (sent.acked || sent.lost) continue;
      lose(s, sent);
    }
  }

  bool is_timer(Ps at) const { return at == timer_at_; }
  // Its entry is due. resend(item, sequence), or lost() after the last try.
  template <class Resend, class Lost>
  void run_timeout(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now,
                   Resend&& resend, Lost&& lost) {
    timed_ = false;
    if (base_ == next_) return;
    if (since_ + timeout(options) <= now) {
      since_ = now;
      if (options.tries_max != 0 && tries_ >= options.tries_max) return lost();
      if (out_ == 0) {
        ++tries_;
        resend(kNothing, base_);
      } else {
        if (tries_ > 0) window_.timed_out_again();
        // The first is a question (RFC 8985, tail loss probe): the peer may have been slow, and its
        // answer tells what is lost.
        recovered_ = next_;
        ++tries_;
        std::uint32_t oldest = base_;
        while (sent_of(oldest).acked) ++oldest;
        resend(send_again(now, oldest), oldest);
      }
    }
    set_timer(deadlines, since_ + timeout(options));
  }
  Ps timeout(const SelectiveRepeatOptions& options) const {
    Ps base = trip_.timeout(options.timeout_first, options.timeout_min);
    for (std::uint32_t i = 0; i < tries_ && base < options.timeout_max; ++i) base = base * 2;
    return std::min(base, options.timeout_max);
  }

  // freed(item) for everything that was not acknowledged.
  template <class Freed>
  void forget(Freed&& freed) {
    for (std::uint32_t s = base_; s != next_; ++s) {
      if (const Sent& sent = sent_of(s); !sent.acked) freed(sent.item);
    }
  }

 private:
  static constexpr std::int32_t kOvertaken = 3;
  static_assert(LossWindow::kLeast == kOvertaken + 1);

  struct Sent {
    std::uint32_t item;
    bool acked;
    bool again;  // sent more than once
    bool lost;   // waits to be sent again
    Ps at;       // last
  };
  Sent& sent_of(std::uint32_t sequence) { return sent_[sequence & mask_]; }

  // Nothing is acknowledged that was not sent.
  bool possible(const SelectiveAck& ack) const {
    const std::uint32_t out = next_ - ack.next;
    for (std::size_t w = 0; w < ack.early.size(); ++w) {
      if (ack.early[w] == 0) continue;
      const std::size_t last =
          w * 64 + 63 - static_cast<std::size_t>(std::countl_zero(ack.early[w]));
      if (last >= out) return false;
    }
    return true;
  }
  // The last packet that came early; before ack.next: none has.
  static std::uint32_t last_early(const SelectiveAck& ack) {
    for (std::size_t w = ack.early.size(); w-- > 0;) {
      if (ack.early[w] == 0) continue;
      return ack.next + static_cast<std::uint32_t>(w * 64 + 63) -
             static_cast<std::uint32_t>(std::countl_zero(ack.early[w]));
    }
    return ack.next - 1;
  }
  template <class Take>
  static void for_each_early(const SelectiveAck& ack, Take&& take) {
    for (std::size_t w = 0; w < ack.early.size(); ++w) {
      for (std::uint64_t bits = ack.early[w]; bits != 0; bits &= bits - 1) {
        take(ack.next + static_cast<std::uint32_t>(w * 64) +
             static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
  }

  // What was sent before something that has arrived is lost when it was passed by kOvertaken
  // packets, or by one sent so much later; only then by a whole round trip where packets do
  // overtake each other.
  void find_lost(const SelectiveRepeatOptions& options) {
    const Ps apart = overtakes_ ? std::max(trip_.mean(), options.timeout_min / 16)
                                : std::max(trip_.mean() / 4, options.timeout_min / 16);
    for (std::uint32_t s = base_; s != next_; ++s) {
      Sent& sent = sent_of(s);
      if (sent.acked || sent.lost || sent.at > newest_) continue;
      const bool passed =
          !overtakes_ && !sent.again && static_cast<std::int32_t>(last_early_ - s) >= kOvertaken;
      if (!passed && newest_ - sent.at < apart) continue;
      window_.lost();
      recovered_ = next_;
      lose(s, sent);
    }
  }
  void lose(std::uint32_t sequence, Sent& sent) {
    sent.lost = true;
    if (lost_++ == 0 || static_cast<std::int32_t>(lost_from_ - sequence) > 0) {
      lost_from_ = sequence;
    }
  }
  // Returns its item.
  std::uint32_t send_again(Ps now, std::uint32_t sequence) {
    Sent& sent = sent_of(sequence);
    if (std::exchange(sent.lost, false)) --lost_;
    sent.at = now;
    sent.again = true;
    return sent.item;
  }

  // The peer has moved on: timeouts begin anew.
  void answered(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now) {
    since_ = now;
    // The entry of a timeout that was longer is too late now.
    if (std::exchange(tries_, 0) == 0 || !timed_) return;
    set_timer(deadlines, now + timeout(options));
  }
  void start_timer(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now) {
    since_ = now;
    tries_ = 0;
    if (timed_) return;
    set_timer(deadlines, now + timeout(options));
  }
  void set_timer(Deadlines& deadlines, Ps at) {
    timed_ = true;
    timer_at_ = at;
    deadlines.add(at, peer_, kSelectiveTimeout);
  }

  std::unique_ptr<Sent[]> sent_;
  std::uint32_t next_;        // to be sent
  std::uint32_t base_;        // the peer has taken everything before it
  std::uint32_t out_ = 0;     // since base: not acknowledged
  std::uint32_t lost_ = 0;    // of those: wait to be sent again
  std::uint32_t lost_from_;   // none of them before
  std::uint32_t recovered_;   // once everything before it has come, nothing lost is out
  std::uint32_t last_early_;  // as the peer told last
  std::uint32_t tries_ = 0;   // timeouts in a row
  std::uint32_t mask_;
  Peer peer_;
  bool timed_ = false;      // has an entry among the deadlines
  bool overtakes_ = false;  // packets on this path overtake each other
  LossWindow window_;
  Ps newest_{};  // when the latest sent of what was acknowledged was sent
  RoundTrip trip_;
  Ps since_{};     // the oldest has waited since then
  Ps timer_at_{};  // of the entry that counts, while timed
};

}  // namespace fairlead::proto
