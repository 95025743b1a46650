// The condition of Port::wait, decided in one place for every port.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

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

// What wait() answers if it may end now; `ran`: an upcall ran since the last look.
inline std::optional<Post> met(const Until& until, bool ran, Ps now) {
  if (until.counter != nullptr) {
    const std::uint64_t failed = until.counter->failed.load(std::memory_order_relaxed);
    if (until.counter->ok.load(std::memory_order_relaxed) + failed >= until.at) {
      return failed > 0 ? Post::maybe_delivered : Post::done;
    }
  }
  if (until.word != nullptr &&
      holds(until.word->load(std::memory_order_acquire), until.cmp, until.value)) {
    return Post::done;
  }
  if (until.any_packet && ran) return Post::done;
  if (now >= until.deadline) return Post::again_credit;
  return std::nullopt;
}

}  // namespace fairlead::lci
