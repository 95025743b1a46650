#include "fairlead/systems/mpi/collectives/group_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/run/lost_ranks.h"
#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/thresholds.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {
namespace {

// How long a message is waited for before this rank looks whether the others do something else.
constexpr Ps kLookAround = milliseconds(100);
constexpr lci::Dest kAll{0, true};

}  // namespace

void GroupCall::exchange(int to, const void* out, std::uint64_t out_size, int from, void* in,
                         std::uint64_t in_size) {
  Request* receive = begin_receive(from, in, in_size);
  send(to, out, out_size);
  end(receive, in_size);
}

bool multicasts(Process& process, const Comm& comm) {
  if (comm.size != process.world().size) return false;
  if (process.bcast_way != BcastWay::automatic) return process.bcast_way == BcastWay::multicast;
  // Where work takes no time, in the real world, nothing says yet that it pays.
  const Engine& engine = process.engine();
  if (comm.size < kMulticastRanks || engine.free_work()) return false;
  return (engine.flags(engine.self() == 0 ? 1 : 0) & lci::kHwMulticast) != 0;
}

std::uint64_t GroupCall::broadcast_max() const {
  Engine& engine = process_.engine();
  if (process_.bcast_way != BcastWay::automatic) return engine.broadcast_max();
  return std::min<std::uint64_t>(engine.port().caps(engine.self()).mtu_bytes, kEagerBytesMax);
}

void GroupCall::broadcast(const void* from, std::uint64_t size) {
  Engine& engine = process_.engine();
  if (process_.bcast_way != BcastWay::automatic) {
    return engine.broadcast(from, size, comm_.context + 1, tag_);
  }
  lci::Port& port = engine.port();
  port.charge({.ops = kSendOps});
  // As a message of the direct device, which knows by the group that it is one to all.
  const lci::Words words = {first_word(Kind::eager, comm_.context + 1),
                            static_cast<std::uint32_t>(tag_), 0, 0};
  const Piece piece{static_cast<const std::byte*>(from), size};
  Post answer = Post::peer_down;
  if (size <= port.caps(engine.self()).inline_bytes_max) {
    answer = port.send_small(kAll, kChannel, lci::Lane::request, words,
                             {static_cast<const std::byte*>(from), size}, lci::kNoFlags);
  } else if (lci::Packet* const packet = port.alloc(kAll, lci::Lane::request, size, lci::kNoFlags);
             packet != nullptr) {
    answer = port.send(packet, kChannel, words, 0, {&piece, 1}, nullptr, lci::kNoFlags);
  }
  if (answer != Post::done && answer != Post::pending) {
    engine.failed(fmt::format("{}: {}", call_, run::lost_ranks(port)));
  }
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
  if (comm_.board == nullptr && comm_.here == nullptr) return engine.wait(receive, call_);
  if (engine.direct().receive_straight(receive)) [[likely]]
    return;
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
