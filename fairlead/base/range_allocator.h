// Which parts of a range of offsets are given out. Where each rank keeps one for its own heap and
// all make equal calls in one order, what they give out has one offset on all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

namespace fairlead {

// Thread: its owner's. Offsets are in bytes from the range's first.
class RangeAllocator {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kGrain = 16;  // all offsets and sizes are multiples

  RangeAllocator() = default;
  explicit RangeAllocator(std::uint64_t bytes) : bytes_(bytes / kGrain * kGrain) {}

  // The first free place from `from` on for `size` bytes at a multiple of `align`, a power of two;
  // kNone: there is none. Takes nothing.
  std::uint64_t find(std::uint64_t size, std::uint64_t align, std::uint64_t from) const;
  // Gives out what find() answered for that size.
  void take(std::uint64_t offset, std::uint64_t size);
  // Bytes given out at `offset`, as asked for; 0: nothing begins there.
  std::uint64_t size_at(std::uint64_t offset) const;
  // False: nothing begins there.
  bool free(std::uint64_t offset);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t used() const { return used_; }

 private:
  static std::uint64_t rounded(std::uint64_t size) {
    return size == 0 ? kGrain : (size + kGrain - 1) / kGrain * kGrain;
  }

  std::uint64_t bytes_ = 0;
  std::uint64_t used_ = 0;
  std::map<std::uint64_t, std::uint64_t> taken_;  // offset -> size as asked for
};

}  // namespace fairlead
