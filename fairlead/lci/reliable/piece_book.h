// Which pieces of a copy have come, where they come by several rails: in any order, and some twice.
#pragma once
#include <cstdint>
#include <vector>

namespace fairlead::lci {

class PieceBook {
 public:
  PieceBook() = default;
  explicit PieceBook(std::uint32_t pieces) : pieces_(pieces), words_((pieces + 63) / 64) {}

  std::uint32_t pieces() const { return pieces_; }
  // Below pieces().
  bool has(std::uint32_t index) const { return (words_[index / 64] >> (index % 64) & 1) != 0; }
  void mark(std::uint32_t index) {
    came_ += has(index) ? 0 : 1;
    words_[index / 64] |= std::uint64_t{1} << (index % 64);
  }
  bool complete() const { return came_ == pieces_; }

 private:
  std::uint32_t pieces_ = 0;
  std::uint32_t came_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace fairlead::lci
