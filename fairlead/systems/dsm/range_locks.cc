#include "fairlead/systems/dsm/range_locks.h"

#include <algorithm>
#include <iterator>
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

std::vector<RangeLocks::Held> RangeLocks::before(Rank rank, std::uint32_t number) const {
  std::vector<Held> found;
  const auto waiter = std::find_if(waiters_.begin(), waiters_.end(), [&](const Waiter& each) {
    return each.rank == rank && each.number == number;
  });
  if (waiter == waiters_.end()) return found;
  std::copy_if(held_.begin(), held_.end(), std::back_inserter(found),
               [&](const Held& held) { return meet(held.range, waiter->range); });
  return found;
}

}  // namespace fairlead::dsm
