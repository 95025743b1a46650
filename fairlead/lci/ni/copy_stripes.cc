#include "fairlead/lci/ni/copy_stripes.h"

#include <initializer_list>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/memory_words.h"

namespace fairlead::lci {

CopyStripes::CopyStripes(Peer nodes, std::uint32_t rails)
    : nodes_(nodes), rails_(rails), flows_(rails > 1 ? std::size_t{nodes} * rails : 0) {
  FAIRLEAD_CHECK(rails <= kRailsMost, "{} rails", rails);
  if (rails > 1) pairs_.resize(nodes);
}

CopyStripes::Order CopyStripes::order_of(const fabric::NiPacket& packet) {
  const fabric::ClientHeader& header = packet.header.client;
  if (header.kind != fabric::PacketKind::data) return Order::any;
  const bool is_long = header.size >= kPieceBytesMin;
  if (header.chan < kClientChannels) {
    return packet.any_order && is_long ? Order::piece : Order::any;
  }
  const bool after = (header.words[3] & kAsksAfter) != 0;
  const bool spreads = rail_of(packet) != 0 || is_long;
  switch (header.chan) {
    case kPutChan:
      if (after) return Order::behind;
      return spreads ? Order::piece : Order::any;
    case kGetReplyChan:
      return spreads ? Order::piece : Order::any;
    case kGetChan:
    case kAtomicChan:
      return after ? Order::behind : Order::any;
    case kFenceChan:
    case kBumpChan:
      return Order::behind;
    default:
      return Order::any;
  }
}

std::uint32_t CopyStripes::rail_of(const fabric::NiPacket& packet) {
  const fabric::ClientHeader& header = packet.header.client;
  return header.chan < kClientChannels ? 0 : rail_asked(header.words[3]);
}

std::uint64_t CopyStripes::add(Peer node, PacketId id, Peer flow) {
  Pair& with = pair(node);
  Ring<Piece>& queue = flow == kAnyFlow ? with.waiting : with.bound[flow / nodes_];
  queue.push_back({id, with.next});
  return with.next++;
}

Ring<CopyStripes::Piece>* CopyStripes::next_for(Peer flow) const {
  Pair* const with = pairs_[node_of(flow)].out.get();
  if (with == nullptr || flows_[flow].silent) return nullptr;
  const auto may_leave = [with](const Ring<Piece>& from) {
    return !from.empty() && from.front().number - with->oldest < kAhead;
  };
  for (Ring<Piece>* const from : {&with->again, &with->bound[flow / nodes_], &with->waiting}) {
    if (may_leave(*from)) return from;
  }
  for (std::uint32_t rail = 1; rail < rails_; ++rail) {
    if (!flows_[node_of(flow) + nodes_ * rail].silent) continue;
    if (may_leave(with->bound[rail])) return &with->bound[rail];
  }
  return nullptr;
}

CopyStripes::PacketId CopyStripes::take_piece(Peer flow) {
  Ring<Piece>& from = *next_for(flow);
  const PacketId id = from.front().id;
  from.pop_front();
  return id;
}

Peer CopyStripes::next_flow(Peer node) {
  Pair& with = *pairs_[node].out;
  return node + nodes_ * (with.turn++ % rails_);
}

void CopyStripes::acknowledged(Peer node, std::uint64_t number) {
  Pair& with = *pairs_[node].out;
  with.acknowledged.set(number % kAhead);
  for (; with.oldest < with.next && with.acknowledged.test(with.oldest % kAhead); ++with.oldest) {
    with.acknowledged.reset(with.oldest % kAhead);
  }
}

void CopyStripes::hold(Peer node, PacketId id) {
  Pair& with = pair(node);
  with.held.push_back({id, with.next});
}

bool CopyStripes::has_ready(Peer node) const {
  const Pair* const with = pairs_[node].out.get();
  return with != nullptr && !with->held.empty() && with->held.front().before <= with->oldest;
}

CopyStripes::PacketId CopyStripes::take_ready(Peer node) {
  Ring<Held>& held = pairs_[node].out->held;
  const PacketId id = held.front().id;
  held.pop_front();
  return id;
}

bool CopyStripes::heard(Peer flow, Ps now) {
  flows_[flow].unanswered = now;
  if (Pair* const with = pairs_[node_of(flow)].out.get(); with != nullptr) with->heard = now;
  return std::exchange(flows_[flow].silent, false);
}

bool CopyStripes::gives_up(Peer flow, Ps now) {
  Flow& one = flows_[flow];
  // A node that is not at work is silent by every rail.
  const bool by_others = pairs_[node_of(flow)].out->heard > one.unanswered;
  if (one.silent || now - one.unanswered < (by_others ? kSilent : kSilentAlone)) return false;
  one.silent = true;
  return true;
}

bool CopyStripes::came(Peer node, std::uint64_t number) {
  std::unique_ptr<Coming>& in = pairs_[node].in;
  if (in == nullptr) in = std::make_unique<Coming>();
  if (number < in->base || number - in->base >= kAhead) return false;
  if (in->came.test(number % kAhead)) return false;
  in->came.set(number % kAhead);
  for (; in->came.test(in->base % kAhead); ++in->base) in->came.reset(in->base % kAhead);
  return true;
}

}  // namespace fairlead::lci
