#include "fairlead/lci/reliable/reliable_nic.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fairlead/lci/reliable/reliable_nic_impl.h"

namespace fairlead::lci {

void Reliable::attach(fabric::Sink sink) {
  sink_ = sink;
  fabric::Sink own{&Reliable::on_arrived, &Reliable::on_peer_lost, this};
  own.place = &Reliable::on_place;
  own.path_changed = &Reliable::on_path_changed;
  below_.attach(own);
}

Post Reliable::post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) {
  const AbsenceWatch::Call call(watch_);
  return post_in_turn(dest, header, payload);
}

Post Reliable::post_in_turn(Peer dest, const PacketHeader& header, std::span<const Piece> payload) {
  const std::uint32_t lane = header.client.lane;
  if (dest >= peers() || lane >= kLanes || header.client.size > caps_.mtu_bytes) {
    return Post::invalid;
  }
  if (peers_[dest].lost) return Post::peer_down;
  const Flow flow = flow_of(dest, lane);
  Outbound& out = outbound(flow);
  // One of many that wait for each other anyway needs to know the time no better.
  if (!out.coalescing.holds() || ++idle_posts_ % kPostsPerClock == 0) site_.turn();
  const std::size_t bytes = record_bytes(header.client.size);
  if (const Post room = make_room(flow, out, bytes); room != Post::done) return room;
  write_record(pool_.at(out.open) + out.used, header.client, payload);
  out.used += static_cast<std::uint32_t>(bytes);
  posted(flow, out, (header.ack & fabric::kUrgentMark) != 0);
  return Post::done;
}

Post Reliable::post_small(Peer dest, std::uint64_t route, fabric::WordVector words,
                          const void* data, std::size_t size, PortCounters& tally) {
  const AbsenceWatch::Call call(watch_);
  const fabric::ClientHeader client = fabric::make_client_header(route, words, size);
  const Piece piece{data, size};
  Outbound* const out = dest < peers() && client.lane < kLanes
                            ? outbound_[flow_of(dest, client.lane)].get()
                            : nullptr;
  const std::size_t bytes = record_bytes(size);
  // Most of a burst: into the frame that is held back for coalescing.
  if (out != nullptr && out->coalescing.holds() && out->used + bytes <= frame_bytes_ &&
      out->waiting_bytes + out->used + bytes < kBatchBytes && out->open != kNoFrame &&
      ++idle_posts_ % kPostsPerClock != 0) {
    write_record(pool_.at(out->open) + out->used, client, {&piece, 1});
    out->used += static_cast<std::uint32_t>(bytes);
    count_sent(tally, size);
    return Post::done;
  }
  const Post answer = post_in_turn(dest, {client, dest, 0, 0, 0}, {&piece, 1});
  if (answer == Post::done) count_sent(tally, size);
  return answer;
}

Post Reliable::post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) {
  const AbsenceWatch::Call call(watch_);
  const std::size_t size = header.client.size;
  const std::uint32_t lane = header.client.lane;
  if (dest >= peers() || lane >= kLanes || size > caps_.mtu_bytes) return Post::invalid;
  if (size <= kJoinedMax) {
    const Piece piece{buffer, size};
    const Post answer = post_in_turn(dest, header, {&piece, 1});
    if (answer == Post::done) pool_.give(pool_.frame_of(buffer));
    return answer;
  }
  if (peers_[dest].lost) return Post::peer_down;
  const Flow flow = flow_of(dest, lane);
  Outbound& out = outbound(flow);
  site_.turn();
  if (const Post room = close_for(flow, out); room != Post::done) return room;
  out.open = pool_.frame_of(buffer);
  out.used = static_cast<std::uint32_t>(record_bytes(size));
  // The bytes are there: only the header and the padding are written.
  RecordHeader record{header.client.size, header.client.chan, 0, {}};
  std::memcpy(record.words, header.client.words, sizeof record.words);
  std::memcpy(pool_.at(out.open), &record, sizeof record);
  if (const std::size_t end = sizeof record + size; end < out.used) {
    std::memset(pool_.at(out.open) + end, 0, out.used - end);
  }
  posted(flow, out, (header.ack & fabric::kUrgentMark) != 0);
  return Post::done;
}

