#include "fairlead/systems/mpi/datatypes/cursor.h"

namespace fairlead::mpi {
namespace {

// Equal blocks to a row (`kPack`) or back, whose length the compiler knows.
template <bool kPack, std::size_t kBytes>
std::byte* copy_blocks(std::uintptr_t at, std::int64_t stride, std::uint64_t count,
                       std::byte* row) {
  for (; count > 0; --count, at += static_cast<std::uintptr_t>(stride), row += kBytes) {
    auto* const place = reinterpret_cast<std::byte*>(at);
    std::memcpy(kPack ? row : place, kPack ? place : row, kBytes);
  }
  return row;
}

// `row` is only read when not kPack.
template <bool kPack>
struct Copy {
  std::byte* row;

  void run(std::uintptr_t at, std::uint64_t bytes) {
    auto* const place = reinterpret_cast<std::byte*>(at);
    std::memcpy(kPack ? row : place, kPack ? place : row, bytes);
    row += bytes;
  }
  void runs(std::uintptr_t at, std::int64_t stride, std::uint64_t count, std::uint64_t bytes) {
    switch (bytes) {
      case 1:
        row = copy_blocks<kPack, 1>(at, stride, count, row);
        return;
      case 4:
        row = copy_blocks<kPack, 4>(at, stride, count, row);
        return;
      case 8:
        row = copy_blocks<kPack, 8>(at, stride, count, row);
        return;
      case 16:
        row = copy_blocks<kPack, 16>(at, stride, count, row);
        return;
      case 32:
        row = copy_blocks<kPack, 32>(at, stride, count, row);
        return;
      default:
        for (; count > 0; --count, at += static_cast<std::uintptr_t>(stride)) run(at, bytes);
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
