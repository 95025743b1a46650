#include "fairlead/systems/dsm/range_locks.h"

#include <algorithm>
#include <utility>

#include "fairlead/systems/dsm/mutants.h"

namespace fairlead::dsm {

bool RangeLocks::release(Rank rank, std::uint32_t number) {
  return std::erase_if(held_, [&](const Held& held) {
           return held.rank == rank && held.number == number;
         }) != 0;
}

std::optional<RangeLocks::Waiter> RangeLocks::free() {
  for (auto at = waiters_.begin(); at != waiters_.end(); ++at) {
    const bool taken = std::any_of(held_.begin(), held_.end(), [&](const Held& held) {
      return meet(held.range, at->range) && (at->range.exclusive || !mutated(Mutant::ranges_meet));
    });
    const bool before = std::any_of(waiters_.begin(), at, [&](const Waiter& earlier) {
      return meet(earlier.range, at->range);
    });
    if (taken || before) continue;
    std::optional<Waiter> next(std::move(*at));
    waiters_.erase(at);
    held_.push_back({next->rank, next->number, next->range});
    return next;
  }
  return std::nullopt;
}

}  // namespace fairlead::dsm