void Reliable::forget_memory(const fabric::RemoteKey& key) {
  const AbsenceWatch::Call call(watch_);
  if (!copies_.forget(key)) return;
  // What may have to be sent again goes on from a copy.
  for (std::uint32_t i = 0; i < frames_.size(); ++i) {
    Frame& frame = frames_[i];
    if (frame.copy == kNoCopy || frame.body.empty() || !copies_.is_of(frame.copy, key)) continue;
    std::memcpy(pool_.at(i) + sizeof(PieceHead), frame.body.data(), frame.body.size());
    frame.body = {};
  }
}

Post Reliable::copy_remote(const fabric::RemoteCopy& copy) {
  const AbsenceWatch::Call call(watch_);
  if (copy.peer >= peers()) return Post::invalid;
  if (peers_[copy.peer].lost) return Post::peer_down;
  const Post begun = copies_.begin(copy, slot_of(copy));
  if (begun != Post::done) return begun;
  site_.turn();
  send_notes();
  send_pieces(copy.peer);
  return Post::done;
}

bool Reliable::settled() {
  const AbsenceWatch::Call call(watch_);
  for (Flow flow = 0; flow < outbound_.size(); ++flow) {
    if (flows_.owes(flow) && !has_left(names_.peer_of(flow))) return false;
    if (outbound_[flow] == nullptr) continue;
    const Outbound& out = *outbound_[flow];
    const bool something = has_something(flow, out) || flows_.unacknowledged(flow) > 0;
    if (something && !has_left(names_.peer_of(flow))) return false;
  }
  return true;
}

void Reliable::leave() {
  const AbsenceWatch::Call call(watch_);
  for (int time = 0; time < kGoodbyes; ++time) {
    for (Peer peer = 0; peer < peers(); ++peer) {
      if (!met(peer) || has_left(peer)) continue;
      Outgoing one{header(flow_of(peer, 0), PacketKind::ack, 0), nullptr};
      one.header.client.chan = kGoodbye;
      (void)below_.post_many(peer, {&one, 1});
    }
  }
}

bool Reliable::met(Peer peer) const {
  const Flow first = flow_of(peer, 0);
  return peers_[peer].stamp != 0 ||
         std::any_of(&outbound_[first], &outbound_[first] + kLanes,
                     [](const auto& outbound) { return outbound != nullptr; });
}

Post Reliable::make_room(Flow flow, Outbound& out, std::size_t bytes) {
  if (out.open != kNoFrame && out.used + bytes <= frame_bytes_) return Post::done;
  if (const Post closed = close_for(flow, out); closed != Post::done) return closed;
  out.open = pool_.take();
  out.used = 0;
  return out.open == kNoFrame ? Post::again_buffer : Post::done;
}

Post Reliable::close_for(Flow flow, Outbound& out) {
  if (is_full(out)) flush(flow, out);
  if (is_full(out)) return Post::again_credit;
  close(out);
  return Post::done;
}

void Reliable::close(Outbound& out) {
  if (out.open == kNoFrame) return;
  info(out.open).bytes = out.used;
  out.waiting.push_back(out.open);
  out.waiting_bytes += out.used;
  out.open = kNoFrame;
  out.used = 0;
}

void Reliable::posted(Flow flow, Outbound& out, bool urgent) {
  const bool full = urgent || out.waiting_bytes + out.used >= kBatchBytes;
  const Ps burst = keeps_back_ ? burst_.length() : Ps{0};
  if (out.coalescing.posted(site_.now(), burst, full)) return flush(flow, out);
  list(flow, out);
}

void Reliable::flush(Flow flow, Outbound& out) {
  if (out.coalescing.release()) site_.turn();
  if (std::uint32_t may = paced(flow, out); may > 0) {
    if (flows_.lost(flow) > 0) flush_lost(flow, out, may);
    flush_frames(flow, out, may);
    if (has_pieces(flow)) flush_pieces(flow, out, may);
  }
  if (has_something(flow, out)) list(flow, out);
}

