#include <algorithm>
#include <cstring>

#include "fairlead/base/copy_small.h"
#include "fairlead/lci/reliable/reliable_nic_impl.h"

namespace fairlead::lci {

int Reliable::reap(int budget, LaneMask lanes) {
  const AbsenceWatch::Call call(watch_);
  lanes_ = lanes;
  delivered_ = 0;
  if (was_absent_) end_absence();
  if (!behind_.empty()) catch_up();
  const std::uint32_t delivered_before = delivered_;
  const int caught = static_cast<int>(delivered_before);
  // The client waits: what was held back for coalescing leaves before a system call looks for
  // answers.
  if (!waits_.empty()) flush_waiting();
  read_ = false;
  int came = below_.reap(budget, fabric::kAllLanes);
  // A client that polls seldom finds what was sent again meanwhile before what is new: the fabric
  // stops after what is short.
  for (int more = came; more > 0 && came < budget && delivered_ == delivered_before;) {
    more = below_.reap(budget - came, fabric::kAllLanes);
    came += more;
  }
  if (!copies_.ended().empty()) tell_ended();
  // A turn in which nothing happens looks at the clock now and then only.
  const bool nothing = came == 0 && waits_.empty() && urgent_.empty() && copies_.notes().empty();
  if (nothing && ++idle_ % kIdlePerClock != 0) return caught;
  if (!read_) site_.turn();
  finish_turn();
  return came + caught;
}

void Reliable::sleep(Ps timeout) {
  const AbsenceWatch::Call call(watch_);
  if (was_absent_) return;
  site_.turn();
  finish_turn();
  const Ps due = std::min(flows_.next_due(), release_);
  if (due != kNever) timeout = std::min(timeout, std::max(due - site_.now(), Ps{0}));
  below_.sleep(timeout);
}

bool Reliable::listen(fabric::Bell& bell) {
  const AbsenceWatch::Call call(watch_);
  if (was_absent_) return false;
  site_.turn();
  rings_until_ = site_.now() + fabric::Bell::kLongest;
  finish_turn();
  const Ps due = std::min(flows_.next_due(), release_);
  if (due != kNever) bell.look_after(due - site_.now());
  return below_.listen(bell);
}

Keep Reliable::arrived(const Incoming& in) {
  const PacketHeader& h = *in.header;
  const bool piece = h.client.kind == PacketKind::copy_piece;
  const bool frame = h.client.kind == PacketKind::frame || piece;
  if (in.source >= peers() || h.client.source != in.source) return drop(counters_.foreign_dropped);
  if (h.client.lane >= kLanes || h.client.size != in.payload.size() + in.placed ||
      (!frame && h.client.kind != PacketKind::ack) ||
      (piece && (h.client.lane != kCopyLane || h.client.size <= sizeof(PieceHead)))) {
    return drop(counters_.corrupt_dropped);
  }
  PeerState& peer = peers_[in.source];
  if (peer.lost) return Keep::no;
  if (!read_) site_.turn();
  read_ = true;
  const Flow flow = flow_of(in.source, h.client.lane);
  if (!take_acks(flow, in)) return drop(counters_.corrupt_dropped);
  peer.stamp = h.client.words[0] | 1u;
  if (!frame) {
    ++counters_.acks_received;
    if (h.client.chan == kGoodbye) peer.left = true;
    return Keep::no;
  }
  const proto::Verdict came = flows_.arrived(site_, flow, h.sequence);
  if (flows_.urgent(flow)) urgent_.push_back(flow);
  switch (came) {
    case proto::Verdict::in_order:
      if (piece) return take_piece(flow, in, true);
      if (!may_take(flow)) return hold(flow, in);
      flows_.accept(flow);
      return take_in_order(flow, in);
    case proto::Verdict::early:
      if (piece) return take_piece(flow, in, false);
      return hold(flow, in);
    case proto::Verdict::duplicate:
      return drop(counters_.duplicates_dropped);
    case proto::Verdict::gap:
      break;
  }
  return drop(counters_.full_dropped);
}

bool Reliable::take_acks(Flow flow, const Incoming& in) {
  const PacketHeader& h = *in.header;
  std::span<const std::uint64_t> early;
  if (h.client.kind == PacketKind::ack) {
    const std::size_t words = in.payload.size() / sizeof(std::uint64_t);
    if (words * sizeof(std::uint64_t) != in.payload.size() || words > told_.size()) return false;
    if (words > 0) std::memcpy(told_.data(), in.payload.data(), in.payload.size());
    early = std::span(told_).first(words);
  }
  const Ps trip = trip_of(h.client.words[1]);
  const Ps answers = trip == kNever ? Ps{0} : site_.now() - trip;
  bool news = false;
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    const Flow of = flow - flow % kLanes + (flow + i) % kLanes;
    const std::uint32_t next = i == 0 ? h.ack : h.client.words[1 + i];
    const bool believed = flows_.acknowledged(
        site_, of, {next, i == 0 ? early : std::span<const std::uint64_t>{}, answers},
        [&](std::uint32_t frame) {
          news = true;
          give(frame);
        });
    if (!believed) return false;
    // At the end of this turn.
    if (flows_.lost(of) > 0) list(of, outbound(of));
  }
  if (news && trip != kNever) {
    // All lanes of a peer share a path.
    const Flow first = flow - flow % kLanes;
    for (Flow of = first; of < first + kLanes; ++of) flows_.measured(of, trip);
  }
  return true;
}

