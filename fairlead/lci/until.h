// The condition of Port::wait, decided in one place for every port.
#pragma once
#include <atomic>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/lci/told_segments.h"

namespace fairlead::lci {

inline bool holds(std::uint64_t word, Cmp cmp, std::uint64_t value) {
  switch (cmp) {
    case Cmp::eq:
      return word == value;
    case Cmp::ne:
      return word != value;
    case Cmp::lt:
      return word < value;
    case Cmp::le:
      return word <= value;
    case Cmp::gt:
      return word > value;
    case Cmp::ge:
      return word >= value;
  }
  return false;
}

// One of its conditions is a word in memory, which may change without any sign of it.
inline bool looks_at_memory(const Until& until) {
  for (const Until* each = &until; each != nullptr; each = each->also) {
    if (each->word != nullptr || each->word4 != nullptr) return true;
  }
  return false;
}

// One of its conditions is a change of which no trace is left once it was told.
inline bool looks_at_changes(const Until& until) {
  for (const Until* each = &until; each != nullptr; each = each->also) {
    if (each->segment != kNoSegment) return true;
  }
  return until.any_packet || until.any_change;
}

// One wait(). Begins when it is made.
class Ending {
 public:
  // `told` is what the rank knows of its segments; nullptr: none of them ends it.
  explicit Ending(const Until& until, ToldSegments* told = nullptr)
      : until_(until), told_(told), failed_before_(failed()) {}

  // It names no segment whose stores nobody tells of.
  bool can_be_told() const {
    for (const Until* each = &until_; each != nullptr; each = each->also) {
      if (each->segment != kNoSegment && (told_ == nullptr || !told_->has(each->segment)))
        return false;
    }
    return true;
  }

  // The condition holds. Since the wait began: `ran`: an upcall; `ended`: an operation, or an event
  // was told.
  bool holds(bool ran, bool ended) const {
    if (ran && (until_.any_packet || until_.any_change)) return true;
    if (ended && until_.any_change) return true;
    for (const Until* each = &until_; each != nullptr; each = each->also) {
      if (holds_now(*each)) return true;
    }
    return false;
  }
  // What wait() returns once it holds.
  Post answer() const { return failed() != failed_before_ ? Post::maybe_delivered : Post::done; }
  bool late(Ps now) const { return now >= until_.deadline; }

 private:
  bool holds_now(const Until& until) const {
    if (until.segment != kNoSegment && told_ != nullptr && told_->take(until.segment)) return true;
    if (until.counter != nullptr && until.counter->ok.load(std::memory_order_acquire) +
                                            until.counter->failed.load(std::memory_order_acquire) >=
                                        until.at) {
      return true;
    }
    if (until.word != nullptr &&
        lci::holds(until.word->load(std::memory_order_acquire), until.cmp, until.value)) {
      return true;
    }
    return until.word4 != nullptr &&
           lci::holds(until.word4->load(std::memory_order_acquire), until.cmp, until.value);
  }
  std::uint64_t failed() const {
    return until_.counter == nullptr ? 0 : until_.counter->failed.load(std::memory_order_acquire);
  }

  const Until& until_;
  ToldSegments* const told_;
  const std::uint64_t failed_before_;
};

}  // namespace fairlead::lci
