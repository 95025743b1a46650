#include "fairlead/systems/via/memory.h"

#include <algorithm>

namespace fairlead::via {

VIP_MEM_HANDLE Memory::add(const void* nic, const void* base, std::uint64_t bytes,
                           const VIP_MEM_ATTRIBUTES& attributes) {
  std::uint32_t index = static_cast<std::uint32_t>(regions_.size());
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else if (index < kRegionsMax) {
    regions_.emplace_back();
  } else {
    return 0;
  }
  Region& made = regions_[index];
  made.base = reinterpret_cast<std::uintptr_t>(base);
  made.bytes = bytes;
  made.attributes = attributes;
  made.nic = nic;
  return made.times << kIndexBits | index;
}

const Region* Memory::region(VIP_MEM_HANDLE handle) const {
  const std::uint32_t index = handle & (kRegionsMax - 1);
  if (index >= regions_.size()) return nullptr;
  const Region& found = regions_[index];
  const std::uint32_t times = handle >> kIndexBits;
  return found.nic != nullptr && found.times == times ? &found : nullptr;
}

Region* Memory::find(VIP_MEM_HANDLE handle, const void* address) {
  Region* const found = region(handle);
  if (found == nullptr) return nullptr;
  return reinterpret_cast<std::uintptr_t>(address) - found->base < found->bytes ? found : nullptr;
}

void Memory::remove(VIP_MEM_HANDLE handle) {
  Region& old = *region(handle);
  // A handle that is given out again has another number, as long as 16,383 others are not between.
  const std::uint32_t times = std::max(1u, (old.times + 1) & ((1u << (32 - kIndexBits)) - 1));
  old = {};
  old.times = times;
  free_.push_back(handle & (kRegionsMax - 1));
}

const Region* Memory::covers(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
                             const void* ptag) const {
  const Region* const found = region(handle);
  if (found == nullptr || found->attributes.Ptag != ptag || ptag == nullptr) return nullptr;
  const std::uint64_t offset = address - found->base;
  return offset <= found->bytes && bytes <= found->bytes - offset ? found : nullptr;
}

bool Memory::permits(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
                     const void* ptag) const {
  return covers(handle, address, bytes, ptag) != nullptr;
}
bool Memory::permits_write(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
                           const void* ptag) const {
  const Region* const found = covers(handle, address, bytes, ptag);
  return found != nullptr && found->attributes.EnableRdmaWrite != VIP_FALSE;
}
bool Memory::permits_read(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
                          const void* ptag) const {
  const Region* const found = covers(handle, address, bytes, ptag);
  return found != nullptr && found->attributes.EnableRdmaRead != VIP_FALSE;
}

bool Memory::take(VIP_MEM_HANDLE handle, const VIP_DESCRIPTOR* descriptor) {
  Region& found = *region(handle);
  const std::uintptr_t first = found.base / VIP_DESCRIPTOR_ALIGNMENT;
  const std::size_t place =
      reinterpret_cast<std::uintptr_t>(descriptor) / VIP_DESCRIPTOR_ALIGNMENT - first;
  if (place >= found.is_posted.size()) found.is_posted.resize(place + 1);
  if (found.is_posted[place]) return false;
  found.is_posted[place] = true;
  ++found.posted;
  return true;
}

void Memory::give_back(VIP_MEM_HANDLE handle, const VIP_DESCRIPTOR* descriptor) {
  Region& found = *region(handle);
  const std::uintptr_t first = found.base / VIP_DESCRIPTOR_ALIGNMENT;
  found.is_posted[reinterpret_cast<std::uintptr_t>(descriptor) / VIP_DESCRIPTOR_ALIGNMENT - first] =
      false;
  --found.posted;
}

std::uint32_t Memory::count_of(const void* nic) const {
  return static_cast<std::uint32_t>(std::count_if(
      regions_.begin(), regions_.end(), [nic](const Region& each) { return each.nic == nic; }));
}

bool Memory::uses(const void* ptag) const {
  return std::any_of(regions_.begin(), regions_.end(), [ptag](const Region& each) {
    return each.nic != nullptr && each.attributes.Ptag == ptag;
  });
}

}  // namespace fairlead::via
