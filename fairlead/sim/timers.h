// Many cancellable timers of one node, kept out of the event queue: a pairing heap threaded through
// the timers themselves, and one lazy event at the earliest deadline. A retransmission timer that
// is pushed back with every packet costs a heap operation, and an event only when a deadline
// passes. No allocation; arming is O(1), cancelling and firing O(log n) amortised.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/sim/engine.h"

namespace fairlead::sim {

// Armed in at most one set at a time; the owner's, who cancels it before it goes. Not movable.
class Timer {
 public:
  // Runs at the deadline, disarmed; may arm or cancel any timer of the set, this one too.
  using Fired = void (*)(void* context, std::uint64_t id);

  Timer(Fired on_fire, void* user, std::uint64_t number = 0)
      : fired_(on_fire), context_(user), id_(number) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  bool armed() const { return armed_; }
  Ps deadline() const { return at_; }  // valid while armed

 private:
  friend class TimerSet;

  bool before(const Timer& other) const {
    return at_ != other.at_ ? at_ < other.at_ : order_ < other.order_;
  }

  Fired fired_;
  void* context_;
  std::uint64_t id_;
  Ps at_{};
  std::uint64_t order_ = 0;
  Timer* child_ = nullptr;
  Timer* next_ = nullptr;      // sibling
  Timer* previous_ = nullptr;  // sibling, or the parent of a first child
  bool armed_ = false;
};

class TimerSet {
 public:
  // `engine` outlives the set; `node` is the source of its events.
  TimerSet(Engine& engine, std::uint32_t node) : engine_(engine), node_(node) {}
  TimerSet(const TimerSet&) = delete;
  TimerSet& operator=(const TimerSet&) = delete;
  // No timer is armed any more, and the engine runs no more events of this set.
  ~TimerSet();

  // Sets or moves the deadline (not before now). Equal deadlines fire in the order armed.
  void arm(Timer& timer, Ps deadline);
  // Returns whether it was armed.
  bool cancel(Timer& timer);

  bool empty() const { return root_ == nullptr; }
  std::size_t size() const { return size_; }
  Ps earliest() const { return root_ == nullptr ? kNever : root_->at_; }

 private:
  static void on_event(void* context, std::uint64_t a, std::uint64_t b);
  static Timer* meld(Timer* a, Timer* b);
  static Timer* meld_siblings(Timer* first);

  void fire_due();
  void schedule();
  void remove(Timer& timer);

  Engine& engine_;
  std::uint32_t node_;
  Timer* root_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t next_order_ = 0;
  Ps event_at_ = kNever;  // the one event that counts; later ones are stale and do nothing
  std::uint64_t generation_ = 0;
  bool firing_ = false;
};

}  // namespace fairlead::sim
