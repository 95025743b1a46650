// Splits a rank's shared region among its allocated segments. Bookkeeping is the owner's alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

namespace fairlead::lci {

class RegionHeap {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  RegionHeap() = default;
  // The offsets [begin, end) are the heap's; their memory is zero.
  RegionHeap(std::uint64_t begin, std::uint64_t end) : next_(begin), end_(end) {}

  // Offset of `size` bytes in pages of their own; kNone: none left.
  // *used_before: the memory may not be zero any more.
  std::uint64_t allocate(std::uint64_t size, bool* used_before);
  void free(std::uint64_t offset, std::uint64_t size);

 private:
  static constexpr std::uint64_t kPage = 4096;
  static std::uint64_t rounded(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

  std::uint64_t next_ = 0;  // never used from here on
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;  // offset -> size, neighbours joined
};

}  // namespace fairlead::lci
