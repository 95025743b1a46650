// Ranges of the heap that ranks hold, as one manager keeps them: exclusive ones meet no other,
// shared ones meet shared ones. First come, first served among those that meet.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/systems/dsm/notices.h"

namespace fairlead::dsm {

class RangeLocks {
 public:
  // Bytes [begin, end) of the heap.
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    bool exclusive;
  };
  struct Waiter {
    Rank rank;
    std::uint32_t number;  // of its rank's requests
    Range range;
    VectorTime time;  // what it knew when it asked
  };
  struct Held {
    Rank rank;
    std::uint32_t number;
    Range range;
  };

  // Asked for; free() tells whether it has it.
  void acquire(Waiter&& waiter) { waiters_.push_back(std::move(waiter)); }
  // False: that rank does not hold such a range.
  bool release(Rank rank, std::uint32_t number);
  // Takes out the next waiter whose range is free now, which holds it from then on.
  std::optional<Waiter> free();
  // Those that keep this request from being granted; none where it does not wait, or waits for
  // others that wait alone.
  std::vector<Held> before(Rank rank, std::uint32_t number) const;

 private:
  static bool meet(const Range& a, const Range& b) {
    return a.begin < b.end && b.begin < a.end && (a.exclusive || b.exclusive);
  }

  std::vector<Held> held_;
  std::list<Waiter> waiters_;
};

}  // namespace fairlead::dsm
