// Where all ranks meet: what Core sends and waits for in a barrier and at the end, and the calls
// barrier() and stop(). services/barrier.h counts who has come.
#include <fmt/format.h>

#include "fairlead/systems/panda/core.h"

namespace fairlead::panda {

// Rank 0, once every other rank has entered: lets them go. Whether nothing is under way.
bool Core::release_all(Meeting meeting) {
  const std::uint64_t others = port.size() - 1;
  const std::uint64_t expected = meeting == Meeting::stop ? others : 0;
  if (barrier.in_stop() != expected) {
    fatal(fmt::format("rank 0 is in {}, others are in {}",
                      meeting == Meeting::stop ? "stop()" : "barrier()",
                      meeting == Meeting::stop ? "barrier()" : "stop()"));
  }
  const Released released{barrier.complete(under_way) ? 1u : 0u};
  const Message body(&released, sizeof released);
  const Head head = Head::first(Kind::release, 0, sizeof released, barrier.round());
  if (meeting == Meeting::barrier) {
    if (others > 0) put_out(0, true, head, body);
  } else {
    // To each alone: a rank that ends does not forward any more.
    for (Rank rank = 1; rank < port.size(); ++rank) put_out(rank, false, head, body);
  }
  return released.quiet != 0;
}

bool Core::meet(Meeting meeting) {
  const char* const what = meeting == Meeting::stop ? "Panda's stop" : "Panda's barrier";
  not_in_handler(what);
  if (in_meeting) fatal(fmt::format("two threads are in {} at once", what));
  in_meeting = true;
  const bool quiet = meet_alone(meeting, what);
  in_meeting = false;
  return quiet;
}

bool Core::meet_alone(Meeting meeting, const char* what) {
  const std::uint64_t round = barrier.enter();
  // What it has received counts with what that made it send.
  drain_all();
  if (port.self() == 0) {
    wait(barrier.came(), round * (port.size() - 1), what);
    return release_all(meeting);
  }
  const Message body(&under_way, sizeof under_way);
  const Head head =
      Head::first(Kind::gather, static_cast<Service>(meeting), sizeof under_way, round);
  put_out(0, false, head, body);
  wait(barrier.left(), round, what);
  return barrier.quiet();
}

// In the order of arrival with messages, so that those of a source that came before its gather are
// handled before.
void Core::run_meeting(Received& message) {
  Incoming incoming(&message);
  bool good = false;
  if (message.kind == Kind::gather && message.size == sizeof(Gathered) && port.self() == 0) {
    Gathered sums;
    incoming.pop(&sums, sizeof sums);
    good = barrier.gathered(message.extra, message.service, sums);
  } else if (message.kind == Kind::release && message.size == sizeof(Released) &&
             message.source == 0) {
    Released released;
    incoming.pop(&released, sizeof released);
    good = barrier.released(message.extra, released.quiet == 1);
  }
  if (!good) ++counts.dropped;
}

void Panda::barrier() {
  const Core::Guard guard(*core_);
  (void)core_->meet(Meeting::barrier);
}

void Panda::stop() {
  {
    const Core::Guard guard(*core_);
    if (core_->threads != nullptr) core_->check_alone(core_->sender_thread ? 1 : 0);
    while (!core_->meet(Meeting::stop)) {
    }
  }
  if (core_->threads != nullptr) core_->end_threads();
  core_->stopped = true;
  core_->context.ended(run::System::panda);
}

}  // namespace fairlead::panda
