#include "fairlead/lci/reliable_nic.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/frame.h"
#include "fairlead/lci/frame_pool.h"
#include "fairlead/lci/held_frames.h"
#include "fairlead/lci/reliable_tuning.h"
#include "fairlead/proto/selective_repeat.h"

namespace fairlead::lci {
namespace {

using fabric::Incoming;
using fabric::kLanes;
using fabric::LaneMask;
using fabric::Outgoing;
using fabric::PacketHeader;
using fabric::PacketKind;
using proto::SelectiveRepeat;

// A lane of a peer has its own window: what SelectiveRepeat calls a peer.
using Flow = std::uint32_t;

constexpr std::uint32_t kNoFrame = FramePool::kNone;
// The host, as the place where the protocol runs: costs nothing but the time that passes. Reads the
// clock once per turn.
class HostSite {
 public:
  explicit HostSite(Ps epoch) : epoch_(epoch) { turn(); }
  void turn() { now_ = nanoseconds(monotonic_ns()) - epoch_; }
  Ps now() const { return now_; }
  void charge(Step) {}
  // Never 0, which says that there is none.
  std::uint32_t stamp() const { return static_cast<std::uint32_t>(now_.count >> kStampShift) | 1u; }

 private:
  Ps epoch_;
  Ps now_{};
};

class Reliable final : public ReliableNic {
 public:
  Reliable(fabric::Nic& below, const ReliableOptions& options)
      : below_(below),
        options_(options),
        site_(options.epoch),
        counters_(below.counters()),
        frame_bytes_(std::min(options.frame_bytes, below.caps(below.self()).mtu_bytes)),
        caps_{frame_bytes_ - static_cast<std::uint32_t>(sizeof(RecordHeader)),
              std::min<std::uint32_t>(fabric::kSmallBytes, frame_bytes_ / 2), fabric::kReliable},
        flows_(below.peers() * kLanes, flow_options(options.window_bytes, frame_bytes_)),
        pool_(frame_bytes_, kFramesMax),
        held_(below, pool_),
        frame_sizes_(kFramesMax),
        outbound_(std::size_t{below.peers()} * kLanes),
        peers_(below.peers()),
        early_words_(flows_.early_words()) {
    FAIRLEAD_CHECK((below.caps(below.self()).flags & fabric::kReliable) == 0,
                   "a reliable fabric does not carry sequence numbers");
    FAIRLEAD_CHECK(frame_bytes_ >= 256, "frames of {} bytes", frame_bytes_);
  }
  ~Reliable() override {
    fabric::Sink nobody;
    nobody.arrived = [](void*, const Incoming&) { return Keep::no; };
    below_.attach(nobody);
  }

  Peer self() const override { return below_.self(); }
  Peer peers() const override { return below_.peers(); }
  const fabric::NicCaps& caps(Peer) const override { return caps_; }
  void attach(fabric::Sink sink) override {
    sink_ = sink;
    below_.attach(fabric::Sink{&Reliable::on_arrived, &Reliable::on_peer_lost, this});
  }

  // --- Sending

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    const std::uint32_t lane = header.client.lane;
    if (dest >= peers() || lane >= kLanes || header.client.size > caps_.mtu_bytes) {
      return Post::invalid;
    }
    if (peers_[dest].lost) return Post::peer_down;
    const Flow flow = flow_of(dest, lane);
    Outbound& out = outbound(flow);
    site_.turn();
    const std::size_t bytes = record_bytes(header.client.size);
    if (const Post room = make_room(flow, out, bytes); room != Post::done) return room;
    write_record(pool_.at(out.open) + out.used, header.client, payload);
    out.used += static_cast<std::uint32_t>(bytes);
    posted(flow, out);
    return Post::done;
  }

