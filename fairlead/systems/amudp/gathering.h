// How the blocks of all ranks of a job come to each of them. Messages are the caller's (job.h).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::amudp {

// Gathers the bytes of all ranks on each of them in log2(ranks) rounds: in round r a rank passes
// what it has, its own block and those behind it, to the rank 2^r before it. A rank that is done
// may be one gathering ahead of another, never two: what arrives early has a place of its own.
class Gathering {
 public:
  explicit Gathering(std::uint32_t ranks) : ranks_(ranks) {}

  // How many blocks a rank has when round `round` begins, and how many it is sent in it.
  std::uint32_t blocks_before(std::uint32_t round) const;
  std::uint32_t blocks_in(std::uint32_t round) const;
  std::uint32_t rounds() const;
  // Part of a round came: `bytes` from `offset` of the blocks, which have `block` bytes each.
  // False: no rank of ours sends such a thing.
  bool came(std::uint32_t round, std::size_t block, std::size_t offset, const std::byte* data,
            std::size_t bytes);
  // Whether blocks have so many bytes; the first one who asks, or whose part comes, decides.
  bool agrees(std::size_t block);
  // The blocks, once that is decided.
  std::byte* blocks() { return blocks_.data(); }
  bool complete(std::uint32_t round) const;
  void clear();

 private:
  std::uint32_t ranks_;
  std::size_t block_ = 0;  // bytes; 0: not decided
  std::vector<std::byte> blocks_;
  std::array<std::size_t, 32> got_{};
};

}  // namespace fairlead::amudp
