#include "fairlead/base/range_allocator.h"

#include <algorithm>

#include "fairlead/base/check.h"

namespace fairlead {

std::uint64_t RangeAllocator::find(std::uint64_t size, std::uint64_t align,
                                   std::uint64_t from) const {
  if (size > bytes_ || align > bytes_ || from > bytes_) return kNone;
  const std::uint64_t need = rounded(size);
  const std::uint64_t unit = std::max(align, kGrain);
  const auto up = [unit](std::uint64_t at) { return (at + unit - 1) / unit * unit; };
  std::uint64_t at = up(from);
  auto next = taken_.upper_bound(at);
  if (next != taken_.begin()) {
    const auto before = std::prev(next);
    at = std::max(at, up(before->first + rounded(before->second)));
  }
  for (; next != taken_.end(); ++next) {
    if (at + need <= next->first) return at;
    at = std::max(at, up(next->first + rounded(next->second)));
  }
  return at <= bytes_ && need <= bytes_ - at ? at : kNone;
}

void RangeAllocator::take(std::uint64_t offset, std::uint64_t size) {
  const bool added = taken_.emplace(offset, size).second;
  FAIRLEAD_CHECK(added, "offset {} is given out", offset);
  used_ += rounded(size);
}

std::uint64_t RangeAllocator::size_at(std::uint64_t offset) const {
  const auto at = taken_.find(offset);
  return at == taken_.end() ? 0 : std::max<std::uint64_t>(at->second, 1);
}

bool RangeAllocator::free(std::uint64_t offset) {
  const auto at = taken_.find(offset);
  if (at == taken_.end()) return false;
  used_ -= rounded(at->second);
  taken_.erase(at);
  return true;
}

}  // namespace fairlead