Ps Reliable::trip_of(std::uint32_t stamp) const {
  const std::uint32_t ticks = site_.stamp() - (stamp | 1u);
  if (stamp == 0 || static_cast<std::int32_t>(ticks) < 0) return kNever;
  return Ps{static_cast<std::int64_t>(ticks) << kStampShift};
}

Keep Reliable::hold(Flow flow, const Incoming& in) {
  std::uint32_t at = HeldFrames::kNone;
  if (in.keepable) {
    at = held_.hold(in);
  } else if (in.payload.size() <= frame_bytes_) {
    at = held_.copy(in.payload);
  }
  if (at == HeldFrames::kNone) return drop(counters_.full_dropped);
  flows_.keep(flow, in.header->sequence, at);
  if (!may_take(flow)) fall_behind(flow);
  return in.keepable ? Keep::yes : Keep::no;
}

Keep Reliable::take_in_order(Flow flow, const Incoming& in) {
  const std::uint32_t at = in.keepable ? held_.hold(in) : HeldFrames::kNone;
  deliver(flow, in.payload, at);
  const bool kept = at != HeldFrames::kNone && held_.still_used(at);
  if (flows_.keeps(flow)) take_kept(flow);
  return kept ? Keep::yes : Keep::no;
}

void Reliable::take_kept(Flow flow) {
  while (may_take(flow)) {
    const std::uint32_t at = flows_.take_kept(site_, flow);
    if (at == SelectiveRepeat::kNothing) return;
    if ((at & kEarlyPiece) != 0) {
      if ((at & ~kEarlyPiece) != kNotLast) copies_.last_came(flow / kLanes, take_last(at));
      continue;
    }
    deliver(flow, held_.data(at), at);
    held_.release(at);
  }
  fall_behind(flow);
}

Keep Reliable::take_piece(Flow flow, const Incoming& in, bool in_order) {
  PieceHead head;
  std::memcpy(&head, in.payload.data(), sizeof head);
  const std::span<const std::byte> body = in.payload.subspan(sizeof head);
  copies_.came(in.source, head, body, body.size() + in.placed);
  const bool last = (head.flags & PieceHead::kLast) != 0;
  if (!in_order) {
    flows_.keep(flow, in.header->sequence, kEarlyPiece | (last ? keep_last(head) : kNotLast));
    return Keep::no;
  }
  flows_.accept(flow);
  if (last) copies_.last_came(in.source, head);
  if (flows_.keeps(flow)) take_kept(flow);
  return Keep::no;
}

std::uint32_t Reliable::keep_last(const PieceHead& head) {
  if (free_lasts_.empty()) {
    lasts_.push_back(head);
    return static_cast<std::uint32_t>(lasts_.size() - 1);
  }
  const std::uint32_t index = free_lasts_.back();
  free_lasts_.pop_back();
  lasts_[index] = head;
  return index;
}

