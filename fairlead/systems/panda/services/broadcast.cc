// Messages to every rank: as the Port's multicast brings them, or in one order over all sources.
#include <fmt/format.h>

#include "fairlead/systems/panda/core.h"

namespace fairlead::panda {

void Panda::broadcast(Service service, const Message& message, bool self) {
  const Core::Guard guard(*core_);
  core_->check_message(0, service, message);
  ++core_->counts.broadcasts;
  core_->send_to_all(Head::first(Kind::message, service, message.size(), 0), message, self);
}

// The number of the next ordered broadcast of all.
std::uint64_t Core::fetch_number() {
  constexpr const char* kWhat = "the number of an ordered broadcast";
  std::uint64_t index = 0;
  Counter done;
  for (;;) {
    const Post answer =
        port.atomic({options.sequencer, kOrderSegment, 0}, lci::Atomic::add, 1, 0, &index, &done,
                    threads != nullptr ? lci::kNoBlock : lci::kNoFlags);
    if (answer == Post::done || answer == Post::pending) break;
    if (answer != Post::again_credit && answer != Post::again_buffer) {
      fatal(fmt::format("cannot ask the sequencer, rank {}, for {}", options.sequencer, kWhat));
    }
    threads != nullptr ? park({.any_change = true, .what = kWhat})
                       : wait_port({.any_change = true, .what = kWhat});
  }
  wait(done, 1, kWhat);
  if (done.failed.load(std::memory_order_relaxed) != 0) {
    fatal(fmt::format("the sequencer, rank {}, did not answer for {}", options.sequencer, kWhat));
  }
  // Receivers hold what comes before its turn: not more than they have room for.
  if (index >= Reorder::kAheadMax) {
    wait(reordered_on, index - Reorder::kAheadMax + 1, "earlier ordered broadcasts");
  }
  return first_order + index;
}

std::uint64_t Panda::broadcast_ordered(Service service, const Message& message) {
  const Core::Guard guard(*core_);
  core_->check_message(0, service, message);
  core_->not_in_handler("an ordered broadcast");
  core_->port.charge({.ops = core_->costs.of(run::LayerStep::panda_number)});
  const std::uint64_t number = core_->fetch_number();
  ++core_->counts.ordered;
  core_->send_to_all(Head::first(Kind::ordered, service, message.size(), number), message, true);
  return number;
}

std::uint64_t Panda::order() const { return core_->order_now; }

}  // namespace fairlead::panda
