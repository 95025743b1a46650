// The class behind make_reliable_nic(). reliable_nic.cc: sending, acknowledging, timers;
// reliable_arrivals.cc: what comes, and the loss of a peer.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/reliable/absence_watch.h"
#include "fairlead/lci/reliable/flow_names.h"
#include "fairlead/lci/reliable/frame.h"
#include "fairlead/lci/reliable/frame_copies.h"
#include "fairlead/lci/reliable/frame_pool.h"
#include "fairlead/lci/reliable/held_frames.h"
#include "fairlead/lci/reliable/reliable_nic.h"
#include "fairlead/lci/reliable/reliable_tuning.h"
#include "fairlead/proto/coalescing.h"
#include "fairlead/proto/pacer.h"
#include "fairlead/proto/selective_repeat.h"

namespace fairlead::lci {

using fabric::Incoming;
using fabric::kLanes;
using fabric::LaneMask;
using fabric::Outgoing;
using fabric::PacketHeader;
using fabric::PacketKind;
using proto::SelectiveRepeat;

inline constexpr std::uint32_t kNoFrame = FramePool::kNone;
inline constexpr std::uint32_t kNoCopy = UINT32_MAX;
// Channel of the records that are notes; no client has it.
inline constexpr std::uint16_t kNoteChan = 0xffff;
// What SelectiveRepeat keeps for a piece that came early: its bytes are where they belong. The rest
// is an index of `lasts_`.
inline constexpr std::uint32_t kEarlyPiece = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kNotLast = kEarlyPiece - 2;
inline constexpr Ps kAwaitedLook = milliseconds(20);

// What a client sees of a fabric that carries its packets in frames of so many bytes.
inline fabric::NicCaps caps_over(const fabric::NicCaps& below, std::uint32_t frame_bytes) {
  fabric::NicCaps caps{frame_bytes - static_cast<std::uint32_t>(sizeof(RecordHeader)),
                       std::min<std::uint32_t>(fabric::kSmallBytes, frame_bytes / 2),
                       fabric::kReliable | fabric::kRemoteMemory};
  caps.rails = below.rails;
  return caps;
}

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
        run_(std::min<std::uint32_t>(below.caps(below.self()).run_packets, kBatchFrames)),
        batch_frames_(kBatchFrames / run_ * run_),
        caps_(caps_over(below.caps(below.self()), frame_bytes_)),
        names_(below.peers(), caps_.rails),
        flows_(names_.count(), flow_options(options, frame_bytes_, caps_.rails)),
        pool_(frame_bytes_, kFramesMax),
        held_(below, pool_),
        copies_(below.peers(), caps_.rails),
        outbound_(names_.count()),
        peers_(below.peers()),
        stripe_stamps_(std::size_t{below.peers()} * names_.stripes()),
        moved_(caps_.rails > 1 ? below.peers() : 0),
        early_words_(flows_.early_words()),
        watch_(options.watch_absence, &Reliable::work_in_absence, this),
        keeps_back_(!options.watch_absence || watch_.works()) {
    FAIRLEAD_CHECK((below.caps(below.self()).flags & fabric::kReliable) == 0,
                   "a reliable fabric does not carry sequence numbers");
    FAIRLEAD_CHECK(frame_bytes_ >= 256, "frames of {} bytes", frame_bytes_);
  }
  ~Reliable() override {
    const AbsenceWatch::Call call(watch_);
    fabric::Sink nobody;
    nobody.arrived = [](void*, const Incoming&) { return Keep::no; };
    below_.attach(nobody);
  }

  Peer self() const override { return below_.self(); }
  Peer peers() const override { return below_.peers(); }
  const fabric::NicCaps& caps(Peer) const override { return caps_; }
  void attach(fabric::Sink sink) override;

  // --- Sending

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override;
  Post post_small(Peer dest, std::uint64_t route, fabric::WordVector words, const void* data,
                  std::size_t size, PortCounters& tally) override;

