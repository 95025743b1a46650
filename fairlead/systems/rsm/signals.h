// Signals that came for one end of a segment, and its descriptor for poll(2).
#pragma once
#include <cstdint>

#include "fairlead/base/fd.h"
#include "fairlead/base/post.h"

namespace fairlead::rsm {

class Signals {
 public:
  // From an upcall. `accumulates` false: dropped where one is pending.
  void came(bool accumulates);
  // The other end is gone: who waits shall look.
  void ended() { came_.failed.fetch_add(1, std::memory_order_release); }

  std::uint64_t pending() const { return came_.ok.load(std::memory_order_acquire) - taken_; }
  // One of them; there is one.
  void take();
  // What to wait for: its ok + failed reaches next().
  const Counter& counter() const { return came_; }
  std::uint64_t next() const { return taken_ + came_.failed.load(std::memory_order_acquire) + 1; }

  // Readable while any is pending; this object's. -1: the process has no descriptor left.
  int descriptor();
  // Users of the descriptor.
  unsigned polls = 0;

 private:
  Counter came_;
  std::uint64_t taken_ = 0;
  Fd event_;
};

}  // namespace fairlead::rsm
