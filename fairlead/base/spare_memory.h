// Memory that is needed for the length of one call, kept for the next: the operating system would
// give large pieces as fresh pages each time, which cost more than what is done with them.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace fairlead {

class SpareMemory {
 public:
  // The largest piece that is kept; a process keeps kPieces at most.
  static constexpr std::uint64_t kBytesMax = 4 << 20;
  static constexpr std::size_t kPieces = 2;

  struct Piece {
    std::unique_ptr<std::byte[]> memory;
    std::uint64_t size = 0;
  };

  // At least `size` bytes, with no particular content.
  Piece take(std::uint64_t size) {
    for (Piece& kept : pieces_) {
      if (kept.size >= size) return std::exchange(kept, {});
    }
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }
  // The larger ones stay.
  void give(Piece piece) {
    if (piece.size > kBytesMax) return;
    Piece& smallest =
        *std::min_element(pieces_.begin(), pieces_.end(),
                          [](const Piece& a, const Piece& b) { return a.size < b.size; });
    if (smallest.size < piece.size) smallest = std::move(piece);
  }

 private:
  std::array<Piece, kPieces> pieces_;
};

}  // namespace fairlead
