// Which placement of an adaptive object costs less, by the operations that its owner counts.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"

namespace fairlead::orca {

class Balance {
 public:
  // Operations of a single copy, or writes to replicas, after which it is looked at again.
  static constexpr std::uint64_t kWindow = 64;
  enum class Advice : std::uint8_t { stay, replicate, gather };

  void read(bool by_owner, std::uint64_t count = 1) {
    reads_ += count;
    if (!by_owner) away_ += count;
  }
  void write(bool by_owner) {
    ++writes_;
    if (!by_owner) ++away_;
  }
  // At the end of a window, which it clears. Costs in messages: a single copy has two for each
  // operation of another rank; replicas one for each write and rank. It moves when the other way
  // costs less than half, so that a balanced load does not go to and fro.
  Advice advise(bool replicated, std::uint64_t ranks) {
    if ((replicated ? writes_ : reads_ + writes_) < kWindow) return Advice::stay;
    const std::uint64_t single = 2 * away_;
    const std::uint64_t replicas = writes_ * ranks;
    reads_ = writes_ = away_ = 0;
    if (replicated) return 2 * single < replicas ? Advice::gather : Advice::stay;
    return 2 * replicas < single ? Advice::replicate : Advice::stay;
  }
  void clear() { reads_ = writes_ = away_ = 0; }

 private:
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t away_ = 0;  // of both, by processes of other ranks than the owner's
};

}  // namespace fairlead::orca
