#include "fairlead/systems/crl/region.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace fairlead::crl {
namespace {

constexpr std::uint64_t kMagic = 0x6c2e43524c20526e;
constexpr std::align_val_t kAligned{Region::kAlignment};
constexpr std::byte kPoison{0xdb};
// In checked form the view is followed by so much poison: what is written past the end is found.
constexpr std::size_t kFence = 64;

}  // namespace

Region::Owner Region::make(Rid rid, Rank home, Rank self, std::size_t bytes, bool check) {
  static_assert(sizeof(Region) == kHead && alignof(Region) == kAlignment);
  const std::size_t memory = kHead + bytes + (check ? kFence : 0);
  void* const at = ::operator new(memory, kAligned, std::nothrow);
  if (at == nullptr) return nullptr;
  auto* const region = new (at) Region(rid, home, bytes, check);
  if (home == self) region->directory = std::make_unique<Directory>(self);
  region->magic_ = kMagic ^ reinterpret_cast<std::uintptr_t>(at);
  region->place.push_back(region);
  region->at = region->place.begin();
  if (check) {
    region->kept = std::make_unique<std::byte[]>(bytes);
    region->poison();
  } else {
    std::memset(region->mapped(), 0, bytes);
  }
  return Owner(region);
}

void Region::Delete::operator()(Region* region) const {
  // The compiler drops any other store to an object that ends.
  const_cast<volatile std::uint64_t&>(region->magic_) = 0;
  region->~Region();
  ::operator delete(static_cast<void*>(region), kAligned);
}

Region* Region::of(const void* mapped) {
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  if (address == 0 || address % kAlignment != 0) return nullptr;
  auto* const region = reinterpret_cast<Region*>(address - kHead);
  return region->magic_ == (kMagic ^ (address - kHead)) ? region : nullptr;
}

bool Region::poisoned() const {
  const std::byte* const view = const_cast<Region*>(this)->mapped();
  return std::all_of(view, view + bytes + kFence, [](std::byte b) { return b == kPoison; });
}

void Region::poison() { std::memset(mapped(), static_cast<int>(kPoison), bytes + kFence); }

const char* Region::verify() {
  return !checked || poisoned() ? nullptr : "it was written outside an operation";
}

const char* Region::show() {
  if (!checked) return nullptr;
  if (const char* const wrong = verify()) return wrong;
  std::memcpy(mapped(), kept.get(), bytes);
  return nullptr;
}

const char* Region::take() {
  if (!checked) return nullptr;
  std::memcpy(kept.get(), mapped(), bytes);
  std::memset(mapped(), static_cast<int>(kPoison), bytes);
  return poisoned() ? nullptr : "something was written past its end";
}

const char* Region::hide() {
  if (!checked) return nullptr;
  const bool same = std::memcmp(kept.get(), mapped(), bytes) == 0;
  std::memset(mapped(), static_cast<int>(kPoison), bytes);
  if (!same) return "it was written inside a read";
  return poisoned() ? nullptr : "something was written past its end";
}

}  // namespace fairlead::crl
