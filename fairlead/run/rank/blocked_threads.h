// The blocked threads of a rank, and what they wait for in one line; for scheduler.cc alone.
#pragma once
#include <cstddef>

#include "fairlead/run/rank/thread.h"

namespace fairlead::run {

class BlockedThreads {
 public:
  void add(Thread& thread);
  void remove(Thread& thread);
  // Those with a condition of memory or of the port, or with a deadline, at which the scheduler has
  // to look; linked by blocked_next.
  Thread* first_watched() const { return watched_.first; }
  // Those that somebody will make ready.
  Thread* first_other() const { return others_.first; }

  // What every one waits for, as a job that hangs shows it: "2 threads: reader in a wait; its own
  // thread in the end of a thread". Valid until the next call. `last`: who blocked last. It costs
  // nothing as long as that is always the same thread, in the same wait, and no other has run.
  const char* text(const Thread& last);

 private:
  struct List {
    Thread* first = nullptr;
    Thread* last = nullptr;
  };
  static constexpr std::size_t kTextBytes = 240;

  List& list_of(const Thread& thread) {
    return thread.until != nullptr || thread.deadline != kNever ? watched_ : others_;
  }
  void changed(const Thread& thread) {
    if (&thread != text_last_) text_last_ = nullptr;
  }

  List watched_;
  List others_;
  std::uint32_t count_ = 0;
  const Thread* text_last_ = nullptr;  // of text_; nullptr: it does not hold any more
  const char* text_what_ = nullptr;
  char text_[kTextBytes];
};

}  // namespace fairlead::run