  std::byte* buffer(Peer dest, std::size_t size) override {
    if (dest >= peers() || size > caps_.mtu_bytes) return nullptr;
    const std::uint32_t frame = pool_.take();
    return frame == kNoFrame ? nullptr : pool_.at(frame) + sizeof(RecordHeader);
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    const std::size_t size = header.client.size;
    const std::uint32_t lane = header.client.lane;
    if (dest >= peers() || lane >= kLanes || size > caps_.mtu_bytes) return Post::invalid;
    if (size <= kJoinedMax) {
      const Piece piece{buffer, size};
      const Post answer = post(dest, header, {&piece, 1});
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
    posted(flow, out);
    return Post::done;
  }
  void cancel_buffer(Peer, std::byte* buffer) override { pool_.give(pool_.frame_of(buffer)); }

  // --- Receiving

  int reap(int budget, LaneMask lanes) override {
    lanes_ = lanes;
    delivered_ = 0;
    if (!behind_.empty()) catch_up();
    read_ = false;
    const int came = below_.reap(budget, fabric::kAllLanes);
    // A turn in which nothing happens looks at the clock now and then only.
    const bool nothing = came == 0 && waits_.empty() && urgent_.empty();
    if (nothing && ++idle_ % kIdlePerClock != 0) return 0;
    if (!read_) site_.turn();
    finish_turn();
    return came;
  }
  void release(std::uint64_t token) override { held_.release(static_cast<std::uint32_t>(token)); }

  void sleep(Ps timeout) override {
    site_.turn();
    finish_turn();
    const Ps due = flows_.next_due();
    if (due != kNever) timeout = std::min(timeout, std::max(due - site_.now(), Ps{0}));
    below_.sleep(timeout);
  }
  Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) override {
    return below_.read_peer(peer, address, to, size);
  }
  Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) override {
    return below_.write_peer(peer, address, from, size);
  }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

  bool settled() override {
    for (Flow flow = 0; flow < outbound_.size(); ++flow) {
      if (flows_.owes(flow) && !has_left(flow / kLanes)) return false;
      if (outbound_[flow] == nullptr) continue;
      const Outbound& out = *outbound_[flow];
      const bool something =
          out.open != kNoFrame || !out.waiting.empty() || flows_.unacknowledged(flow) > 0;
      if (something && !has_left(flow / kLanes)) return false;
    }
    return true;
  }
  void leave() override {
    for (int time = 0; time < kGoodbyes; ++time) {
      for (Peer peer = 0; peer < peers(); ++peer) {
        if (!met(peer) || has_left(peer)) continue;
        Outgoing one{header(flow_of(peer, 0), PacketKind::ack, 0), nullptr};
        one.header.client.chan = kGoodbye;
        (void)below_.post_many(peer, {&one, 1});
      }
    }
  }

 private:
  // Of one flow, made when something is first sent on it.
  struct Outbound {
    std::uint32_t open = kNoFrame;  // under construction
    std::uint32_t used = 0;         // bytes of it
    bool listed = false;            // in waits_
    bool deferred = false;          // what waits could have left, and was to have company
    std::uint32_t eager = 0;        // packets that leave at once
    std::uint32_t penalty = kEagerFirst / 2;
    std::vector<std::uint32_t> waiting;  // full frames, oldest first
    std::size_t waiting_bytes = 0;
    Ps left{-kNever.count / 2};  // when something last did
    Ps since{};                  // deferred since then
  };
  struct PeerState {
    std::uint32_t stamp = 0;  // of the last packet that came; 0: none
    bool lost = false;
    bool left = false;  // said goodbye
  };
  Flow flow_of(Peer peer, std::uint32_t lane) const { return peer * kLanes + lane; }
  Outbound& outbound(Flow flow) {
    if (outbound_[flow] == nullptr) outbound_[flow] = std::make_unique<Outbound>();
    return *outbound_[flow];
  }
  bool has_left(Peer peer) const {
    const PeerState& state = peers_[peer];
    return state.lost || state.left ||
           (options_.left != nullptr && options_.left(options_.context, peer));
  }

  bool met(Peer peer) const {
    const Flow first = flow_of(peer, 0);
    return peers_[peer].stamp != 0 ||
           std::any_of(&outbound_[first], &outbound_[first] + kLanes,
                       [](const auto& outbound) { return outbound != nullptr; });
  }

  // --- Sending

