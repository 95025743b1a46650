#include "fairlead/systems/mpi/collectives/group_call.h"

#include "fairlead/systems/mpi/collectives/board.h"

namespace fairlead::mpi {
namespace {

// How long a message is waited for before this rank looks whether the others do something else.
constexpr Ps kLookAround = milliseconds(100);

}  // namespace

void GroupCall::exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                         std::uint64_t in_size) {
  Request* receive = begin_receive(from, in, in_size);
  send(to, out, out_size);
  end(receive, in_size);
}

void GroupCall::wait(Request& receive) const {
  Engine& engine = process_.engine();
  if (has_two_orders()) {
    while (!receive.done()) {
      look_at_other_order(receive);
      engine.wait_for_change(call_, {&receive});
    }
    engine.wait_is_over();
    return;
  }
  if (comm_.board == nullptr) return engine.wait(receive, call_);
  // Counted from when the wait turns out to be long: short ones read no clock.
  Ps look_at{};
  while (!engine.wait_a_while(receive, look_at, call_)) {
    const Ps now = engine.port().now();
    if (now < look_at) continue;
    if (look_at != Ps{}) check_board(process_, comm_, call_);
    look_at = now + kLookAround;
  }
}

// A member's broadcasts and its messages to one rank have an order each. What it sent in the other
// of the two, and no later call of its, shows that it is not in this rank's call.
void GroupCall::look_at_other_order(const Request& receive) const {
  const Envelope& wanted = receive.envelope;
  const Unexpected* const early =
      process_.engine().probe({wanted.context ^ kBroadcastContext, wanted.peer, kAnyTag});
  if (early == nullptr) return;
  const std::int32_t tag = early->envelope.tag;
  if (CallTag::number_of(tag, comm_.collectives) > comm_.collectives) return;
  disagree_by_tag(process_, comm_, call_, comm_.rank_of(wanted.peer), tag);
}

void GroupCall::mismatch(const Request& receive, std::uint64_t size) const {
  const int member = comm_.rank_of(receive.envelope.peer);
  if (receive.envelope.tag != tag_) {
    if (has_two_orders()) look_at_other_order(receive);
    disagree_by_tag(process_, comm_, call_, member, receive.envelope.tag);
  }
  disagree_on_size(process_, comm_, call_, member, receive.size, size);
}

}  // namespace fairlead::mpi
