// The condition of Port::wait, decided in one place for every port.
#pragma once
#include <atomic>
#include <cstdint>

#include "fairlead/lci/port.h"

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

// One wait(). Begins when it is made.
class Ending {
 public:
  explicit Ending(const Until& until) : until_(until), failed_before_(failed()) {}

  // The condition holds. Since the wait began: `ran`: an upcall; `ended`: an operation, or an event
  // was told.
  bool holds(bool ran, bool ended) const {
    if (ran && (until_.any_packet || until_.any_change)) return true;
    if (ended && until_.any_change) return true;
    if (until_.counter != nullptr &&
        until_.counter->ok.load(std::memory_order_acquire) + failed() >= until_.at) {
      return true;
    }
    if (until_.word != nullptr &&
        lci::holds(until_.word->load(std::memory_order_acquire), until_.cmp, until_.value)) {
      return true;
    }
    return until_.word4 != nullptr &&
           lci::holds(until_.word4->load(std::memory_order_acquire), until_.cmp, until_.value);
  }
  // What wait() answers once it holds.
  Post answer() const { return failed() != failed_before_ ? Post::maybe_delivered : Post::done; }
  bool late(Ps now) const { return now >= until_.deadline; }

 private:
  std::uint64_t failed() const {
    return until_.counter == nullptr ? 0 : until_.counter->failed.load(std::memory_order_acquire);
  }

  const Until& until_;
  const std::uint64_t failed_before_;
};

}  // namespace fairlead::lci
