#include "fairlead/systems/elan/call_wait.h"

namespace fairlead::elan {

Post wait_telling(run::ToldWait& told, lci::Port& port, const lci::Until& until, const char* call) {
  return told.wait(
      until, run::CallFacts::kNobody, [&port](const lci::Until& one) { return port.wait(one); },
      [&](run::CallFacts& facts) {
        facts.kind = run::CallFacts::Kind::other;
        run::set_call(facts, call, until.what);
      });
}

Post CallWait::once(const lci::Until& until) {
  if (waiting_.wait == nullptr) {
    return told_ ? wait_telling(*told_, port_, until, call_) : port_.wait(until);
  }
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
    if (until.deadline != kNever && port_.now() >= until.deadline) return Post::again_credit;
    waiting_.wait(waiting_.user, until, call_);
  }
}

}  // namespace fairlead::elan
