// Condition variables, ranges of the heap that are held, and atomics at the home, as a part of
// Core.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/mutants.h"
#include "fairlead/systems/dsm/segments.h"

namespace fairlead::dsm {
namespace {

constexpr std::size_t kRangeWords = 5;  // of a request, before the time

std::uint64_t condition_id(std::uint32_t lock, std::uint32_t condition) {
  return (std::uint64_t{lock} << 32) | condition;
}
std::uint64_t wide(std::uint32_t low, std::uint32_t high) {
  return low | (std::uint64_t{high} << 32);
}

}  // namespace

// --- Conditions.

// The manager knows of the waiter before the lock is free, so that no signal is too early.
void Core::cond_wait(std::uint32_t lock, std::uint32_t condition) {
  check_running("a wait for a condition");
  if (!held_.contains(lock)) {
    fail(
        fmt::format("a wait for condition {} of lock {}, which it does not hold", condition, lock));
  }
  const lci::PortTurn turn(port_);
  told_ = woken_ = false;
  wire_.send(lock % size_, Kind::cond_wait, condition_id(lock, condition), {});
  serve([this] { return told_; }, {"a condition's manager", nullptr, {}, lock % size_});
  release(lock);
  serve([this] { return woken_; }, {"a condition", "condition", condition});
  acquire(lock);
}

std::vector<std::uint32_t> Core::held_locks() const {
  std::vector<std::uint32_t> locks;
  for (const auto& [lock, held] : held_) locks.push_back(lock);
  return locks;
}

void Core::cond_wake(std::uint32_t lock, std::uint32_t condition, bool all) {
  check_running("a signal of a condition");
  if (!held_.contains(lock)) {
    fail(fmt::format("a signal of condition {} of lock {}, which it does not hold", condition,
                     lock));
  }
  const lci::PortTurn turn(port_);
  const std::uint32_t body[] = {all ? 1u : 0u};
  wire_.send(lock % size_, Kind::cond_wake, condition_id(lock, condition), body);
  drain();
}

void Core::condition_waiter(const Message& message) {
  conditions_[message.value].push_back(message.from);
  wire_.send(message.from, Kind::cond_told, message.value, {});
}

void Core::wake_condition(const Message& message) {
  if (message.body.size() != 1) refuse(message);
  const auto at = conditions_.find(message.value);
  if (at == conditions_.end()) return;
  std::deque<Rank>& waiters = at->second;
  do {
    wire_.send(waiters.front(), Kind::cond_woken, message.value, {});
    waiters.pop_front();
  } while (message.body[0] != 0 && !waiters.empty() && !mutated(Mutant::one_of_all_woken));
  if (waiters.empty()) conditions_.erase(at);
}

// --- Ranges.

std::uint32_t Core::acquire_range(const void* begin, std::size_t bytes, bool exclusive) {
  (void)checked_page(begin, bytes, "acquire of a range");
  const std::uint64_t first = offset_of(begin);
  for (const auto& [number, range] : held_ranges_) {
    if (range.begin < first + bytes && first < range.end && (exclusive || range.exclusive)) {
      fail(
          fmt::format("acquire of {} bytes at {}: a range that it holds meets them", bytes, begin));
    }
  }
  const lci::PortTurn turn(port_);
  const std::uint32_t number = ++ranges_asked_;
  const std::uint64_t end = first + bytes;
  std::vector<std::uint32_t> body{
      static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
      static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(end >> 32), exclusive ? 1u : 0u};
  body.insert(body.end(), time_.begin(), time_.end());
  granted_ = false;
  const Ps asked = port_.now();
  wire_.send(kRangeManager, Kind::range_acquire, number, body);
  await_grant(kRanges + number, {"a range", nullptr, {}, kRangeManager});
  held_ranges_[number] = {first, end, exclusive, take_grant(asked), std::nullopt};
  return number;
}

void Core::release_range(std::uint32_t number) {
  check_running("release of a range");
  const auto held = held_ranges_.find(number);
  if (held == held_ranges_.end()) fail("release of a range that it does not hold");
  const lci::PortTurn turn(port_);
  const std::vector<std::uint32_t> body = end_of_hold(held->second.since);
  held_ranges_.erase(held);
  wire_.send(kRangeManager, Kind::range_release, number, body);
  drain();
}

void Core::range_asked(const Message& message) {
  const std::vector<std::uint32_t>& body = message.body;
  if (body.size() != kRangeWords + size_ || body[4] > 1) refuse(message);
  ranges_.acquire({message.from,
                   static_cast<std::uint32_t>(message.value),
                   {wide(body[0], body[1]), wide(body[2], body[3]), body[4] != 0},
                   {body.begin() + kRangeWords, body.end()}});
  grant_ranges();
}

void Core::grant_ranges() {
  while (const auto next = ranges_.free()) {
    grant(next->rank, Kind::range_grant, next->number, kRangesClock, next->time);
  }
}

// --- Atomics.

std::uint64_t Core::atomic(std::uint64_t* at, lci::Atomic op, std::uint64_t a, std::uint64_t b) {
  const PageId page = checked_page(at, sizeof *at, "an atomic");
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof *at != 0) {
    fail(fmt::format("an atomic on {}: its words are aligned to 8 bytes", static_cast<void*>(at)));
  }
  const lci::PortTurn turn(port_);
  at_ = 0;
  if (home_[page] == 0) {
    bring_in(page);
    if (apart_) hide(page);
  }
  const std::uint64_t offset = offset_of(at);
  const Awaited answer{"an atomic", "atomic on page", page, home_[page] - 1};
  ++fetches_asked_;
  begin(
      [&] {
        return port_.atomic({home_[page] - 1, kPages, offset}, op, a, b, &old_word_, &fetched_);
      },
      answer);
  await(fetched_, fetches_asked_, answer);
  const std::uint64_t old = old_word_;
  // This rank's copy has the new value, until it hears of others' atomics.
  if (!is_master(page) && state_[page] != State::out) {
    std::uint64_t now = old;
    if (op == lci::Atomic::add) now = old + a;
    if (op == lci::Atomic::swap) now = a;
    if (op == lci::Atomic::compare_swap && old == a) now = b;
    const std::size_t within = offset % kPageBytes;
    std::memcpy(memory_->alias(page) + within, &now, sizeof now);
    std::memcpy(twins_ + std::size_t{page} * kPageBytes + within, &now, sizeof now);
  }
  if (by_atomics_.empty() || by_atomics_.back() != page) by_atomics_.push_back(page);
  return old;
}

}  // namespace fairlead::dsm