  // Room for `bytes` more in the open frame.
  Post make_room(Flow flow, Outbound& out, std::size_t bytes) {
    if (out.open != kNoFrame && out.used + bytes <= frame_bytes_) return Post::done;
    if (const Post closed = close_for(flow, out); closed != Post::done) return closed;
    out.open = pool_.take();
    out.used = 0;
    return out.open == kNoFrame ? Post::again_buffer : Post::done;
  }
  // The open frame is done with, if there is one.
  Post close_for(Flow flow, Outbound& out) {
    if (is_full(out)) flush(flow, out);
    if (is_full(out)) return Post::again_credit;
    close(out);
    return Post::done;
  }
  static bool is_full(const Outbound& out) {
    return out.waiting.size() >= kWaitingMax || out.waiting_bytes >= kWaitingBytes;
  }
  void close(Outbound& out) {
    if (out.open == kNoFrame) return;
    frame_sizes_[out.open] = out.used;
    out.waiting.push_back(out.open);
    out.waiting_bytes += out.used;
    out.open = kNoFrame;
    out.used = 0;
  }

  // A packet was put into the open frame: now, or in company?
  void posted(Flow flow, Outbound& out) {
    const std::size_t bytes = out.waiting_bytes + out.used;
    const bool soon = site_.now() - out.left < kBurst;
    if (out.eager > 0) --out.eager;
    if (bytes >= kBatchBytes || !soon || out.eager > 0) return flush(flow, out);
    if (!out.deferred) out.since = site_.now();
    out.deferred = true;
    list(flow, out);
  }
  void list(Flow flow, Outbound& out) {
    if (out.listed) return;
    out.listed = true;
    waits_.push_back(flow);
  }
  // Everything that the window allows leaves; the rest is listed.
  void flush(Flow flow, Outbound& out) {
    out.deferred = false;
    std::array<Outgoing, kBatchFrames> batch;
    std::size_t taken = 0;
    while (flows_.room(flow)) {
      if (taken == out.waiting.size()) close(out);
      if (taken == out.waiting.size()) break;
      std::size_t count = 0;
      while (count < batch.size() && taken < out.waiting.size() && flows_.room(flow)) {
        const std::uint32_t frame = out.waiting[taken++];
        out.waiting_bytes -= frame_sizes_[frame];
        batch[count++] = outgoing(flow, frame, flows_.number(site_, flow, frame));
      }
      // What the fabric has no room for is as good as lost: it is sent again.
      (void)below_.post_many(flow / kLanes, std::span(batch).first(count));
      out.left = site_.now();
    }
    out.waiting.erase(out.waiting.begin(),
                      out.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
    if (!out.waiting.empty() || out.open != kNoFrame) list(flow, out);
  }
  // The header carries what all lanes owe the peer.
  PacketHeader header(Flow flow, PacketKind kind, std::size_t bytes) {
    const Peer peer = flow / kLanes;
    const std::uint32_t lane = flow % kLanes;
    PacketHeader header{};
    header.client.kind = kind;
    header.client.lane = static_cast<std::uint8_t>(lane);
    header.client.source = self();
    header.client.size = static_cast<std::uint32_t>(bytes);
    header.client.words[0] = site_.stamp();
    header.client.words[1] = peers_[peer].stamp;
    header.ack = flows_.take_ack(flow);
    for (std::uint32_t i = 1; i < kLanes; ++i) {
      header.client.words[1 + i] = flows_.take_ack(flow_of(peer, (lane + i) % kLanes));
    }
    header.dest_rank = peer;
    return header;
  }
  Outgoing outgoing(Flow flow, std::uint32_t frame, std::uint32_t sequence) {
    if (flows_.owes(flow)) ++counters_.acks_piggybacked;
    Outgoing one{header(flow, PacketKind::frame, frame_sizes_[frame]), pool_.at(frame)};
    one.header.sequence = sequence;
    return one;
  }
  void send_again(Flow flow, std::uint32_t frame, std::uint32_t sequence) {
    ++counters_.retransmissions;
    const Outgoing one = outgoing(flow, frame, sequence);
    (void)below_.post_many(flow / kLanes, {&one, 1});
  }
  void send_ack(Flow flow) {
    ++counters_.acks_sent;
    const std::size_t words = flows_.take_early(flow, early_words_);
    Outgoing one{header(flow, PacketKind::ack, words * sizeof(std::uint64_t)),
                 reinterpret_cast<const std::byte*>(early_words_.data())};
    (void)below_.post_many(flow / kLanes, {&one, 1});
  }

  // After something came, and before the client rests.
  void finish_turn() {
    for (const Flow flow : urgent_) {
      if (flows_.urgent(flow)) send_ack(flow);
    }
    urgent_.clear();
    if (flows_.next_due() <= site_.now()) run_due();
    if (!waits_.empty()) flush_waiting();
  }
  [[gnu::noinline]] void run_due() {
    Peer gone = peers();
    flows_.run_due(
        site_, [this](Flow flow) { send_ack(flow); },
        [&](Flow flow, std::uint32_t frame, std::uint32_t sequence) {
          ++counters_.timeouts;
          if (has_left(flow / kLanes)) {
            gone = flow / kLanes;
          } else {
            send_again(flow, frame, sequence);
          }
        });
    if (gone != peers()) forget(gone);
  }
  void flush_waiting() {
    const std::size_t count = waits_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Flow flow = waits_[i];
      Outbound& out = *outbound_[flow];
      out.listed = false;
      if (out.open == kNoFrame && out.waiting.empty()) continue;
      if (out.deferred && site_.now() - out.since > kForgotten) {
        out.penalty = std::min(out.penalty * 2, kEagerMax);
        out.eager = out.penalty;
      } else if (out.eager == 0) {
        out.penalty = kEagerFirst / 2;
      }
      flush(flow, out);
    }
    waits_.erase(waits_.begin(), waits_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // --- Receiving

  static Keep on_arrived(void* self, const Incoming& in) {
    return static_cast<Reliable*>(self)->arrived(in);
  }
  static void on_peer_lost(void* self, Peer peer) { static_cast<Reliable*>(self)->peer_lost(peer); }

  Keep arrived(const Incoming& in) {
    const PacketHeader& h = *in.header;
    const bool frame = h.client.kind == PacketKind::frame;
    if (in.source >= peers() || h.client.source != in.source)
      return drop(counters_.foreign_dropped);
    if (h.client.lane >= kLanes || h.client.size != in.payload.size() ||
        (!frame && h.client.kind != PacketKind::ack)) {
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
    const SelectiveRepeat::Came came = flows_.arrived(site_, flow, h.sequence);
    if (flows_.urgent(flow)) urgent_.push_back(flow);
    switch (came) {
      case SelectiveRepeat::Came::in_order:
        if (!may_take(flow)) return hold(flow, in);
        flows_.accept(flow);
        return take_in_order(flow, in);
      case SelectiveRepeat::Came::early:
        return hold(flow, in);
      case SelectiveRepeat::Came::duplicate:
        return drop(counters_.duplicates_dropped);
      case SelectiveRepeat::Came::beyond:
        break;
    }
    return drop(counters_.full_dropped);
  }
  static Keep drop(std::uint64_t& counter) {
    ++counter;
    return Keep::no;
  }
  bool may_take(Flow flow) const {
    return (lanes_ >> (flow % kLanes) & 1) != 0 && delivered_ < kDeliveredMax;
  }

  // The acknowledgments in a packet. False: they cannot be true.
  bool take_acks(Flow flow, const Incoming& in) {
    const PacketHeader& h = *in.header;
    std::span<const std::uint64_t> early;
    if (h.client.kind == PacketKind::ack) {
      const std::size_t words = in.payload.size() / sizeof(std::uint64_t);
      if (words * sizeof(std::uint64_t) != in.payload.size() || words > told_.size()) return false;
      if (words > 0) std::memcpy(told_.data(), in.payload.data(), in.payload.size());
      early = std::span(told_).first(words);
    }
    bool news = false;
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      const Flow of = flow - flow % kLanes + (flow + i) % kLanes;
      const std::uint32_t next = i == 0 ? h.ack : h.client.words[1 + i];
      const bool believed = flows_.acknowledged(
          site_, of, {next, i == 0 ? early : std::span<const std::uint64_t>{}},
          [&](std::uint32_t frame) {
            news = true;
            pool_.give(frame);
          },
          [&](std::uint32_t frame, std::uint32_t sequence) { send_again(of, frame, sequence); });
      if (!believed) return false;
    }
    if (news && h.client.words[1] != 0) measure(flow - flow % kLanes, h.client.words[1]);
    return true;
  }
  // All lanes of a peer share a path.
  void measure(Flow first, std::uint32_t stamp) {
    const std::uint32_t ticks = site_.stamp() - (stamp | 1u);
    if (static_cast<std::int32_t>(ticks) < 0) return;
    const Ps trip{static_cast<std::int64_t>(ticks) << kStampShift};
    for (Flow flow = first; flow < first + kLanes; ++flow) flows_.measured(flow, trip);
  }

  // Keeps a frame that is early, or that may not be taken now.
  Keep hold(Flow flow, const Incoming& in) {
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
  Keep take_in_order(Flow flow, const Incoming& in) {
    const std::uint32_t at = in.keepable ? held_.hold(in) : HeldFrames::kNone;
    deliver(flow, in.payload, at);
    const bool kept = at != HeldFrames::kNone && held_.still_used(at);
    if (flows_.keeps(flow)) take_kept(flow);
    return kept ? Keep::yes : Keep::no;
  }
  void take_kept(Flow flow) {
    while (may_take(flow)) {
      const std::uint32_t at = flows_.take_kept(flow);
      if (at == SelectiveRepeat::kNothing) return;
      deliver(flow, held_.data(at), at);
      held_.release(at);
    }
    fall_behind(flow);
  }
  void fall_behind(Flow flow) {
    if (std::find(behind_.begin(), behind_.end(), flow) == behind_.end()) behind_.push_back(flow);
  }
  void catch_up() {
    const std::vector<Flow> flows = std::exchange(behind_, {});
    for (const Flow flow : flows) take_kept(flow);
  }

  // The packets of a frame, in order. `at`: as it is held; kNone: it is not, and cannot be kept.
  void deliver(Flow flow, std::span<const std::byte> data, std::uint32_t at) {
    RecordReader reader(data);
    PacketHeader header{};
    header.client.kind = PacketKind::data;
    header.client.lane = static_cast<std::uint8_t>(flow % kLanes);
    header.client.source = flow / kLanes;
    header.dest_rank = self();
    while (const auto record = reader.next()) {
      ++delivered_;
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

  // --- Loss of a peer

  void peer_lost(Peer peer) {
    if (peer >= peers() || peers_[peer].lost) return;
    peers_[peer].lost = true;
    forget(peer);
    if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, peer);
  }
  // Nothing more is sent to it; what came and could not be taken in order never will be.
  void forget(Peer peer) {
    for (Flow flow = flow_of(peer, 0); flow < flow_of(peer, kLanes); ++flow) {
      for (std::uint32_t at; (at = flows_.take_kept(flow)) != SelectiveRepeat::kNothing;) {
        held_.release(at);
      }
      flows_.forget(flow, [this](std::uint32_t frame) { pool_.give(frame); });
      if (outbound_[flow] == nullptr) continue;
      Outbound& out = *outbound_[flow];
      if (out.open != kNoFrame) pool_.give(out.open);
      for (const std::uint32_t frame : out.waiting) pool_.give(frame);
      const bool listed = out.listed;
      out = Outbound{};
      out.listed = listed;
    }
  }

  fabric::Nic& below_;
  ReliableOptions options_;
  HostSite site_;
  PortCounters& counters_;
  std::uint32_t frame_bytes_;
  fabric::NicCaps caps_;
  fabric::Sink sink_;
  SelectiveRepeat flows_;
  FramePool pool_;
  HeldFrames held_;
  std::vector<std::uint32_t> frame_sizes_;           // bytes of those that are closed
  std::vector<std::unique_ptr<Outbound>> outbound_;  // by flow
  std::vector<PeerState> peers_;
  std::vector<Flow> waits_;   // have something to send that has not left
  std::vector<Flow> urgent_;  // are to be acknowledged at the end of this turn
  std::vector<Flow> behind_;  // hold what came in order and could not be taken in its turn
  std::vector<std::uint64_t> early_words_;
  std::array<std::uint64_t, 64> told_{};
  LaneMask lanes_ = fabric::kAllLanes;  // of this turn
  bool read_ = false;                   // the clock was, in this turn
  std::uint32_t idle_ = 0;              // turns
  std::uint32_t delivered_ = 0;         // packets, in this turn
};

}  // namespace

std::unique_ptr<ReliableNic> make_reliable_nic(fabric::Nic& below, const ReliableOptions& options) {
  return std::make_unique<Reliable>(below, options);
}

}  // namespace fairlead::lci
