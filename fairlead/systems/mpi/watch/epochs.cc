#include "fairlead/systems/mpi/watch/epochs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

namespace fairlead::mpi {
namespace {

// Pairs of accesses under locks that are looked at; of more, some may be missed.
constexpr std::uint64_t kPairsMax = std::uint64_t{1} << 24;

constexpr AccessKind kAllKinds[] = {AccessKind::put, AccessKind::get, AccessKind::combine};

bool may_meet(AccessKind a, AccessKind b) { return a == b && a != AccessKind::put; }

const char* verb_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::put:
      return "puts to";
    case AccessKind::get:
      return "gets";
    case AccessKind::combine:
      break;
  }
  return "accumulates to";
}

// "bytes 8-15" or "byte 8".
std::string bytes_text(Spans::Range range) {
  return range.second - range.first == 1
             ? fmt::format("byte {}", range.first)
             : fmt::format("bytes {}-{}", range.first, range.second - 1);
}

}  // namespace

void Spans::add(Range range) {
  if (range.first >= range.second) return;
  auto next = ranges_.upper_bound(range.first);
  if (next != ranges_.begin() && std::prev(next)->second >= range.first) --next;
  while (next != ranges_.end() && next->first <= range.second) {
    range.first = std::min(range.first, next->first);
    range.second = std::max(range.second, next->second);
    next = ranges_.erase(next);
  }
  ranges_[range.first] = range.second;
}

Spans::Range Spans::common(Range range) const {
  auto next = ranges_.upper_bound(range.first);
  if (next != ranges_.begin() && std::prev(next)->second > range.first) --next;
  if (next == ranges_.end() || next->first >= range.second) return {};
  return {std::max(range.first, next->first), std::min(range.second, next->second)};
}

std::string Epochs::conflict(const Made& access) const {
  const auto window = windows_.find(access.window);
  if (window == windows_.end()) return {};
  const auto target = window->second.targets.find(access.target);
  if (target == window->second.targets.end()) return {};
  for (const AccessKind kind : kAllKinds) {
    if (may_meet(kind, access.kind)) continue;
    for (const Spans::Range& range : access.ranges) {
      const Spans::Range both = target->second.kinds[static_cast<std::size_t>(kind)].common(range);
      if (both.first == both.second) continue;
      return fmt::format("--check: this rank {} {} of rank {} and {} the same in one epoch",
                         verb_of(kind), bytes_text(both), access.target, verb_of(access.kind));
    }
  }
  return {};
}

void Epochs::add(const Made& access) {
  OfWindow& window = windows_[access.window];
  window.ranges += access.ranges.size();
  if (window.ranges > kRangesMax) return;
  OfTarget& target = window.targets[access.target];
  target.epoch = access.epoch;
  Spans& spans = target.kinds[static_cast<std::size_t>(access.kind)];
  for (const Spans::Range& range : access.ranges) {
    spans.add(range);
    if (access.epoch == EpochKind::fence) continue;
    const Access made{
        access.target, access.kind, range.first, range.second, access.epoch, access.from, 0};
    Access* const last = target.apart.empty() ? nullptr : &target.apart.back();
    if (last != nullptr && last->kind == made.kind && last->from == made.from &&
        last->end == made.begin) {
      last->end = made.end;
    } else {
      target.apart.push_back(made);
    }
  }
}

void Epochs::end(OfWindow& window, OfTarget& target, bool gets_alone, const Count& count) {
  const auto ends = [&](const Access& one) { return !gets_alone || one.kind == AccessKind::get; };
  std::uint64_t to = 0;
  bool counted = false;
  for (Access& one : target.apart) {
    if (!ends(one)) continue;
    if (one.epoch == EpochKind::lock && !std::exchange(counted, true)) to = count(one.target);
    one.to = to;
    window.past.push_back(one);
    if (window.past.size() > kPastMax) window.past.pop_front();
  }
  std::erase_if(target.apart, ends);
}

void Epochs::end(std::uint32_t window, int target, const Count& count) {
  const auto found = windows_.find(window);
  if (found == windows_.end()) return;
  OfWindow& of = found->second;
  for (auto each = of.targets.begin(); each != of.targets.end();) {
    if (target != kAllTargets && target != each->first) {
      ++each;
      continue;
    }
    end(of, each->second, false, count);
    each = of.targets.erase(each);
  }
  if (of.targets.empty()) of.ranges = 0;
}

void Epochs::end_gets(std::uint32_t window, int target, const Count& count) {
  const auto found = windows_.find(window);
  if (found == windows_.end()) return;
  for (auto& [rank, of] : found->second.targets) {
    if (target != kAllTargets && target != rank) continue;
    of.kinds[static_cast<std::size_t>(AccessKind::get)].clear();
    end(found->second, of, true, count);
  }
}

