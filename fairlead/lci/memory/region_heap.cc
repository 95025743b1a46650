#include "fairlead/lci/memory/region_heap.h"

#include <iterator>

namespace fairlead::lci {

std::uint64_t RegionHeap::allocate(std::uint64_t size, bool* used_before) {
  const std::uint64_t bytes = rounded(size == 0 ? 1 : size);
  if (bytes < size) return kNone;
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    const std::uint64_t hole_end = hole->first + hole->second;
    const std::uint64_t at = (hole->first + kPage - 1) / kPage * kPage;
    if (at > hole_end || hole_end - at < bytes) continue;
    const std::uint64_t before = at - hole->first;
    if (before == 0)
      free_.erase(hole);
    else
      hole->second = before;
    if (at + bytes < hole_end) free_[at + bytes] = hole_end - at - bytes;
    *used_before = true;
    return at;
  }
  const std::uint64_t at = (next_ + kPage - 1) / kPage * kPage;
  if (at > end_ || end_ - at < bytes) return kNone;
  if (at > next_) free_[next_] = at - next_;
  next_ = at + bytes;
  *used_before = false;
  return at;
}

void RegionHeap::free(std::uint64_t offset, std::uint64_t size) {
  std::uint64_t begin = offset;
  std::uint64_t end = offset + rounded(size == 0 ? 1 : size);
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == end) {
    end += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      free_.erase(before);
    }
  }
  free_[begin] = end - begin;
}

}  // namespace fairlead::lci