std::uint32_t Reliable::paced(Flow flow, Outbound& out) {
  const std::uint32_t frames =
      static_cast<std::uint32_t>(out.waiting.size()) + (out.open != kNoFrame ? 1 : 0);
  const std::uint32_t window = flows_.free_window(flow);
  const std::uint32_t ready =
      flows_.lost(flow) + (has_pieces(flow) ? window : std::min(frames, window));
  if (out.pacer.may_all(ready)) return ready;
  const bool held = out.pacer.held();
  const std::uint32_t may = out.pacer.may_leave(site_.now(), flows_.interval(flow), ready);
  if (may == 0) {
    release_ = std::min(release_, out.pacer.due());
    if (!held) ++counters_.paced;
  }
  return may;
}

void Reliable::flush_lost(Flow flow, Outbound& out, std::uint32_t& may) {
  while (may > 0 && flows_.lost(flow) > 0) {
    std::size_t count = 0;
    for (; count < batch_frames_ && may > 0 && flows_.lost(flow) > 0; --may) {
      const SelectiveRepeat::Again again = flows_.take_lost(site_, flow);
      batch_[count++] = outgoing(flow, again.item, again.sequence);
    }
    counters_.retransmissions += count;
    send_batch(flow, out, count);
  }
}

void Reliable::flush_frames(Flow flow, Outbound& out, std::uint32_t& may) {
  std::size_t taken = 0;
  while (may > 0 && flows_.room(flow)) {
    if (taken == out.waiting.size()) close(out);
    if (taken == out.waiting.size()) break;
    std::size_t count = 0;
    while (count < batch_frames_ && may > 0 && taken < out.waiting.size() && flows_.room(flow)) {
      const std::uint32_t frame = out.waiting[taken++];
      out.waiting_bytes -= frames_[frame].bytes;
      batch_[count++] = outgoing(flow, frame, flows_.number(site_, flow, frame));
      --may;
    }
    send_batch(flow, out, count);
  }
  out.waiting.erase(out.waiting.begin(), out.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
}

void Reliable::flush_pieces(Flow flow, Outbound& out, std::uint32_t& may) {
  const std::uint32_t most = names_.stripes() > 0 ? kStripeOut : UINT32_MAX;
  while (may > 0 && out.waiting.empty() && has_pieces(flow) && flows_.room(flow) &&
         flows_.unacknowledged(flow) < most) {
    // What is out will be acknowledged, and make room for as many as the fabric sends at once.
    if (flows_.free_window(flow) < run_ && flows_.unacknowledged(flow) >= 2 * run_) return;
    std::size_t count = 0;
    while (count < batch_frames_ && may > 0 && has_pieces(flow) && flows_.room(flow) &&
           flows_.unacknowledged(flow) < most) {
      const std::uint32_t frame = take_piece(flow);
      if (frame == kNoFrame) break;
      batch_[count++] = outgoing(flow, frame, flows_.number(site_, flow, frame));
      --may;
    }
    if (count == 0) return;
    send_batch(flow, out, count);
  }
}

std::uint32_t Reliable::take_piece(Flow flow) {
  const Peer peer = names_.peer_of(flow);
  if (!moved_.empty() && !moved_[peer].empty()) {
    const std::uint32_t moved = moved_[peer].front();
    moved_[peer].pop_front();
    return moved;
  }
  const std::uint32_t frame = pool_.take();
  if (frame == kNoFrame) return kNoFrame;
  const FrameCopies::Piece piece =
      copies_.take_piece(peer, frame_bytes_ - sizeof piece.head, slot_of(flow));
  std::memcpy(pool_.at(frame), &piece.head, sizeof piece.head);
  info(frame) = {static_cast<std::uint32_t>(sizeof piece.head + piece.body.size()), piece.copy,
                 piece.body};
  return frame;
}

void Reliable::heard_by(Flow flow) {
  peers_[names_.peer_of(flow)].heard = site_.now();
  if (outbound_[flow] == nullptr) return;
  Outbound& out = *outbound_[flow];
  out.unanswered = site_.now();
  if (std::exchange(out.silent, false)) list_pieces(names_.peer_of(flow));
}

void Reliable::move_pieces_if_silent(Flow flow) {
  Outbound& out = outbound(flow);
  const Peer peer = names_.peer_of(flow);
  // A peer that computes is silent by every rail.
  const bool by_others = peers_[peer].heard > out.unanswered;
  const Ps patience = by_others ? kStripeSilent : kStripeSilentAlone;
  if (out.silent || site_.now() - out.unanswered < patience) return;
  out.silent = true;
  flows_.replace_unacknowledged(flow, [&](std::uint32_t frame) {
    if (frame != kNoFrame) moved_[peer].push_back(frame);
    return kNoFrame;
  });
  list_pieces(peer);
}

void Reliable::send_batch(Flow flow, Outbound& out, std::size_t count) {
  out.pacer.left(static_cast<std::uint32_t>(count));
  if (names_.stripes() > 0 && flows_.unacknowledged(flow) == count) out.unanswered = site_.now();
  const Ps begin = site_.now();
  // What the fabric has no room for is as good as lost: it is sent again.
  (void)below_.post_many(names_.peer_of(flow), std::span(batch_).first(count));
  // The next packet follows from here on.
  site_.turn();
  out.coalescing.left(site_.now());
  if (count == 1 && batch_[0].header.client.size <= kJoinedMax) {
    burst_.sent_one(site_.now() - begin);
  }
}

void Reliable::send_notes() {
  for (std::size_t n = copies_.notes().size(); n > 0; --n) {
    const FrameCopies::Note note = copies_.notes().front();
    copies_.notes().pop_front();
    PacketHeader header{};
    header.client.lane = kCopyLane;
    header.client.chan = kNoteChan;
    std::memcpy(header.client.words, note.words, sizeof note.words);
    const bool ranged = note.words[0] == static_cast<std::uint32_t>(FrameCopies::Say::read);
    const Piece range{&note.range, ranged ? sizeof note.range : 0};
    header.client.size = static_cast<std::uint32_t>(range.size);
    const Post answer = post_in_turn(note.peer, header, {&range, 1});
    if (answer == Post::again_credit || answer == Post::again_buffer)
      copies_.notes().push_back(note);
  }
}

void Reliable::tell_ended() {
  while (!copies_.ended().empty()) {
    const FrameCopies::Ended one = copies_.ended().front();
    copies_.ended().pop_front();
    if (sink_.copied != nullptr) sink_.copied(sink_.context, one.token, one.result);
  }
}

PacketHeader Reliable::header(Flow flow, PacketKind kind, std::size_t bytes) {
  const Peer peer = names_.peer_of(flow);
  PacketHeader header{};
  header.client.kind = kind;
  header.client.lane = static_cast<std::uint8_t>(names_.lane_of(flow));
  header.client.source = self();
  header.client.size = static_cast<std::uint32_t>(bytes);
  header.client.words[0] = site_.stamp();
  header.client.words[1] = stamp_of(flow);
  header.ack = flows_.take_ack(flow);
  for (std::uint32_t i = 1; i < kLanes; ++i) {
    header.client.words[1 + i] = flows_.take_ack(names_.acked_by(flow, i));
  }
  header.dest_rank = peer;
  return header;
}

Outgoing Reliable::outgoing(Flow flow, std::uint32_t frame, std::uint32_t sequence) {
  if (flows_.owes(flow)) ++counters_.acks_piggybacked;
  if (frame == kNoFrame) {
    Outgoing none{header(flow, PacketKind::frame, 0), nullptr};
    none.header.sequence = sequence;
    return none;
  }
  const Frame& what = frames_[frame];
  const PacketKind kind = what.copy == kNoCopy ? PacketKind::frame : PacketKind::copy_piece;
  Outgoing one{header(flow, kind, what.bytes), pool_.at(frame), what.body};
  one.header.sequence = sequence;
  return one;
}

void Reliable::send_again(Flow flow, std::uint32_t frame, std::uint32_t sequence) {
  ++counters_.retransmissions;
  const Outgoing one = outgoing(flow, frame, sequence);
  (void)below_.post_many(names_.peer_of(flow), {&one, 1});
}

void Reliable::send_ack(Flow flow) {
  ++counters_.acks_sent;
  const std::size_t words = flows_.take_early(flow, early_words_);
  Outgoing one{header(flow, PacketKind::ack, words * sizeof(std::uint64_t)),
               reinterpret_cast<const std::byte*>(early_words_.data())};
  (void)below_.post_many(names_.peer_of(flow), {&one, 1});
}

void Reliable::finish_turn() {
  for (const Flow flow : urgent_) {
    if (flows_.urgent(flow)) send_ack(flow);
  }
  urgent_.clear();
  if (flows_.next_due() <= site_.now()) run_due();
  if (!copies_.notes().empty()) send_notes();
  if (!waits_.empty()) flush_waiting();
  if (copies_.any_begun() && site_.now() >= awaited_look_) look_for_awaited();
}

void Reliable::look_for_awaited() {
  awaited_look_ = site_.now() + kAwaitedLook;
  std::vector<Peer> gone;
  copies_.for_each_awaited([&](Peer peer) {
    if (has_left(peer) && std::find(gone.begin(), gone.end(), peer) == gone.end())
      gone.push_back(peer);
  });
  for (const Peer peer : gone) forget(peer);
}

void Reliable::run_due() {
  Peer gone = peers();
  Peer unheard = peers();
  flows_.run_due(
      site_, [this](Flow flow) { send_ack(flow); },
      [&](Flow flow, std::uint32_t frame, std::uint32_t sequence) {
        ++counters_.timeouts;
        if (has_left(names_.peer_of(flow))) {
          gone = names_.peer_of(flow);
        } else {
          send_again(flow, frame, sequence);
          if (peers_[names_.peer_of(flow)].stamp == 0) unheard = names_.peer_of(flow);
          if (names_.is_stripe(flow)) move_pieces_if_silent(flow);
        }
      });
  if (gone != peers()) forget(gone);
  if (unheard != peers()) miss(unheard);
}

void Reliable::miss(Peer peer) {
  if (absent_) return;
  PeerState& state = peers_[peer];
  if (state.unheard_since < Ps{0}) state.unheard_since = site_.now();
  if (site_.now() - state.unheard_since < options_.patience) return;
  state.unheard_since = kNever;  // was told
  if (options_.never_heard != nullptr) options_.never_heard(options_.never_heard_context, peer);
}

void Reliable::flush_waiting() {
  const std::size_t count = waits_.size();
  release_ = kNever;
  for (std::size_t i = 0; i < count; ++i) {
    const Flow flow = waits_[i];
    Outbound& out = *outbound_[flow];
    out.listed = false;
    if (!has_something(flow, out)) continue;
    out.coalescing.client_waits(kCoalescing, site_.now());
    flush(flow, out);
  }
  waits_.erase(waits_.begin(), waits_.begin() + static_cast<std::ptrdiff_t>(count));
  if (waits_.empty()) watch_.done();
}

bool Reliable::work_in_absence(void* self) {
  Reliable& nic = *static_cast<Reliable*>(self);
  nic.absent_ = true;
  nic.lanes_ = 0;  // nothing is delivered
  nic.site_.turn();
  nic.flush_waiting();
  // What rings for somebody is left to who is woken by it.
  if (nic.site_.now() >= nic.rings_until_) {
    nic.read_ = false;
    (void)nic.below_.reap(kAbsentBudget, fabric::kAllLanes);
    if (!nic.read_) nic.site_.turn();
    nic.finish_turn();
  }
  nic.absent_ = false;
  nic.was_absent_ = nic.was_absent_ || !nic.behind_.empty() || !nic.told_in_absence_.empty() ||
                    !nic.copies_.ended().empty();
  return !nic.waits_.empty() || nic.flows_.next_due() != kNever;
}

void Reliable::end_absence() {
  was_absent_ = false;
  for (const Told& what : std::exchange(told_in_absence_, {})) tell(what);
}

std::unique_ptr<ReliableNic> make_reliable_nic(fabric::Nic& below, const ReliableOptions& options) {
  return std::make_unique<Reliable>(below, options);
}

}  // namespace fairlead::lci
