// Registered memory: which bytes a memory handle names, who may reach them, and which descriptors
// in them belong to the provider. Nothing here reads or writes the memory itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/systems/via/vipl.h"

namespace fairlead::via {

struct Region {
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
  VIP_MEM_ATTRIBUTES attributes{};
  const void* nic = nullptr;    // handle; null: the place is free
  std::uint32_t times = 1;      // given out
  std::uint32_t posted = 0;     // descriptors
  std::vector<bool> is_posted;  // by 64 bytes; as long as descriptors were posted there
};

class Memory {
 public:
  static constexpr std::uint32_t kRegionsMax = 1u << 18;

  // 0: the table is full.
  VIP_MEM_HANDLE add(const void* nic, const void* base, std::uint64_t bytes,
                     const VIP_MEM_ATTRIBUTES& attributes);
  // The region of a handle, if `address` lies in it; else nullptr.
  Region* find(VIP_MEM_HANDLE handle, const void* address);
  void remove(VIP_MEM_HANDLE handle);
  // Whether a VI with that protection tag reaches all of [address, address + bytes).
  bool permits(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
               const void* ptag) const;
  // As permits(), for an RDMA write or read of the other side.
  bool permits_write(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
                     const void* ptag) const;
  bool permits_read(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
                    const void* ptag) const;

  // A descriptor, which is aligned and lies in the region, becomes the provider's. False: it is.
  bool take(VIP_MEM_HANDLE handle, const VIP_DESCRIPTOR* descriptor);
  void give_back(VIP_MEM_HANDLE handle, const VIP_DESCRIPTOR* descriptor);

  std::uint32_t count_of(const void* nic) const;
  // Whether a region has the tag.
  bool uses(const void* ptag) const;

 private:
  static constexpr std::uint32_t kIndexBits = 18;

  const Region* region(VIP_MEM_HANDLE handle) const;
  Region* region(VIP_MEM_HANDLE handle) {
    return const_cast<Region*>(static_cast<const Memory*>(this)->region(handle));
  }
  const Region* covers(VIP_MEM_HANDLE handle, std::uint64_t address, std::uint64_t bytes,
                       const void* ptag) const;

  std::vector<Region> regions_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fairlead::via
