#include "fairlead/systems/mpi/datatypes/cursor.h"

#include "fairlead/base/copy_small.h"

namespace fairlead::mpi {
namespace {

// Equal blocks to a row (`kPack`) or back, whose length the compiler knows. Four at a time: it
// cannot know that a store does not change the next block, and would wait for each.
template <bool kPack, std::size_t kBytes>
std::byte* copy_blocks(std::uintptr_t at, std::uintptr_t stride, std::uint64_t count,
                       std::byte* row) {
  const auto block = [](std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); };
  constexpr bool kTogether = kBytes <= 16;
  for (; kTogether && count >= 4; count -= 4, at += 4 * stride, row += 4 * kBytes) {
    std::byte four[4][kBytes];
    if constexpr (kPack) {
      for (std::size_t i = 0; i < 4; ++i) std::memcpy(four[i], block(at + i * stride), kBytes);
      std::memcpy(row, four, sizeof four);
    } else {
      std::memcpy(four, row, sizeof four);
      for (std::size_t i = 0; i < 4; ++i) std::memcpy(block(at + i * stride), four[i], kBytes);
    }
  }
  for (; count > 0; --count, at += stride, row += kBytes) {
    std::memcpy(kPack ? row : block(at), kPack ? block(at) : row, kBytes);
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
    switch (bytes) {
      case 1:
        row = copy_blocks<kPack, 1>(at, step, count, row);
        return;
      case 4:
        row = copy_blocks<kPack, 4>(at, step, count, row);
        return;
      case 8:
        row = copy_blocks<kPack, 8>(at, step, count, row);
        return;
      case 16:
        row = copy_blocks<kPack, 16>(at, step, count, row);
        return;
      case 24:
        row = copy_blocks<kPack, 24>(at, step, count, row);
        return;
      case 32:
        row = copy_blocks<kPack, 32>(at, step, count, row);
        return;
      default:
        for (; count > 0; --count, at += step) run(at, bytes);
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
