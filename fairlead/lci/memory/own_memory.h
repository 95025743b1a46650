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
#include <vector>

#include "fairlead/base/reserved_memory.h"
#include "fairlead/base/second_mapping.h"
#include "fairlead/lci/memory/exposures.h"
#include "fairlead/lci/memory/region_heap.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// What a rank may allocate where nothing else is said.
constexpr std::size_t kRankMemory = std::size_t{1} << 30;

class OwnMemory {
 public:
  // `region`, zero at the start, outlives it and begins with the table from now on. Empty: nobody
  // else reaches what is allocated, of which there may be `bytes_max`, and nothing is made before
  // its first use. `ni_words`: where those lie that this rank's interface knows by offset, too.
  OwnMemory(Rank ranks, std::span<std::byte> region, std::size_t bytes_max = kRankMemory,
            std::span<std::byte> ni_words = {});

  // Bytes of a region that the table takes; a useful region has more.
  static std::size_t table_bytes(Rank ranks);
  // Bytes of a region that gives `bytes` of memory.
  static std::size_t region_bytes(Rank ranks, std::size_t bytes);

  const Exposures& table() const { return table_; }
  std::span<std::byte> region() const { return region_; }

  // As Port's calls of these names. What lies in the region, or on the interface, is exposed as
  // part of that.
  void* allocate(SegId segment, std::size_t size);
  void* alias(SegId segment);
  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed);
  // Exposes `size` bytes at `offset` of the region of `lender`, which this process has at `at`.
  Post share(SegId segment, std::byte* at, std::size_t size, Rank lender, std::uint64_t offset);
  Post withdraw(SegId segment);
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) {
    return table_.regrant(segment, permissions, allowed);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Allocated {
    std::byte* at = nullptr;
    std::size_t size = 0;
    ReservedMemory own{};     // where there is no region
    SecondMapping mapping{};  // made by the first alias()
  };
  // Most ranks of a large job have nothing of this.
  struct Used {
    RegionHeap heap;        // of the region, where there is one
    std::size_t pages = 0;  // allocated where there is none
    std::unordered_map<SegId, Allocated> allocated;
    // Where there is no region: of calloc(), which takes no memory for what is untouched.
    std::vector<std::unique_ptr<std::byte, Free>> tables;
  };

  Used& used();
  void* allocate_here(SegId segment, std::size_t size);
  Post add(SegId segment, const Exposed& what, std::span<const Rank> allowed);
  // Zeroed memory of the table's, 64-byte aligned; nullptr: there is none left.
  std::byte* table_memory(std::size_t bytes);

  Rank ranks_;
  std::uint32_t pages_max_;  // that may be allocated where there is no region
  std::span<std::byte> region_;
  std::span<std::byte> ni_words_;
  Exposures table_;
  std::unique_ptr<Used> used_;
};

}  // namespace fairlead::lci
