#include "fairlead/systems/elan/waiting.h"

namespace fairlead::elan {

Post wait_by(const Waiting& waiting, lci::Port& port, const lci::Until& until, const char* call) {
  if (waiting.wait == nullptr) return port.wait(until);
  for (;;) {
    if (until.counter != nullptr) {
      const std::uint64_t failed = until.counter->failed.load(std::memory_order_acquire);
      if (until.counter->ok.load(std::memory_order_acquire) + failed >= until.at) {
        return failed == 0 ? Post::done : Post::maybe_delivered;
      }
    }
    if (until.word != nullptr && until.word->load(std::memory_order_acquire) >= until.value) {
      return Post::done;
    }
    if (until.deadline != kNever && port.now() >= until.deadline) return Post::again_credit;
    waiting.wait(waiting.user, until, call);
  }
}

}  // namespace fairlead::elan
