#include "fairlead/systems/mpi/datatypes/cursor.h"

#include "fairlead/base/copy_small.h"

namespace fairlead::mpi {
namespace {

// Equal blocks, whose addresses `at(i)` tells, to a row (`kPack`) or back; the compiler knows their
// length. Short ones four at a time: it cannot know that a store does not change the next block,
// and would wait for each.
template <bool kPack, std::size_t kBytes, class At>
std::byte* copy_blocks(std::uint64_t count, std::byte* row, const At& at) {
  const auto block = [&](std::uint64_t i) { return reinterpret_cast<std::byte*>(at(i)); };
  constexpr bool kTogether = kBytes <= 16;
  std::uint64_t i = 0;
  for (; kTogether && i + 4 <= count; i += 4, row += 4 * kBytes) {
    std::byte four[4][kBytes];
    if constexpr (kPack) {
      for (std::size_t j = 0; j < 4; ++j) std::memcpy(four[j], block(i + j), kBytes);
      std::memcpy(row, four, sizeof four);
    } else {
      std::memcpy(four, row, sizeof four);
      for (std::size_t j = 0; j < 4; ++j) std::memcpy(block(i + j), four[j], kBytes);
    }
  }
  for (; i < count; ++i, row += kBytes) {
    std::memcpy(kPack ? row : block(i), kPack ? block(i) : row, kBytes);
  }
  return row;
}

// `row` is only read when not kPack.
template <bool kPack>
struct Copy {
  std::byte* row;

  void run(std::uintptr_t at, std::uint64_t bytes) {
    auto* const place = reinterpret_cast<std::byte*>(at);
    std::byte* const to = kPack ? row : place;
    const std::byte* const from = kPack ? place : row;
    if (bytes <= kCopySmallMax) {
      copy_small(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
    row += bytes;
  }
  void runs(std::uintptr_t at, std::int64_t stride, std::uint64_t count, std::uint64_t bytes) {
    const auto step = static_cast<std::uintptr_t>(stride);
    blocks(count, bytes, [=](std::uint64_t i) { return at + i * step; });
  }
  void places(std::uintptr_t at, const LayoutNode::Part* parts, std::uint64_t count,
              std::uint64_t bytes) {
    blocks(count, bytes,
           [=](std::uint64_t i) { return at + static_cast<std::uintptr_t>(parts[i].at); });
  }

 private:
  template <class At>
  void blocks(std::uint64_t count, std::uint64_t bytes, const At& at) {
    switch (bytes) {
      case 1:
        row = copy_blocks<kPack, 1>(count, row, at);
        return;
      case 4:
        row = copy_blocks<kPack, 4>(count, row, at);
        return;
      case 8:
        row = copy_blocks<kPack, 8>(count, row, at);
        return;
      case 16:
        row = copy_blocks<kPack, 16>(count, row, at);
        return;
      case 24:
        row = copy_blocks<kPack, 24>(count, row, at);
        return;
      case 32:
        row = copy_blocks<kPack, 32>(count, row, at);
        return;
      default:
        for (std::uint64_t i = 0; i < count; ++i) run(at(i), bytes);
    }
  }
};

}  // namespace

void Cursor::pack(void* to, std::uint64_t size) {
  Copy<true> copy{static_cast<std::byte*>(to)};
  advance(size, copy);
}

void Cursor::unpack(const void* from, std::uint64_t size) {
  Copy<false> copy{const_cast<std::byte*>(static_cast<const std::byte*>(from))};
  advance(size, copy);
}

}  // namespace fairlead::mpi
