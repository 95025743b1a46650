// How a control program looks at its doorbells one after the other (VIA on a network interface:
// Split-C paper, section 6.1): which one it looks at when, computed where a real processor would
// loop. Owns no clock; told of time by its callers.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/units.h"

namespace fairlead::lci {

// The processor looks at one doorbell after the other, round and round, `look` each, and does other
// work in between: a look under way ends first, and there is at least one between two pieces of
// work. What is written into a doorbell before a look at it ends is found by that look.
class DoorbellScan {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // It has no doorbell yet. `look` is longer than 0.
  explicit DoorbellScan(Ps look) : look_(look) {
    FAIRLEAD_CHECK(look > Ps{0}, "a look of {} ps", look.count);
  }

  // There are `count` doorbells from now on, never fewer than before.
  void grow(std::uint32_t count) { rung_.resize(count, false); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(rung_.size()); }

  // Doorbell `number` was written at `at`; not again before it was found.
  void rang(std::uint32_t number, Ps at) {
    advance(at);
    FAIRLEAD_DCHECK(!rung_[number], "doorbell {}", number);
    rung_[number] = true;
    ++waiting_;
  }

  struct Look {
    Ps until;             // the processor is with it
    std::uint32_t found;  // the doorbell that was written; kNone: none
  };
  // The processor turns to other work at `now`, which is not before the last resume(): what is
  // left of its looks.
  Look turn(Ps now) {
    const bool looked = advance(now);
    if (rung_.empty() || (looked && from_ == now)) return {now, kNone};
    from_ += look_;
    const std::uint32_t at = next_;
    step(1);
    if (!rung_[at]) return {from_, kNone};
    rung_[at] = false;
    --waiting_;
    return {from_, at};
  }
  // It looks on from `now`.
  void resume(Ps now) { from_ = now; }

  // When the look ends that finds the next one, if nothing comes between; kNever: none was written.
  Ps due() const {
    if (waiting_ == 0) return kNever;
    std::uint32_t at = next_;
    Ps when = from_ + look_;
    while (!rung_[at]) {
      at = at + 1 == rung_.size() ? 0 : at + 1;
      when += look_;
    }
    return when;
  }

 private:
  // Past the looks that have ended, but not past a doorbell that was written. True: there were
  // some.
  bool advance(Ps now) {
    if (rung_.empty()) {
      if (now > from_) from_ = now;
      return false;
    }
    if (now <= from_) return false;
    std::int64_t ended = (now - from_).count / look_.count;
    if (waiting_ > 0) {
      const std::int64_t before = (due() - from_).count / look_.count - 1;
      if (before < ended) ended = before;
    }
    from_ += look_ * ended;
    step(static_cast<std::uint64_t>(ended));
    return ended > 0;
  }
  void step(std::uint64_t looks) {
    next_ = static_cast<std::uint32_t>((next_ + looks) % rung_.size());
  }

  const Ps look_;
  Ps from_{};  // when the look at next_ began
  std::uint32_t next_ = 0;
  std::uint32_t waiting_ = 0;
  std::vector<bool> rung_;
};

}  // namespace fairlead::lci
