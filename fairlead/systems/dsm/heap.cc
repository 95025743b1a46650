#include "fairlead/systems/dsm/heap.h"

#include <algorithm>

#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {

void* Heap::allocate(std::size_t bytes, bool& reused) {
  if (bytes > memory_.bytes()) return nullptr;
  const std::size_t unit = bytes >= kPageBytes / 2 ? kPageBytes : kAlignment;
  const std::size_t room = std::max<std::size_t>((bytes + unit - 1) / unit, 1) * unit;
  std::byte* block = nullptr;
  reused = false;
  if (const auto given = free_.find(room); given != free_.end() && !given->second.empty()) {
    block = static_cast<std::byte*>(given->second.back());
    given->second.pop_back();
    reused = true;
  } else {
    block = take(room);
  }
  if (block != nullptr) blocks_[block] = {bytes, room};
  return block;
}

std::byte* Heap::take(std::size_t bytes) {
  const auto pages_from = [this](std::uint64_t count) -> std::byte* {
    const std::uint64_t first = take_pages_(count);
    if (first > memory_.pages() || memory_.pages() - first < count) return nullptr;
    return memory_.view(static_cast<PageId>(first));
  };
  if (bytes % kPageBytes == 0) return pages_from(bytes / kPageBytes);
  if (run_left_ < bytes) {
    run_ = pages_from(kRunPages);
    run_left_ = run_ == nullptr ? 0 : kRunPages * kPageBytes;
    if (run_ == nullptr) run_ = pages_from(1);
    if (run_left_ == 0 && run_ != nullptr) run_left_ = kPageBytes;
    if (run_ == nullptr) return nullptr;
  }
  std::byte* const block = run_;
  run_ += bytes;
  run_left_ -= bytes;
  return block;
}

std::size_t Heap::free(void* block) {
  const auto at = blocks_.find(block);
  if (at == blocks_.end()) return 0;
  const Block was = at->second;
  free_[was.room].push_back(block);
  blocks_.erase(at);
  return std::max<std::size_t>(was.asked, 1);
}

std::size_t Heap::size_of(const void* block) const {
  const auto at = blocks_.find(block);
  return at == blocks_.end() ? 0 : std::max<std::size_t>(at->second.asked, 1);
}

}  // namespace fairlead::dsm