std::byte* Reliable::place(const PacketHeader& h, std::span<const std::byte> begin) {
  const Peer source = h.client.source;
  if (source >= peers() || peers_[source].lost || h.client.lane != kCopyLane ||
      begin.size() != sizeof(PieceHead) || h.client.size <= sizeof(PieceHead) ||
      !flows_.wants(flow_of(source, kCopyLane), h.sequence)) {
    return nullptr;
  }
  PieceHead head;
  std::memcpy(&head, begin.data(), sizeof head);
  return copies_.place_of(source, head, h.client.size - sizeof head);
}

// The short way for what most packets are.
inline void Reliable::deliver_small(const fabric::ClientHeader& frame,
                                    const RecordReader::Record& record) {
  fabric::SmallPacket& packet = *sink_.landing;
  packet.header = frame;
  packet.header.chan = record.header.chan;
  std::memcpy(packet.header.words, record.header.words, sizeof packet.header.words);
  if (record.header.size <= kCopyLineMax) {
    copy_line(packet.payload, record.payload.data(), record.header.size);
  } else {
    std::memcpy(packet.payload, record.payload.data(), record.header.size);
  }
  sink_.landing = sink_.arrived_small(sink_.context, &packet, record.header.size);
}

void Reliable::deliver(Flow flow, std::span<const std::byte> data, std::uint32_t at) {
  RecordReader reader(data);
  PacketHeader header{};
  header.client.kind = PacketKind::data;
  header.client.lane = static_cast<std::uint8_t>(flow % kLanes);
  header.client.source = flow / kLanes;
  header.dest_rank = self();
  while (const auto record = reader.next()) {
    ++delivered_;
    if (record->header.chan == kNoteChan) {
      take_note(flow, *record);
      continue;
    }
    if (record->header.size <= fabric::kSmallBytes && sink_.arrived_small != nullptr) {
      deliver_small(header.client, *record);
      continue;
    }
    header.client.chan = record->header.chan;
    header.client.size = record->header.size;
    std::memcpy(header.client.words, record->header.words, sizeof header.client.words);
    const bool keepable = at != HeldFrames::kNone;
    const Incoming in{header.client.source, &header, record->payload, at, keepable};
    if (keepable) held_.use(at);
    if (sink_.arrived(sink_.context, in) == Keep::no && keepable) held_.release(at);
  }
  if (!reader.complete()) ++counters_.corrupt_dropped;
}

void Reliable::take_note(Flow flow, const RecordReader::Record& note) {
  const Peer peer = flow / kLanes;
  if (flow % kLanes != kCopyLane || !copies_.noted(peer, note.header.words, note.payload)) {
    ++counters_.corrupt_dropped;
  }
  // At the end of this turn.
  if (has_pieces(flow)) list(flow, outbound(flow));
}

void Reliable::tell(const Told& what) {
  if (what.what == Told::What::peer_lost) return peer_lost(what.peer);
  if (sink_.path_changed == nullptr) return;
  sink_.path_changed(sink_.context, what.peer, what.what == Told::What::path_lost);
}

void Reliable::peer_lost(Peer peer) {
  if (peer >= peers() || peers_[peer].lost) return;
  peers_[peer].lost = true;
  forget(peer);
  if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, peer);
}

void Reliable::forget(Peer peer) {
  for (Flow flow = flow_of(peer, 0); flow < flow_of(peer, kLanes); ++flow) {
    flows_.forget(
        flow, [this](std::uint32_t frame) { give(frame); },
        [this](std::uint32_t kept) {
          if ((kept & kEarlyPiece) == 0) {
            held_.release(kept);
          } else if ((kept & ~kEarlyPiece) != kNotLast) {
            (void)take_last(kept);
          }
        });
    if (outbound_[flow] == nullptr) continue;
    Outbound& out = *outbound_[flow];
    if (out.open != kNoFrame) pool_.give(out.open);
    for (const std::uint32_t frame : out.waiting) pool_.give(frame);
    const bool listed = out.listed;
    out = Outbound{};
    out.listed = listed;
  }
  copies_.lose(peer);
}

}  // namespace fairlead::lci
