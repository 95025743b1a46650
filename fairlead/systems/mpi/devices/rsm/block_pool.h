// A sender's account of the blocks of a connection's pool, which lies at the receiver and which the
// sender alone hands out: no lock, no question (Sun MPI paper, section 3.1).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "fairlead/systems/mpi/devices/rsm/postbox.h"

namespace fairlead::mpi::rsm {

class BlockPool {
 public:
  explicit BlockPool(std::uint64_t bytes) : used_(bytes / kSmallBlockBytes, false) {}

  // A block for `bytes` bytes, at most kBlockBytes: a small one where that is enough. Its number;
  // nullopt: there is none now.
  std::optional<std::uint16_t> take(std::uint64_t bytes) {
    const std::size_t units = units_for(bytes);
    const std::size_t count = used_.size();
    // Large blocks are aligned, so that small ones do not leave pieces. From the last one on, so
    // that a stream goes around.
    for (std::size_t looked = 0; looked < count; looked += units) {
      if (next_ + units > count) next_ = 0;
      const std::size_t at = next_ - next_ % units;
      next_ = at + units;
      if (used_[at] || (units == 2 && used_[at + 1])) continue;
      for (std::size_t i = 0; i < units; ++i) used_[at + i] = true;
      return static_cast<std::uint16_t>(at);
    }
    return std::nullopt;
  }
  void give(std::uint16_t number, std::uint64_t bytes) {
    for (std::size_t i = 0; i < units_for(bytes); ++i) used_[number + i] = false;
  }

 private:
  static std::size_t units_for(std::uint64_t bytes) { return bytes <= kSmallBlockBytes ? 1 : 2; }

  std::vector<bool> used_;
  std::size_t next_ = 0;
};

}  // namespace fairlead::mpi::rsm
