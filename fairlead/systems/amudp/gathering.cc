#include "fairlead/systems/amudp/gathering.h"

#include <algorithm>
#include <bit>

namespace fairlead::amudp {

std::uint32_t Gathering::rounds() const {
  return static_cast<std::uint32_t>(std::bit_width(ranks_ - 1));
}

std::uint32_t Gathering::blocks_before(std::uint32_t round) const {
  return std::uint32_t{1} << round;
}

std::uint32_t Gathering::blocks_in(std::uint32_t round) const {
  return std::min(blocks_before(round), ranks_ - blocks_before(round));
}

bool Gathering::came(std::uint32_t round, std::size_t block, std::size_t offset,
                     const std::byte* data, std::size_t bytes) {
  if (round >= rounds() || !agrees(block)) return false;
  const std::size_t size = block * blocks_in(round);
  if (offset > size || bytes > size - offset) return false;
  std::copy_n(data, bytes, blocks_.data() + blocks_before(round) * block + offset);
  got_[round] += bytes;
  return true;
}

bool Gathering::agrees(std::size_t block) {
  if (block_ == 0 && block > 0) {
    block_ = block;
    blocks_.resize(block * ranks_);
  }
  return block_ == block && block > 0;
}

bool Gathering::complete(std::uint32_t round) const {
  return got_[round] == block_ * blocks_in(round);
}

void Gathering::clear() {
  block_ = 0;
  blocks_.clear();
  got_ = {};
}

}  // namespace fairlead::amudp
