#include "fairlead/lci/memory/own_memory.h"

#include <cstring>

#include "fairlead/base/check.h"

namespace fairlead::lci {

std::size_t OwnMemory::table_bytes(Rank ranks) {
  return (Exposures::bytes(ranks) + 4095) / 4096 * 4096;
}

OwnMemory::OwnMemory(Rank ranks, std::span<std::byte> region) : ranks_(ranks), region_(region) {
  if (region.empty()) return;
  const std::size_t table = table_bytes(ranks);
  FAIRLEAD_CHECK(table < region.size(), "a region of {} bytes", region.size());
  table_ = Exposures(region.data(), ranks);
  shared_ = std::make_unique<Shared>();
  shared_->heap = RegionHeap(table, region.size());
}

void* OwnMemory::allocate(SegId segment, std::size_t size) {
  if (shared_ == nullptr) return allocate_here(segment, size);
  bool used_before = false;
  const std::uint64_t offset = shared_->heap.allocate(size, &used_before);
  if (offset == RegionHeap::kNone) return nullptr;
  if (used_before) std::memset(region_.data() + offset, 0, size);
  const Exposed what{ExposedIn::region, kRead | kWrite | kAtomic, offset, size};
  if (add(segment, what, {}) != Post::done) {
    shared_->heap.free(offset, size);
    return nullptr;
  }
  shared_->allocated.insert(segment);
  return region_.data() + offset;
}

void* OwnMemory::allocate_here(SegId segment, std::size_t size) {
  auto memory = std::make_unique<std::uint64_t[]>((size + 7) / 8);
  void* const base = memory.get();
  if (expose(segment, base, size, kRead | kWrite | kAtomic, nullptr, {}) != Post::done) {
    return nullptr;
  }
  local_->allocated[segment] = std::move(memory);
  return base;
}

Post OwnMemory::expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions,
                       void* alias, std::span<const Rank> allowed) {
  const auto* const at = static_cast<const std::byte*>(alias != nullptr ? alias : base);
  Exposed what{ExposedIn::process, permissions, reinterpret_cast<std::uintptr_t>(at), size};
  if (shared_ != nullptr && at >= region_.data() && at < region_.data() + region_.size()) {
    what.in = ExposedIn::region;
    what.base = static_cast<std::uint64_t>(at - region_.data());
  }
  return add(segment, what, allowed);
}

Post OwnMemory::add(SegId segment, const Exposed& what, std::span<const Rank> allowed) {
  if (shared_ == nullptr && local_ == nullptr) {
    local_ = std::make_unique<Local>();
    constexpr std::size_t kLine = 64;
    const std::size_t bytes = Exposures::bytes(ranks_);
    std::size_t space = bytes + kLine;
    local_->table.reset(static_cast<std::byte*>(std::calloc(space, 1)));
    FAIRLEAD_CHECK(local_->table != nullptr, "{} bytes for a table of segments", space);
    void* aligned = local_->table.get();
    std::align(kLine, bytes, aligned, space);
    table_ = Exposures(static_cast<std::byte*>(aligned), ranks_);
  }
  return table_.add(segment, what, allowed);
}

Post OwnMemory::withdraw(SegId segment) {
  const Exposed was = table_.remove(segment);
  if (was.in == ExposedIn::none) return Post::invalid;
  if (shared_ != nullptr && shared_->allocated.erase(segment) != 0) {
    shared_->heap.free(was.base, was.size);
  }
  if (local_ != nullptr) local_->allocated.erase(segment);
  return Post::done;
}

}  // namespace fairlead::lci
