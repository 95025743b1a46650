// The memory a rank lets its peers reach: the table of what is exposed, and what was allocated for
// them. In a region that others reach too (a fabric's mapped memory, a network interface's), or in
// this process alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "fairlead/lci/memory/exposures.h"
#include "fairlead/lci/memory/region_heap.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

class OwnMemory {
 public:
  // `region`, zero at the start, outlives it and begins with the table from now on. Empty: nobody
  // else reaches what is allocated, and nothing is made before its first use.
  OwnMemory(Rank ranks, std::span<std::byte> region);

  // Bytes of a region that the table takes; a useful region has more.
  static std::size_t table_bytes(Rank ranks);

  const Exposures& table() const { return table_; }
  std::span<std::byte> region() const { return region_; }

  // As Port's calls of these names. What lies in the region is exposed as part of it.
  void* allocate(SegId segment, std::size_t size);
  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed);
  Post withdraw(SegId segment);
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) {
    return table_.regrant(segment, permissions, allowed);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  // Where there is a region.
  struct Shared {
    RegionHeap heap;
    std::unordered_set<SegId> allocated;
  };
  // Without one. Most ranks of a large job expose nothing.
  struct Local {
    std::unique_ptr<std::byte, Free> table;  // of calloc(): what is not used takes no memory
    std::unordered_map<SegId, std::unique_ptr<std::uint64_t[]>> allocated;
  };

  void* allocate_here(SegId segment, std::size_t size);
  Post add(SegId segment, const Exposed& what, std::span<const Rank> allowed);

  Rank ranks_;
  std::span<std::byte> region_;
  Exposures table_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Local> local_;
};

}  // namespace fairlead::lci
