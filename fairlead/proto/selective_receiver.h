// Selective repeat, the receiver's half for one peer: what comes early is kept until what is
// missing has come, and acknowledgments say both.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/deadlines.h"
#include "fairlead/proto/flow.h"
#include "fairlead/proto/selective_repeat_options.h"

namespace fairlead::proto {

class SelectiveReceiver {
 public:
  static constexpr std::uint32_t kNothing = UINT32_MAX;

  SelectiveReceiver(const SelectiveRepeatOptions& options, Peer peer)
      : kept_(std::make_unique_for_overwrite<std::uint32_t[]>(options.window_max)),
        expected_(options.first),
        released_(options.first),
        ack_every_(options.ack_every),
        mask_(options.window_max - 1),
        peer_(peer) {
    std::fill_n(kept_.get(), options.window_max, kNothing);
  }

  // A packet has come. early: it lies ahead of a gap, and may be kept; gap: so far ahead that it
  // must be dropped.
  Verdict arrived(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now,
                  std::uint32_t sequence) {
    const std::uint32_t ahead = sequence - expected_;
    if (ahead == 0 && kept_[slot(sequence)] == kNothing) {
      owe(options, deadlines, now, options.acks_released ? 0 : 1);
      return Verdict::in_order;
    }
    // What is not next is answered at once: the sender is to know what is missing, or that its
    // packet has come before.
    ack_every_ = options.ack_every;
    owe(options, deadlines, now, ack_every_);
    if (static_cast<std::int32_t>(ahead) < 0) return Verdict::duplicate;
    if (ahead >= options.window_max) return Verdict::gap;
    return kept_[slot(sequence)] == kNothing ? Verdict::early : Verdict::duplicate;
  }
  // Whether arrived() would return in_order or early now.
  bool wants(std::uint32_t sequence) const {
    return sequence - expected_ <= mask_ && kept_[slot(sequence)] == kNothing;
  }
  void accept() { ++expected_; }
  void keep(std::uint32_t sequence, std::uint32_t item) {
    kept_[slot(sequence)] = item;
    ++kept_count_;
  }
  std::uint32_t take_kept(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now) {
    if (kept_count_ == 0) return kNothing;
    const std::uint32_t item = std::exchange(kept_[slot(expected_)], kNothing);
    if (item == kNothing) return kNothing;
    --kept_count_;
    ++expected_;
    owe(options, deadlines, now, options.acks_released ? 0 : 1);
    return item;
  }
  bool keeps() const { return kept_count_ > 0; }
  // The buffer of an accepted packet is free. True: acknowledge now.
  bool released(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now) {
    if (!options.acks_released) return false;
    ++released_;
    owe(options, deadlines, now, 1);
    return urgent();
  }

  bool urgent() const { return owed_ >= ack_every_; }
  bool owes() const { return owes_; }
  // The cumulative part of an acknowledgment; it settles what is owed unless more is to be told.
  std::uint32_t take_ack(const SelectiveRepeatOptions& options) {
    if (!has_early(options)) settle(options);
    return next(options);
  }
  // The words of an acknowledgment of its own: as many of `words` as it takes.
  std::size_t take_early(const SelectiveRepeatOptions& options, std::span<std::uint64_t> words) {
    if (!has_early(options)) {
      settle(options);
      return 0;
    }
    owed_ = 0;
    owes_ = false;
    const std::uint32_t accepted = expected_ - next(options);
    const std::uint32_t told = accepted + kept_count_;
    std::size_t used = 0;
    std::uint32_t left = told;
    for (std::size_t w = 0; w < words.size() && left > 0; ++w) {
      words[w] = 0;
      for (std::uint32_t b = 0; b < 64 && w * 64 + b <= mask_; ++b) {
        const auto ahead = static_cast<std::uint32_t>(w * 64 + b);
        if (ahead >= accepted && kept_[slot(next(options) + ahead)] == kNothing) continue;
        words[w] |= std::uint64_t{1} << b;
        --left;
      }
      used = w + 1;
    }
    return used;
  }

  // The delay of an acknowledgment may be over: returns whether to send it.
  bool ack_due(Deadlines& deadlines, Ps now) {
    timed_ = owes_ && ack_at_ > now;
    if (timed_) deadlines.add(ack_at_, peer_, kSelectiveAckDue);
    return !timed_ && owes_;
  }
  // It was sent: the sender waited for it, perhaps, as its window is smaller.
  void ack_was_due(const SelectiveRepeatOptions& options) { ack_every_ = options.ack_every; }

  template <class Dropped>
  void forget(Dropped&& dropped) {
    for (std::uint32_t i = 0; i <= mask_; ++i) {
      if (kept_[i] != kNothing) dropped(kept_[i]);
    }
  }

 private:
  std::uint32_t slot(std::uint32_t sequence) const { return sequence & mask_; }
  std::uint32_t next(const SelectiveRepeatOptions& options) const {
    return options.acks_released ? released_ : expected_;
  }
  // There is something that the number alone does not tell.
  bool has_early(const SelectiveRepeatOptions& options) const {
    return kept_count_ > 0 || next(options) != expected_;
  }
  void owe(const SelectiveRepeatOptions& options, Deadlines& deadlines, Ps now,
           std::uint32_t count) {
    owed_ = std::min(owed_ + count, ack_every_);
    if (std::exchange(owes_, true)) return;
    ack_at_ = now + options.ack_delay;
    if (timed_) return;
    timed_ = true;
    deadlines.add(ack_at_, peer_, kSelectiveAckDue);
  }
  // What is owed is told.
  void settle(const SelectiveRepeatOptions& options) {
    if (owed_ >= ack_every_ && ack_every_ < options.ack_every_max) {
      ack_every_ = std::min(ack_every_ * 2, options.ack_every_max);
    }
    owed_ = 0;
    owes_ = false;
  }

  std::unique_ptr<std::uint32_t[]> kept_;
  std::uint32_t expected_;  // to come
  std::uint32_t released_;  // of what came
  std::uint32_t kept_count_ = 0;
  std::uint32_t owed_ = 0;  // packets that count towards the next acknowledgment
  std::uint32_t ack_every_;
  std::uint32_t mask_;
  Peer peer_;
  bool owes_ = false;   // there is something to tell
  bool timed_ = false;  // has an entry among the deadlines
  Ps ack_at_{};         // owed since then plus the delay
};

}  // namespace fairlead::proto
