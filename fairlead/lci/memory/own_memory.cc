#include "fairlead/lci/memory/own_memory.h"

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"

namespace fairlead::lci {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPagesMost = ~std::uint32_t{0};

std::size_t pages_of(std::size_t bytes) { return bytes / kPage + (bytes % kPage != 0 ? 1 : 0); }

}  // namespace

std::size_t OwnMemory::table_bytes(Rank ranks) { return pages_of(Exposures::bytes(ranks)) * kPage; }

std::size_t OwnMemory::region_bytes(Rank ranks, std::size_t bytes) {
  return table_bytes(ranks) + pages_of(bytes) * kPage;
}

OwnMemory::OwnMemory(Rank ranks, std::span<std::byte> region, std::size_t bytes_max,
                     std::span<std::byte> ni_words)
    : ranks_(ranks),
      pages_max_(static_cast<std::uint32_t>(std::min(pages_of(bytes_max), kPagesMost))),
      region_(region),
      ni_words_(ni_words) {
  if (region.empty()) return;
  const std::size_t table = table_bytes(ranks);
  FAIRLEAD_CHECK(table < region.size(), "a region of {} bytes", region.size());
  table_ = Exposures(region, ranks);
}

OwnMemory::Used& OwnMemory::used() {
  if (used_ == nullptr) {
    used_ = std::make_unique<Used>();
    if (!region_.empty()) used_->heap = RegionHeap(table_bytes(ranks_), region_.size());
  }
  return *used_;
}

void* OwnMemory::allocate(SegId segment, std::size_t size) {
  if (region_.empty()) return allocate_here(segment, size);
  bool used_before = false;
  const std::uint64_t offset = used().heap.allocate(size, &used_before);
  if (offset == RegionHeap::kNone) return nullptr;
  if (used_before) std::memset(region_.data() + offset, 0, size);
  const Exposed what{ExposedIn::region, kRead | kWrite | kAtomic, offset, size};
  if (add(segment, what, {}) != Post::done) {
    used().heap.free(offset, size);
    return nullptr;
  }
  used().allocated.insert_or_assign(segment, Allocated{region_.data() + offset, size});
  return region_.data() + offset;
}

void* OwnMemory::allocate_here(SegId segment, std::size_t size) {
  if (pages_of(size) > pages_max_ - used().pages) return nullptr;
  ReservedMemory memory(size == 0 ? 1 : size);
  void* const base = memory.data();
  if (expose(segment, base, size, kRead | kWrite | kAtomic, nullptr, {}) != Post::done) {
    return nullptr;
  }
  used().pages += pages_of(size);
  used().allocated.insert_or_assign(segment, Allocated{memory.data(), size, std::move(memory)});
  return base;
}

void* OwnMemory::alias(SegId segment) {
  if (used_ == nullptr) return nullptr;
  const auto found = used_->allocated.find(segment);
  if (found == used_->allocated.end()) return nullptr;
  Allocated& memory = found->second;
  if (memory.mapping.data() == nullptr) {
    memory.mapping = SecondMapping(memory.at, memory.size == 0 ? 1 : memory.size);
  }
  return memory.mapping.data();
}

Post OwnMemory::expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions,
                       void* alias, std::span<const Rank> allowed) {
  const auto* const at = static_cast<const std::byte*>(alias != nullptr ? alias : base);
  Exposed what{ExposedIn::process, permissions, reinterpret_cast<std::uintptr_t>(at), size};
  const auto lies_in = [at](std::span<std::byte> memory) {
    return at >= memory.data() && at < memory.data() + memory.size();
  };
  if (lies_in(region_)) {
    what.in = ExposedIn::region;
    what.base = static_cast<std::uint64_t>(at - region_.data());
  } else if (lies_in(ni_words_)) {
    what.in = ExposedIn::ni;
    what.base = static_cast<std::uint64_t>(at - ni_words_.data());
  }
  return add(segment, what, allowed);
}

Post OwnMemory::share(SegId segment, std::byte* at, std::size_t size, Rank lender,
                      std::uint64_t offset) {
  return add(segment,
             {ExposedIn::process, kRead | kWrite | kAtomic, reinterpret_cast<std::uintptr_t>(at),
              size, lender + 1, offset},
             {});
}

std::byte* OwnMemory::table_memory(std::size_t bytes) {
  if (!region_.empty()) {
    bool used_before = false;
    const std::uint64_t offset = used().heap.allocate(bytes, &used_before);
    if (offset == RegionHeap::kNone) return nullptr;
    if (used_before) std::memset(region_.data() + offset, 0, bytes);
    return region_.data() + offset;
  }
  constexpr std::size_t kLine = 64;
  std::size_t space = bytes + kLine;
  void* aligned = std::calloc(space, 1);
  if (aligned == nullptr) return nullptr;
  used().tables.emplace_back(static_cast<std::byte*>(aligned));
  return static_cast<std::byte*>(std::align(kLine, bytes, aligned, space));
}

Post OwnMemory::add(SegId segment, const Exposed& what, std::span<const Rank> allowed) {
  if (region_.empty() && (used_ == nullptr || used_->tables.empty())) {
    std::byte* const first = table_memory(Exposures::bytes(ranks_));
    FAIRLEAD_CHECK(first != nullptr, "{} bytes for a table of segments", Exposures::bytes(ranks_));
    table_ = Exposures(first, ranks_);
  }
  const Post answer = table_.add(segment, what, allowed);
  if (answer != Post::again_buffer) return answer;
  const std::size_t bytes = table_.next_part();
  std::byte* const more = bytes == 0 ? nullptr : table_memory(bytes);
  if (more == nullptr) return table_.add(segment, what, allowed, /*crowded=*/true);
  table_.go_on(more);
  return table_.add(segment, what, allowed);
}

Post OwnMemory::withdraw(SegId segment) {
  const Exposed was = table_.remove(segment);
  if (was.in == ExposedIn::none) return Post::invalid;
  if (used_ == nullptr || used_->allocated.erase(segment) == 0) return Post::done;
  if (region_.empty()) {
    used_->pages -= pages_of(was.size);
  } else {
    used().heap.free(was.base, was.size);
  }
  return Post::done;
}

}  // namespace fairlead::lci
