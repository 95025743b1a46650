#include <algorithm>
#include <bit>

#include "fairlead/systems/amudp/job.h"

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
  if (round >= rounds() || block == 0) return false;
  const std::size_t size = block * blocks_in(round);
  if (offset > size || bytes > size - offset) return false;
  std::copy_n(data, bytes, begin(block) + blocks_before(round) * block + offset);
  got_[round] += bytes;
  return true;
}

std::byte* Gathering::begin(std::size_t block) {
  if (blocks_.size() < block * ranks_) blocks_.resize(block * ranks_);
  return blocks_.data();
}

bool Gathering::complete(std::uint32_t round, std::size_t block) const {
  return got_[round] == block * blocks_in(round);
}

void Gathering::clear() {
  blocks_.clear();
  got_ = {};
}

}  // namespace fairlead::amudp