  std::byte* buffer(Peer dest, std::size_t size) override {
    if (dest >= peers() || size > caps_.mtu_bytes) return nullptr;
    const AbsenceWatch::Call call(watch_);
    const std::uint32_t frame = pool_.take();
    return frame == kNoFrame ? nullptr : pool_.at(frame) + sizeof(RecordHeader);
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override;
  void cancel_buffer(Peer, std::byte* buffer) override {
    const AbsenceWatch::Call call(watch_);
    pool_.give(pool_.frame_of(buffer));
  }

  // --- Receiving

  int reap(int budget, LaneMask lanes) override;
  void release(std::uint64_t token) override {
    const AbsenceWatch::Call call(watch_);
    held_.release(static_cast<std::uint32_t>(token));
  }

  void sleep(Ps timeout) override;
  bool listen(fabric::Bell& bell) override;
  Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) override {
    return below_.read_peer(peer, address, to, size);
  }
  Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) override {
    return below_.write_peer(peer, address, from, size);
  }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

  // --- Copies

  std::optional<fabric::RemoteKey> register_memory(std::span<std::byte> memory, bool read,
                                                   bool write) override {
    const AbsenceWatch::Call call(watch_);
    return copies_.enter(memory, read, write);
  }
  void forget_memory(const fabric::RemoteKey& key) override;
  Post copy_remote(const fabric::RemoteCopy& copy) override;

  bool settled() override;
  void leave() override;

 private:
  // The state of one flow, made when something is first sent on it.
  struct Outbound {
    std::uint32_t open = kNoFrame;       // under construction
    std::uint32_t used = 0;              // bytes of it
    bool listed = false;                 // in waits_
    std::vector<std::uint32_t> waiting;  // full frames, oldest first
    std::size_t waiting_bytes = 0;
    // Where there are stripes: since then something is under way and nothing came; its pieces were
    // taken over.
    Ps unanswered{};
    bool silent = false;
    proto::Coalescing coalescing{kCoalescing};
    proto::Pacer pacer;
  };
  struct Frame {
    std::uint32_t bytes = 0;            // once it is closed
    std::uint32_t copy = kNoCopy;       // it is a piece of this one
    std::span<const std::byte> body{};  // the last of those bytes lie here
  };
  Frame& info(std::uint32_t frame) {
    if (frame >= frames_.size()) frames_.resize(frame + 1);
    return frames_[frame];
  }
  // What the fabric says of a peer.
  struct Told {
    enum class What : std::uint8_t { peer_lost, path_lost, path_restored };
    What what;
    Peer peer;
  };
  struct PeerState {
    std::uint32_t stamp = 0;  // of the last packet that came by a lane; 0: none
    Ps heard{};               // where there are stripes: when anything came last
    bool lost = false;
    bool left = false;     // said goodbye
    Ps unheard_since{-1};  // its first timeout, while nothing has come; negative: there was none
  };
  Flow flow_of(Peer peer, std::uint32_t lane) const { return names_.of(peer, lane); }
  // When the last packet that came by the same path was sent; 0: none has come.
  std::uint32_t& stamp_of(Flow flow) {
    return names_.is_stripe(flow) ? stripe_stamps_[names_.stripe(flow)]
                                  : peers_[names_.peer_of(flow)].stamp;
  }
  Outbound& outbound(Flow flow) {
    if (outbound_[flow] == nullptr) outbound_[flow] = std::make_unique<Outbound>();
    return *outbound_[flow];
  }
  bool has_left(Peer peer) const {
    const PeerState& state = peers_[peer];
    return state.lost || state.left ||
           (options_.left != nullptr && options_.left(options_.context, peer));
  }

  bool met(Peer peer) const;
  // After a timeout of a peer that nothing has come from.
  void miss(Peer peer);

  // --- Sending

  // Room for `bytes` more in the open frame.
  Post make_room(Flow flow, Outbound& out, std::size_t bytes);
  // The open frame is done with, if there is one.
  Post close_for(Flow flow, Outbound& out);
  static bool is_full(const Outbound& out) {
    return out.waiting.size() >= kWaitingMax || out.waiting_bytes >= kWaitingBytes;
  }
  void close(Outbound& out);

  // A packet was put into the open frame: send now, or coalesce?
  // `urgent`: it does not wait for others.
  void posted(Flow flow, Outbound& out, bool urgent = false);
  void list(Flow flow, Outbound& out) {
    if (out.listed) return;
    out.listed = true;
    waits_.push_back(flow);
    watch_.announce();
  }
  // Everything that the window allows and whose time has come leaves; the rest is listed.
  void flush(Flow flow, Outbound& out);
  // So many frames may leave now.
  std::uint32_t paced(Flow flow, Outbound& out);
  // Each of these functions takes what it sends from `may`.
  [[gnu::noinline]] void flush_lost(Flow flow, Outbound& out, std::uint32_t& may);
  void flush_frames(Flow flow, Outbound& out, std::uint32_t& may);
  // Behind all packets: those are few on this lane, and somebody waits for them.
  [[gnu::noinline]] void flush_pieces(Flow flow, Outbound& out, std::uint32_t& may);
  // The first `count` of batch_ leave.
  void send_batch(Flow flow, Outbound& out, std::size_t count);
  bool has_something(Flow flow, const Outbound& out) const {
    return out.open != kNoFrame || !out.waiting.empty() || flows_.lost(flow) > 0 ||
           has_pieces(flow);
  }
  bool has_pieces(Flow flow) const {
    if (!names_.is_copy(flow)) return false;
    const Peer peer = names_.peer_of(flow);
    if (names_.stripes() == 0) return copies_.has_piece(peer);
    const bool silent = outbound_[flow] != nullptr && outbound_[flow]->silent;
    return !silent && (copies_.has_piece(peer, slot_of(flow)) || !moved_[peer].empty());
  }
  // By which pieces of copies leave that name the flow's rail.
  std::uint32_t slot_of(Flow flow) const {
    return names_.stripes() == 0 ? FrameCopies::kAnyRail : names_.lane_of(flow) - kCopyLane + 1;
  }
  std::uint32_t slot_of(const fabric::RemoteCopy& copy) const {
    if (copy.rail == 0 || names_.stripes() == 0) return FrameCopies::kAnyRail;
    return below_.stripe_of(copy.peer, copy.rail - 1U) + 1;
  }
  // What names a rail that carries nothing goes by the others.
  void free_silent(Peer peer) {
    if (names_.stripes() == 0) return;
    names_.for_each_copy(peer, [this, peer](Flow flow) {
      const bool silent = outbound_[flow] != nullptr && outbound_[flow]->silent;
      if (silent && copies_.has_own_piece(peer, slot_of(flow))) {
        copies_.free_slot(peer, slot_of(flow));
      }
    });
  }
  // By each of their flows as many as fit.
  void send_pieces(Peer peer) {
    free_silent(peer);
    names_.for_each_copy(peer, [this](Flow flow) {
      if (has_pieces(flow)) flush(flow, outbound(flow));
    });
  }
  void list_pieces(Peer peer) {
    free_silent(peer);
    names_.for_each_copy(peer, [this](Flow flow) {
      if (has_pieces(flow)) list(flow, outbound(flow));
    });
  }
  // A frame with the next piece; kNoFrame: there is no room for one.
  std::uint32_t take_piece(Flow flow);
  // Where there are stripes: something came by this flow.
  [[gnu::noinline]] void heard_by(Flow flow);
  // The rail of a stripe seems to be dead: the others take over what it has not brought.
  [[gnu::noinline]] void move_pieces_if_silent(Flow flow);
  // post() for who is within a call already, or in the absence of the client.
  Post post_in_turn(Peer dest, const PacketHeader& header, std::span<const Piece> payload);
  // Sends the notes of copies that find room.
  void send_notes();
  void tell_ended();
  // A frame that was numbered.
  void give(std::uint32_t frame) {
    if (frame == kNoFrame) return;  // another flow took it over
    if (frames_[frame].copy != kNoCopy) copies_.freed(frames_[frame].copy);
    frames_[frame] = {};
    pool_.give(frame);
  }
  // The header carries what all lanes owe the peer.
  PacketHeader header(Flow flow, PacketKind kind, std::size_t bytes);
  // `frame` kNoFrame: one of no records, which the peer acknowledges as one that it has already, or
  // in place of one that another flow took over.
  Outgoing outgoing(Flow flow, std::uint32_t frame, std::uint32_t sequence);
  void send_again(Flow flow, std::uint32_t frame, std::uint32_t sequence);
  void send_ack(Flow flow);

  // After something came, and before the client rests.
  void finish_turn();
  // A peer that has left in order does not respond, and is not reported as lost.
  [[gnu::noinline]] void look_for_awaited();
  [[gnu::noinline]] void run_due();
  void flush_waiting();
  // In the thread of watch_, in its turn: what waits leaves as acknowledgments make room for it,
  // and what comes is kept for the client. Returns whether something still waits, or may have to be
  // sent again.
  static bool work_in_absence(void* self);
  [[gnu::noinline]] void end_absence();

  // --- Receiving

  static Keep on_arrived(void* self, const Incoming& in) {
    return static_cast<Reliable*>(self)->arrived(in);
  }
  static void on_peer_lost(void* self, Peer peer) {
    static_cast<Reliable*>(self)->told({Told::What::peer_lost, peer});
  }
  static void on_path_changed(void* self, Peer peer, bool lost) {
    static_cast<Reliable*>(self)->told(
        {lost ? Told::What::path_lost : Told::What::path_restored, peer});
  }
  void told(const Told& what) {
    if (absent_) {
      told_in_absence_.push_back(what);
    } else {
      tell(what);
    }
  }
  void tell(const Told& what);

  Keep arrived(const Incoming& in);
  static Keep drop(std::uint64_t& counter) {
    ++counter;
    return Keep::no;
  }
  bool may_take(Flow flow) const {
    const std::uint32_t lane = std::min(names_.lane_of(flow), kCopyLane);
    return (lanes_ >> lane & 1) != 0 && delivered_ < kDeliveredMax;
  }

  // The acknowledgments in a packet. False: they cannot be true.
  bool take_acks(Flow flow, const Incoming& in);
  // Since the packet with this stamp left; kNever: none did, or nobody knows.
  Ps trip_of(std::uint32_t stamp) const;

  // Keeps a frame that is early, or that may not be taken now.
  Keep hold(Flow flow, const Incoming& in);
  Keep take_in_order(Flow flow, const Incoming& in);
  void take_kept(Flow flow);
  // A piece goes where it belongs whenever it comes.
  Keep take_piece(Flow flow, const Incoming& in, bool in_order);
  std::uint32_t keep_last(const PieceHead& head);
  PieceHead take_last(std::uint32_t kept) {
    free_lasts_.push_back(kept & ~kEarlyPiece);
    return lasts_[kept & ~kEarlyPiece];
  }
  // The fabric has seen the header and asks where the bytes go.
  static std::byte* on_place(void* self, const PacketHeader& h, std::span<const std::byte> begin) {
    return static_cast<Reliable*>(self)->place(h, begin);
  }
  std::byte* place(const PacketHeader& h, std::span<const std::byte> begin);
  void fall_behind(Flow flow) {
    if (std::find(behind_.begin(), behind_.end(), flow) == behind_.end()) behind_.push_back(flow);
  }
  void catch_up() {
    const std::vector<Flow> flows = std::exchange(behind_, {});
    for (const Flow flow : flows) take_kept(flow);
  }

  // The packets of a frame, in order. `at`: as it is held; kNone: it is not, and cannot be kept.
  void deliver(Flow flow, std::span<const std::byte> data, std::uint32_t at);
  void deliver_small(const fabric::ClientHeader& frame, const RecordReader::Record& record);

  void take_note(Flow flow, const RecordReader::Record& note);

  // --- Loss of a peer

  void peer_lost(Peer peer);
  // Nothing more is sent to it; what came and could not be taken in order never will be.
  void forget(Peer peer);

  fabric::Nic& below_;
  ReliableOptions options_;
  HostSite site_;
  PortCounters& counters_;
  std::uint32_t frame_bytes_;
  std::uint32_t run_;         // full frames that the fabric sends at the cost of one
  std::size_t batch_frames_;  // whole runs
  fabric::NicCaps caps_;
  fabric::Sink sink_;
  FlowNames names_;
  SelectiveRepeat flows_;
  FramePool pool_;
  HeldFrames held_;
  std::vector<Frame> frames_;  // by number in the pool
  FrameCopies copies_;
  std::vector<PieceHead> lasts_;  // of copies, that came early
  std::vector<std::uint32_t> free_lasts_;
  Ps awaited_look_{};
  std::vector<std::unique_ptr<Outbound>> outbound_;  // by flow
  std::vector<PeerState> peers_;
  std::vector<std::uint32_t> stripe_stamps_;  // as PeerState::stamp, by stripe
  // Pieces that a silent stripe gave up, by peer; empty where there are no stripes.
  std::vector<Ring<std::uint32_t>> moved_;
  std::vector<Flow> waits_;   // have something to send that has not left
  Ps release_ = kNever;       // the time of the first of them that waits for its own
  std::vector<Flow> urgent_;  // are to be acknowledged at the end of this turn
  std::vector<Flow> behind_;  // hold what came in order and could not be taken in its turn
  std::array<Outgoing, kBatchFrames> batch_;
  proto::BurstLength burst_{kCoalescing};
  std::vector<std::uint64_t> early_words_;
  std::array<std::uint64_t, 64> told_{};
  LaneMask lanes_ = fabric::kAllLanes;  // of this turn
  bool read_ = false;                   // the clock was, in this turn
  std::uint32_t idle_ = 0;              // turns
  std::uint32_t idle_posts_ = 0;        // that looked at no clock
  std::uint32_t delivered_ = 0;         // packets, in this turn
  bool absent_ = false;                 // this call is watch_'s
  bool was_absent_ = false;             // something was kept or told meanwhile
  Ps rings_until_{};                    // somebody may sleep that long until the fabric rings
  std::vector<Told> told_in_absence_;
  AbsenceWatch watch_;     // the last: its thread uses all others
  const bool keeps_back_;  // packets, to share frames
};

}  // namespace fairlead::lci
