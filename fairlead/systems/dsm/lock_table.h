// The locks that one rank manages: who holds each, who waits, in the order of asking.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "fairlead/base/post.h"
#include "fairlead/systems/dsm/notices.h"

namespace fairlead::dsm {

class LockTable {
 public:
  struct Waiter {
    Rank rank;
    VectorTime time;  // what it knew when it asked
  };

  // True: the lock is `waiter`'s now. False: it waits.
  bool acquire(std::uint32_t lock, Waiter&& waiter);
  // Who has it; nobody: it is free.
  std::optional<Rank> holder(std::uint32_t lock) const;
  // Who has it now, if somebody waited. False first: `rank` does not hold it.
  std::pair<bool, std::optional<Waiter>> release(std::uint32_t lock, Rank rank);

 private:
  struct Lock {
    bool held = false;
    Rank holder = 0;
    std::deque<Waiter> waiters;
  };
  std::unordered_map<std::uint32_t, Lock> locks_;
};

}  // namespace fairlead::dsm
