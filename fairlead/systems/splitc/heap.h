// Which parts of a heap are used. Every rank's heap has the same parts, as all ranks make the same
// calls in the same order: each does this bookkeeping for itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace fairlead::splitc {

class Heap {
 public:
  Heap() = default;
  Heap(std::uint64_t begin, std::uint64_t end) { free_[begin] = end - begin; }

  // Offset of the first part that is large enough, aligned to a cache line. Nothing: none is.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes) {
    if (bytes > UINT64_MAX - 63) return std::nullopt;
    const std::uint64_t size = (bytes + 63) / 64 * 64;
    for (auto part = free_.begin(); part != free_.end(); ++part) {
      if (part->second < size) continue;
      const std::uint64_t offset = part->first;
      const std::uint64_t rest = part->second - size;
      free_.erase(part);
      if (rest > 0) free_[offset + size] = rest;
      used_[offset] = size;
      return offset;
    }
    return std::nullopt;
  }
  // Its bytes; 0: nothing was allocated there.
  std::uint64_t free(std::uint64_t offset) {
    const auto part = used_.find(offset);
    if (part == used_.end()) return 0;
    const std::uint64_t size = part->second;
    used_.erase(part);
    auto made = free_.emplace(offset, size).first;
    if (const auto next = std::next(made); next != free_.end() && offset + size == next->first) {
      made->second += next->second;
      free_.erase(next);
    }
    if (made != free_.begin()) {
      const auto before = std::prev(made);
      if (before->first + before->second == offset) {
        before->second += made->second;
        free_.erase(made);
      }
    }
    return size;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // offset -> bytes, neighbours joined
  std::map<std::uint64_t, std::uint64_t> used_;
};

}  // namespace fairlead::splitc
