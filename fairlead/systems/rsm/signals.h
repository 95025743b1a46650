// Signals that came for one end of a segment, and its descriptor for poll(2).
#pragma once
#include <cstdint>
#include <memory>

#include "fairlead/base/fd.h"
#include "fairlead/base/post.h"
#include "fairlead/systems/rsm/event_name.h"

namespace fairlead::rsm {

class Signals {
 public:
  // From an upcall. `accumulates` false: dropped where one is pending. `rung`: its sender has
  // written into the descriptor's event before it sent the signal.
  void came(bool accumulates, bool rung);
  // The other end is gone: who waits shall look.
  void ended() { came_.failed.fetch_add(1, std::memory_order_release); }

  std::uint64_t pending() const { return came_.ok.load(std::memory_order_acquire) - taken_; }
  // One of them; there is one.
  void take();
  // What to wait for: its ok + failed reaches next().
  const Counter& counter() const { return came_; }
  std::uint64_t next() const { return taken_ + came_.failed.load(std::memory_order_acquire) + 1; }

  // Readable while any is pending, or under way from a sender that writes into it itself; this
  // object's. -1: the process has no descriptor left.
  int descriptor();
  // There is one, from the first descriptor() on.
  bool has_descriptor() const { return event_.valid(); }
  EventName name() const { return name_event(event_.get()); }
  // A sender has written into it whose signal is still on its way.
  bool announced() const;
  // Users of the descriptor.
  unsigned polls = 0;

 private:
  void ring();
  void take_ring();

  Counter came_;
  std::uint64_t taken_ = 0;
  Fd event_;
};

// The other end's descriptor of signals, where this process may write into it: that wakes who
// sleeps on it sooner than a thread of the other process that is woken first.
class FarEvent {
 public:
  // By the other end's name for it; nothing happens where it cannot be had.
  void open(const EventName& name);
  // Before the signal itself is sent. False: there is none, and the other end rings.
  bool ring() const;

 private:
  std::shared_ptr<const Fd> event_;  // copies are the same one
};

}  // namespace fairlead::rsm
