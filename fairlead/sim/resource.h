// Things in a machine that one user at a time occupies, first come first served: a bus, a
// processor, a DMA engine (Server: the length of the use is known when it starts) and a wormhole
// channel or a pool of buffers (Holding: the user decides when it ends). No allocation.
#pragma once
#include <cstdint>

#include "fairlead/base/check.h"
#include "fairlead/base/units.h"

namespace fairlead::sim {

class Server {
 public:
  // Occupies the server for `duration` from the first moment it is free at or after `at`; returns
  // that moment. Arrivals come in time order (a failed check otherwise): only then is bookkeeping
  // of one instant first come first served.
  Ps acquire(Ps at, Ps duration) {
    FAIRLEAD_CHECK(at >= last_arrival_ && duration.count >= 0, "{} ps after {} ps for {} ps",
                   at.count, last_arrival_.count, duration.count);
    last_arrival_ = at;
    const Ps start = at > free_at_ ? at : free_at_;
    free_at_ = start + duration;
    busy_ += duration;
    waited_ += start - at;
    ++uses_;
    return start;
  }

  Ps free_at() const { return free_at_; }
  // Occupied time up to `now`, which is not before the last arrival; what is booked beyond now does
  // not count yet.
  Ps busy(Ps now) const { return free_at_ > now ? busy_ - (free_at_ - now) : busy_; }
  // Time users spent waiting for their start, all together.
  Ps waited() const { return waited_; }
  std::uint64_t uses() const { return uses_; }

 private:
  Ps free_at_{};
  Ps last_arrival_{};
  Ps busy_{};
  Ps waited_{};
  std::uint64_t uses_ = 0;
};

// One user's place in the queue of a Holding. The user's own, kept until granted or cancelled; in
// one queue at a time. `context` and `id` are the user's.
struct Waiter {
  using Granted = void (*)(Waiter& waiter, Ps now);

  explicit Waiter(Granted on_grant = nullptr, void* user = nullptr, std::uint64_t number = 0)
      : granted(on_grant), context(user), id(number) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Granted granted;
  void* context;
  std::uint64_t id;

 private:
  friend class Holding;
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
  bool queued_ = false;
};

enum class [[nodiscard]] Grant : std::uint8_t{
    now,    // the unit is the caller's
    later,  // the waiter is queued; its callback tells
};

// `capacity` equal units; every one taken is given back by release().
class Holding {
 public:
  explicit Holding(std::uint32_t capacity = 1) : capacity_(capacity), free_(capacity) {}
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  // Takes a unit, or queues `waiter` behind those already waiting. Times come in order.
  Grant acquire(Waiter& waiter, Ps now);
  // Gives a unit back. The first waiter gets it at once: its callback runs inside this call, at
  // `now`, and may acquire or release others but not destroy this one.
  void release(Ps now);
  // Leaves the queue; false when `waiter` is not in it (granted, or never queued).
  bool cancel(Waiter& waiter, Ps now);

  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t free() const { return free_; }
  std::uint32_t waiting() const { return waiting_; }
  // Unit-time occupied up to `now`: divided by capacity and time, the utilisation.
  Ps held(Ps now) const { return held_ + (now - since_) * (capacity_ - free_); }
  // Waiter-time spent in the queue up to `now`, all together.
  Ps waited(Ps now) const { return waited_ + (now - since_) * waiting_; }

 private:
  void account(Ps now);
  void unlink(Waiter& waiter);

  std::uint32_t capacity_;
  std::uint32_t free_;
  std::uint32_t waiting_ = 0;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  Ps since_{};  // the last change
  Ps held_{};
  Ps waited_{};
};

}  // namespace fairlead::sim
