// Which chain of causes a run's end stood at the end of: every event carries the time since the
// start along its longest path, split into classes (the machine's resources). An event's cause is
// the last of what it waited for; where two chains meet (a busy processor and new work, a taken
// channel and the next packet), the later one goes on. Every picosecond of a path lies in one
// class, so that the classes' sum at the last event is the run's time.
//
// Off, the engine tests a null pointer per event scheduled; on, an event costs a look-up in a table
// and about 150 bytes while it is pending.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "fairlead/base/units.h"
#include "fairlead/sim/event.h"

namespace fairlead::sim {

class CriticalPath {
 public:
  static constexpr std::size_t kClasses = 8;
  using Class = std::uint8_t;

  struct Path {
    Ps at{};
    std::array<Ps, kClasses> spent{};

    void extend(Ps to, Class in) {
      if (to <= at) return;
      spent[in] += to - at;
      at = to;
    }
  };

  // `class_of`: where the time goes between the scheduling of an event of a kind and the event.
  explicit CriticalPath(Class (*class_of)(std::uint8_t kind)) : class_of_(class_of) {}

  // --- For the engine.
  void scheduled(Ps when, EventKey key) {
    catch_up();
    // What is scheduled for an earlier time than the path has reached has the event itself as
    // cause.
    Path path = when < here_.at ? event_ : here_;
    path.extend(when, class_of_(key.kind()));
    pending_[key.word()] = path;
  }
  void began(Ps when, EventKey key) {
    const auto found = pending_.find(key.word());
    if (found != pending_.end()) {
      event_ = found->second;
      pending_.erase(found);
    } else {
      event_.extend(when, class_of_(key.kind()));
    }
    here_ = event_;
  }

  // --- For the model, within an event: the path that what is scheduled next continues. It begins
  // at the event and runs ahead of it with the clock of whoever acts.
  const Path& here() {
    catch_up();
    return here_;
  }
  void reach(Ps to, Class in) {
    catch_up();
    here_.extend(to, in);
  }
  // Who acts was busy in `in` from `from` to `to`, and did not wait for what woke it meanwhile.
  void was_busy(Path from, Ps to, Class in) {
    from.extend(to, in);
    here_ = from;
  }
  // Runs `act` as what follows from `cause` instead, or from the event. `clock`: of who acts, whose
  // time is spent in `in` where nothing else is said.
  template <class Act>
  void along(const Path& cause, Act&& act, const Ps* clock = nullptr, Class in = 0) {
    const Path before = here();
    const Ps* const clock_before = std::exchange(clock_, clock);
    const Class in_before = std::exchange(clock_class_, in);
    here_ = cause;
    act();
    here_ = before;
    clock_ = clock_before;
    clock_class_ = in_before;
  }
  const Path& event() const { return event_; }
  // The path to the moment when something that others wait for became free. `place` is the model's
  // number for it.
  Path& place(std::uint64_t place) { return places_[place]; }

 private:
  void catch_up() {
    if (clock_ != nullptr) here_.extend(*clock_, clock_class_);
  }

  Class (*class_of_)(std::uint8_t kind);
  const Ps* clock_ = nullptr;
  Class clock_class_ = 0;
  Path event_;
  Path here_;
  std::unordered_map<std::uint64_t, Path> pending_;  // by EventKey::word()
  std::unordered_map<std::uint64_t, Path> places_;
};

}  // namespace fairlead::sim
