// One thread of a rank as the scheduler sees it (scheduler.cc); for run/ alone.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/lci/until.h"
#include "fairlead/run/rank/threads.h"
#include "fairlead/sim/fiber.h"

namespace fairlead::run {

struct Thread {
  enum class State : std::uint8_t { ready, running, blocked, ended };

  Threads* threads = nullptr;
  sim::Fiber* fiber = nullptr;  // nullptr: the rank's own
  const char* name = "";
  Threads::Entry entry = nullptr;
  void* argument = nullptr;
  State state = State::ready;
  bool detached = false;
  Thread* joiner = nullptr;

  // While it is blocked.
  const char* what = "";
  Ps deadline = kNever;
  lci::Until* until = nullptr;          // a copy on its own stack
  const lci::Ending* ending = nullptr;  // of `until`
  std::uint64_t changes = 0;            // of the port when it began to wait
  bool hears_losses = false;            // a lost peer ends its wait
  Post answer = Post::done;
  ThreadQueue* queue = nullptr;  // in which it waits: of those that can run, a mutex, a condition
  Thread* previous = nullptr;    // there
  Thread* next = nullptr;
  Thread* blocked_previous = nullptr;  // of all that are blocked
  Thread* blocked_next = nullptr;
};

}  // namespace fairlead::run
