// What Panda-MT adds: threads that wait, and who sends what waits for room.
#include <fmt/format.h>

#include "fairlead/systems/panda/core.h"

namespace fairlead::panda {

void Core::lock() {
  port.hold();
  port.charge({.ops = costs.of(run::LayerStep::panda_mt_lock)});
}

void Core::park(const lci::Until& until) {
  const Post answer = threads->wait(until);
  port.charge({.ops = costs.of(run::LayerStep::panda_mt_switch)});
  check_answer(answer, until.what);
}

// For whoever sends: until `counter` counts that far.
void Core::flush_until(const Counter& counter, std::uint64_t at) {
  sending = true;
  while (counter.ok.load(std::memory_order_relaxed) < at) {
    if (outgoing.flush(Outgoing::kTurnPackets)) {
      threads->yield();
      continue;
    }
    park({.counter = &counter,
          .at = at,
          .any_change = true,
          .what = "room for a message of Panda's"});
  }
  sending = false;
}

void Core::wait_until_sent(const Counter& sent) {
  if (!sending) {
    flush_until(sent, 1);
    return need_sender();
  }
  while (sent.ok.load(std::memory_order_relaxed) == 0) {
    park({.counter = &sent, .at = 1, .what = "room behind other messages of Panda's"});
  }
}

void Core::need_sender() {
  if (sending || !outgoing.waits()) return;
  const Result<run::Thread*> thread = threads->spawn("Panda's sender", &Core::run_sender, this);
  if (!thread.ok()) fatal(thread.error().text);
  threads->detach(thread.value());
  sending = sender_thread = true;
}

void Core::run_sender(void* self) {
  Core& core = *static_cast<Core*>(self);
  const Guard guard(core);
  while (core.outgoing.waits()) {
    core.flush_until(core.outgoing.emptied(),
                     core.outgoing.emptied().ok.load(std::memory_order_relaxed) + 1);
  }
  core.sending = core.sender_thread = false;
}

void Core::check_alone(std::uint32_t others) {
  if (threads->live() <= others) return;
  fatal(fmt::format("stop() while {} other threads live: join them first",
                    threads->live() - (sender_thread ? 1 : 0)));
}

// Nothing is under way any more; the sender has yet to see that.
void Core::end_threads() {
  while (sender_thread) threads->yield();
  check_alone(0);
  port.wake(lci::Wake::poll_only, Ps{0});
}

}  // namespace fairlead::panda