bool Epochs::has_open(std::uint32_t window, int target) const {
  const auto found = windows_.find(window);
  if (found == windows_.end()) return false;
  const auto& targets = found->second.targets;
  return target == kAllTargets ? !targets.empty() : targets.count(target) != 0;
}

std::vector<Access> Epochs::open(std::uint32_t window) const {
  std::vector<Access> made;
  const auto found = windows_.find(window);
  if (found == windows_.end() || found->second.ranges > kRangesMax) return made;
  for (const auto& [target, of] : found->second.targets) {
    for (const AccessKind kind : kAllKinds) {
      for (const auto& [begin, end] : of.kinds[static_cast<std::size_t>(kind)].ranges()) {
        made.push_back({target, kind, begin, end, of.epoch, 0, 0});
      }
    }
  }
  return made;
}

std::vector<Access> Epochs::past(std::uint32_t window) const {
  const auto found = windows_.find(window);
  if (found == windows_.end()) return {};
  return {found->second.past.begin(), found->second.past.end()};
}

namespace {

// One access and the member that made it.
struct OneOf {
  std::size_t member;
  Access access;
};

// How the accesses of an epoch of that kind come to meet.
std::string meeting_text(const OneOf& first, const OneOf& second) {
  const std::string_view how = first.access.epoch == EpochKind::fence ? "in one epoch"
                               : first.access.epoch == EpochKind::start
                                   ? "in one epoch of MPI_Win_post"
                                   : "at the same time: neither has flushed or "
                                     "unlocked before the other begins";
  return fmt::format(
      "rank {} {} {} of rank {}, and rank {} {} the same {}", first.member,
      verb_of(first.access.kind),
      bytes_text({second.access.begin, std::min(first.access.end, second.access.end)}),
      first.access.target, second.member, verb_of(second.access.kind), how);
}

// Accesses of one target that may not touch the same bytes, whenever they were made.
std::string conflict_in_epoch(const std::vector<OneOf>& all) {
  // What reaches farthest so far, by kind.
  std::array<const OneOf*, kAccessKinds> far{};
  for (const OneOf& one : all) {
    for (const AccessKind kind : kAllKinds) {
      const OneOf* const other = far[static_cast<std::size_t>(kind)];
      if (other == nullptr || may_meet(kind, one.access.kind)) continue;
      if (other->member == one.member || other->access.end <= one.access.begin) continue;
      return meeting_text(*other, one);
    }
    const OneOf*& own = far[static_cast<std::size_t>(one.access.kind)];
    if (own == nullptr || own->access.end < one.access.end) own = &one;
  }
  return {};
}

// Accesses of one target under locks, which may not touch the same bytes at the same time.
std::string conflict_at_once(const std::vector<OneOf>& all) {
  // Those that reach as far as the one that is looked at, by kind.
  std::array<std::vector<const OneOf*>, kAccessKinds> before;
  std::uint64_t pairs = 0;
  for (const OneOf& one : all) {
    for (const AccessKind kind : kAllKinds) {
      if (may_meet(kind, one.access.kind)) continue;
      auto& others = before[static_cast<std::size_t>(kind)];
      std::erase_if(others,
                    [&](const OneOf* other) { return other->access.end <= one.access.begin; });
      pairs += others.size();
      if (pairs > kPairsMax) return {};
      for (const OneOf* const other : others) {
        if (other->member == one.member || other->access.to < one.access.from ||
            one.access.to < other->access.from) {
          continue;
        }
        return meeting_text(*other, one);
      }
    }
    before[static_cast<std::size_t>(one.access.kind)].push_back(&one);
  }
  return {};
}

}  // namespace

std::string conflict_between(const std::vector<const std::vector<Access>*>& members) {
  // By target, kind of epoch and number of the target's exposure.
  std::map<std::tuple<int, EpochKind, std::uint64_t>, std::vector<OneOf>> epochs;
  for (std::size_t member = 0; member < members.size(); ++member) {
    for (const Access& one : *members[member]) {
      const std::uint64_t exposure = one.epoch == EpochKind::start ? one.from : 0;
      epochs[{one.target, one.epoch, exposure}].push_back({member, one});
    }
  }
  for (auto& [epoch, all] : epochs) {
    std::sort(all.begin(), all.end(), [](const OneOf& a, const OneOf& b) {
      return std::pair(a.access.begin, a.member) < std::pair(b.access.begin, b.member);
    });
    const bool by_time = std::get<EpochKind>(epoch) == EpochKind::lock;
    const std::string found = by_time ? conflict_at_once(all) : conflict_in_epoch(all);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace fairlead::mpi
