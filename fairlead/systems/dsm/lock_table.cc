#include "fairlead/systems/dsm/lock_table.h"

#include "fairlead/systems/dsm/mutants.h"

namespace fairlead::dsm {

bool LockTable::acquire(std::uint32_t lock, Waiter&& waiter) {
  Lock& at = locks_[lock];
  if (at.held) {
    at.waiters.push_back(std::move(waiter));
    return false;
  }
  at.held = true;
  at.holder = waiter.rank;
  return true;
}

std::optional<Rank> LockTable::holder(std::uint32_t lock) const {
  const auto at = locks_.find(lock);
  if (at == locks_.end() || !at->second.held) return std::nullopt;
  return at->second.holder;
}

std::pair<bool, std::optional<LockTable::Waiter>> LockTable::release(std::uint32_t lock,
                                                                     Rank rank) {
  Lock& at = locks_[lock];
  if (!at.held || at.holder != rank) return {false, std::nullopt};
  if (at.waiters.empty()) {
    at.held = false;
    return {true, std::nullopt};
  }
  std::optional<Waiter> next(std::move(at.waiters.front()));
  at.waiters.pop_front();
  if (mutated(Mutant::waiters_lost)) at.waiters.clear();
  at.holder = next->rank;
  return {true, std::move(next)};
}

}  // namespace fairlead::dsm
