#include "fairlead/systems/mpi/watch/epochs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace fairlead::mpi {
namespace {

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
      const Spans::Range both = target->second[static_cast<std::size_t>(kind)].common(range);
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
  Spans& spans = window.targets[access.target][static_cast<std::size_t>(access.kind)];
  for (const Spans::Range& range : access.ranges) spans.add(range);
}

void Epochs::end(std::uint32_t window, int target) {
  const auto found = windows_.find(window);
  if (found != windows_.end()) found->second.targets.erase(target);
}

void Epochs::end_gets(std::uint32_t window, int target) {
  const auto found = windows_.find(window);
  if (found == windows_.end()) return;
  for (auto& [rank, kinds] : found->second.targets) {
    if (target != kAllTargets && target != rank) continue;
    kinds[static_cast<std::size_t>(AccessKind::get)].clear();
  }
}

std::vector<Access> Epochs::all(std::uint32_t window) const {
  std::vector<Access> made;
  const auto found = windows_.find(window);
  if (found == windows_.end() || found->second.ranges > kRangesMax) return made;
  for (const auto& [target, kinds] : found->second.targets) {
    for (const AccessKind kind : kAllKinds) {
      for (const auto& [begin, end] : kinds[static_cast<std::size_t>(kind)].ranges()) {
        made.push_back({target, kind, begin, end});
      }
    }
  }
  return made;
}

std::string conflict_between(const std::vector<const std::vector<Access>*>& members) {
  struct Of {
    std::size_t member;
    Access access;
  };
  std::map<int, std::vector<Of>> targets;
  for (std::size_t member = 0; member < members.size(); ++member) {
    for (const Access& one : *members[member]) targets[one.target].push_back({member, one});
  }
  for (auto& [target, all] : targets) {
    std::sort(all.begin(), all.end(), [](const Of& a, const Of& b) {
      return std::pair(a.access.begin, a.member) < std::pair(b.access.begin, b.member);
    });
    // What reaches farthest so far, by kind.
    std::array<const Of*, kAccessKinds> far{};
    for (const Of& one : all) {
      for (const AccessKind kind : kAllKinds) {
        const Of* const other = far[static_cast<std::size_t>(kind)];
        if (other == nullptr || may_meet(kind, one.access.kind)) continue;
        if (other->member == one.member || other->access.end <= one.access.begin) continue;
        return fmt::format(
            "rank {} {} {} of rank {}, and rank {} {} the same in one epoch", other->member,
            verb_of(kind),
            bytes_text({one.access.begin, std::min(one.access.end, other->access.end)}), target,
            one.member, verb_of(one.access.kind));
      }
      const Of*& own = far[static_cast<std::size_t>(one.access.kind)];
      if (own == nullptr || own->access.end < one.access.end) own = &one;
    }
  }
  return {};
}

}  // namespace fairlead::mpi
