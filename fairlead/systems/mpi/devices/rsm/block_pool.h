// A sender's account of the blocks of a pool, which lies at its receivers and which the sender
// alone hands out: no lock, no question (Sun MPI paper, section 3.1). A pool serves one connection,
// or all to the ranks of a node. Then each of these that holds no block is sure to get one,
// whatever the others take: no receiver that is late keeps messages from another one for good.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fairlead/systems/mpi/devices/rsm/postbox.h"

namespace fairlead::mpi::rsm {

class BlockPool {
 public:
  // A connection that the pool serves. It outlives the pool's use of it, and does not move.
  struct User {
    std::uint32_t held = 0;  // blocks, large or small
  };

  // `stripes`: of each kStripes blocks in a row the first so many are used.
  explicit BlockPool(std::uint64_t bytes, std::uint64_t stripes = kStripes)
      : stripes_(stripes), used_(bytes / kSmallBlockBytes, false), users_(bytes / kBlockBytes) {
    for (std::size_t block = 0; block < users_.size(); ++block) free_ += is_ours(block) ? 1 : 0;
  }

  // From here on a block is kept for `user`, as soon as there is one.
  void join(const User& user) { empty_handed_ += user.held == 0 ? 1 : 0; }

  // A block for `bytes` bytes, at most kBlockBytes: a small one where that is enough. Its number;
  // nullopt: there is none now.
  std::optional<std::uint16_t> take(std::uint64_t bytes, User& user) {
    const std::size_t units = units_for(bytes);
    const std::size_t count = users_.size() * 2;
    const std::size_t kept_for_others = user.held == 0 ? empty_handed_ - 1 : empty_handed_;
    const bool may_take_whole = free_ > kept_for_others;
    // Large blocks are aligned, so that small ones do not leave pieces. From the last one on, so
    // that a stream goes around.
    for (std::size_t looked = 0; looked < count; looked += units) {
      if (next_ + units > count) next_ = 0;
      const std::size_t at = next_ - next_ % units;
      next_ = at + units;
      if (used_[at] || !is_ours(at / 2)) continue;
      const User*& of = users_[at / 2];
      // The other half is in use: by the same user, or the block would be nobody's to keep.
      const bool half = of != nullptr;
      const bool fits = half ? units == 1 && of == &user : may_take_whole;
      if (!fits) continue;
      for (std::size_t i = 0; i < units; ++i) used_[at + i] = true;
      if (!half) --free_;
      of = &user;
      if (user.held++ == 0) --empty_handed_;
      return static_cast<std::uint16_t>(at);
    }
    return std::nullopt;
  }
  // What `user` took for so many bytes.
  void give(std::uint16_t number, std::uint64_t bytes, User& user) {
    for (std::size_t i = 0; i < units_for(bytes); ++i) used_[number + i] = false;
    if (--user.held == 0) ++empty_handed_;
    const std::size_t first = number - number % 2u;
    if (used_[first] || used_[first + 1]) return;
    users_[first / 2] = nullptr;
    ++free_;
  }

 private:
  static std::size_t units_for(std::uint64_t bytes) { return bytes <= kSmallBlockBytes ? 1 : 2; }
  bool is_ours(std::size_t block) const { return block % kStripes < stripes_; }

  const std::uint64_t stripes_;
  std::vector<bool> used_;          // by small block
  std::vector<const User*> users_;  // by large block; nullptr: both of its halves are free
  std::size_t free_ = 0;            // large blocks, both halves
  std::size_t empty_handed_ = 0;    // users that hold nothing
  std::size_t next_ = 0;
};

}  // namespace fairlead::mpi::rsm
