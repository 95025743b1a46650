// The class behind make_direct_port(). direct_port.cc: sending and receiving packets;
// direct_progress.cc: polling, waiting, remote memory, groups.
#pragma once
#include <cstddef>

#include <atomic>
#include <cstring>
#include <optional>
#include <vector>

#include "fairlead/base/copy_small.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/client/client_side.h"
#include "fairlead/lci/client/events.h"
#include "fairlead/lci/client/fast_path.h"
#include "fairlead/lci/client/triggers.h"
#include "fairlead/lci/direct/direct_packet.h"
#include "fairlead/lci/direct/direct_port.h"
#include "fairlead/lci/group/group_queries.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/group/network_operations.h"
#include "fairlead/lci/group/software_group.h"
#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/direct_memory.h"
#include "fairlead/lci/memory/remote_copies.h"
#include "fairlead/lci/memory/remote_memory.h"
#include "fairlead/lci/message_matching.h"
#include "fairlead/lci/network_reduction.h"
#include "fairlead/lci/node_memory.h"
#include "fairlead/lci/overflow.h"

namespace fairlead::lci {

class DirectPort final : public Port,
                         public MatchingPort,
                         public NodeMemoryPort,
                         public ReducingPort,
                         private NodeMemory {
 public:
  DirectPort(fabric::Nic& nic, const DirectOptions& options);
  ~DirectPort() override;
  DirectPort(const DirectPort&) = delete;
  DirectPort& operator=(const DirectPort&) = delete;

  Rank self() const override { return self_; }
  Rank size() const override { return size_; }
  const Caps& caps(Rank peer) const override {
    return kinds_.empty() || kinds_[peer] == 0 ? caps_ : other_caps_[kinds_[peer] - 1u];
  }
  Ps now() const override {
    if (options_.site != nullptr) [[unlikely]]
      return options_.site->now();
    return nanoseconds(monotonic_ns()) - options_.epoch;
  }
  void charge(const Work& work) override {
    if (options_.site == nullptr) [[likely]]
      return;
    if (!wakes_ || entered_ > 0 || client_.quiet()) return options_.site->charge(work);
    compute(work);
  }
  void after(Ps delay, Task task) override { client_.after(now() + delay, task); }
  void bind(Chan chan, Upcall upcall, Returned returned) override {
    client_.bind(chan, upcall, returned);
  }

  // MatchingPort
  MessageMatching* matching() override { return network_.matching(); }
  NodeMemory* node_memory() override { return this; }

  // ReducingPort
  NetworkReductions* reductions() override {
    auto* const nic = dynamic_cast<fabric::ReducingNic*>(&nic_);
    if (nic == nullptr || options_.network == NetworkUse::nothing) return nullptr;
    return nic->network_reductions(options_.network == NetworkUse::all
                                       ? fabric::ReduceWhere::switches
                                       : fabric::ReduceWhere::interfaces);
  }

  // Port
  Packet* alloc(Dest dest, Lane lane, std::size_t size_hint, std::uint32_t flags) override;
  std::span<std::byte> body(Packet* packet) override;
  Post send(Packet* packet, Chan chan, const Words& words, std::size_t size,
            std::span<const Piece> gather, Counter* done, std::uint32_t flags) override;
  Post send_small(Dest dest, Chan chan, Lane lane, const Words& words,
                  std::span<const std::byte> data, std::uint32_t flags) override;
  std::uint64_t route(Chan chan, Lane lane) const {
    return fabric::route_of(fabric::PacketKind::data, static_cast<std::uint32_t>(lane), chan,
                            self_);
  }
  FastPath fast_path(Chan chan, Lane lane) override;
  void release(Packet* packet) override;

  int poll() override;
  Post wait(const Until& until) override;
  void defer(Task task) override { client_.defer(task); }
  void hold() override { client_.hold(); }
  void allow() override { client_.allow(); }
  std::uint32_t held() const override { return client_.held(); }
  std::uint64_t changes() const override { return upcalls_ + ended(); }
  // In the real world a WakingPort's, which stands before it.
  void wake(Wake policy, Ps watchdog) override;
  void enter() override { ++entered_; }
  void leave() override { --entered_; }
  bool quiet() const { return client_.quiet(); }
  bool listen(fabric::Bell& bell);
  void give_way() { nic_.sleep(Ps{0}); }

  void* allocate(SegId segment, std::size_t size, Place place) override;
  void* alias(SegId segment) override { return memory_.own().alias(segment); }
  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed) override;
  Post withdraw(SegId segment) override;
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) override;
  void* map(Rank rank, SegId segment) override { return memory_.map(rank, segment); }
  Post put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done, CtrId remote,
           std::uint32_t flags) override;
  Post get(Remote from, void* to, std::size_t size, Counter* done, std::uint32_t flags) override;
  Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done, std::uint32_t flags) override;
  Post fence(Dest dest, Counter* done) override;
  void expose_counter(CtrId id, Counter* counter) override {
    remote_.expose_counter(id, counter);
    network_.counter(id, counter);
  }
  Post group(std::uint16_t id, std::span<const Rank> members) override;
  Post ungroup(std::uint16_t id) override;
  Post query(const Query& query, bool* all, Counter* done) override {
    if (const auto begun = network_.query(query, all, done)) return noted(*begun);
    return noted(queries_.query(query, all, done));
  }
  Post when(Counter* counter, std::uint64_t at, const Operation& operation) override {
    if (const auto begun = network_.when(counter, at, operation)) return noted(*begun);
    return noted(triggers_.when(counter, at, operation));
  }
  PathState path(Rank peer) const override { return events_.path(peer); }
  void on_event(EventSink sink) override { events_.attach(sink); }
  const PortCounters& counters() const override { return counters_; }

  // As send_overflow(port).
  bool send_overflow() {
    if (!overflow_.empty()) flush_overflow();
    return !overflow_.empty();
  }

 private:
  static constexpr int kReapBudget = 256;

  fabric::PacketHeader header_for(Dest dest, Chan chan, Lane lane, const Words& words,
                                  std::size_t size) const {
    fabric::WordVector block;
    std::memcpy(&block, words, sizeof block);
    return {fabric::make_client_header(route(chan, lane), block, size), dest.id, 0, 0, 0};
  }
  // Only the client's part of a header travels on every fabric that loses nothing; what repairs
  // another one looks at the mark, and sends its own.
  fabric::PacketHeader marked(fabric::PacketHeader header, std::uint32_t flags) const {
    if (options_.site != nullptr && (flags & kSolicited) != 0) header.ack |= fabric::kSolicitedMark;
    if (options_.site != nullptr && (flags & kPart) != 0) header.ack |= fabric::kPartMark;
    if (reliable_ && (flags & kUrgent) != 0) header.ack |= fabric::kUrgentMark;
    return header;
  }
  bool has_rail(Dest dest, std::uint32_t flags) const {
    return rail_of(flags) == 0 || dest.group || dest.id >= size_ ||
           rail_of(flags) <= caps(dest.id).rails;
  }
  // An object for the next arrival, as a small packet leaves it.
  DirectPacket* take_spare() {
    DirectPacket* packet = packets_.take();
    packet->received = true;
    packet->where = DirectPacket::Body::copied;
    return packet;
  }
  std::size_t pair(Peer peer, std::uint32_t lane) const {
    return std::size_t{peer} * fabric::kLanes + lane;
  }

  // --- direct_port.cc
  Caps caps_to(Rank peer) const;
  void find_other_caps();
  Post post_now(Rank dest, std::uint64_t route, WordVector words, const void* data,
                std::size_t size);
  Post post(const fabric::PacketHeader& header, std::span<const Piece> pieces);
  Post post_buffer(const fabric::PacketHeader& header, std::byte* buffer);
  Post post_again(Post first, const fabric::PacketHeader& header, std::span<const Piece> pieces,
                  std::uint32_t flags);
  Post send_small_slow(Dest dest, Chan chan, Lane lane, const Words& words,
                       std::span<const std::byte> data, std::uint32_t flags);
  Post put_over(const fabric::PacketHeader& header, std::span<const Piece> pieces);
  Post send_to_group(Dest dest, Chan chan, Lane lane, const Words& words,
                     std::span<const Piece> pieces, std::uint32_t flags);
  Post send_buffer(DirectPacket& packet, const fabric::PacketHeader& header, std::uint32_t flags);
  // Until earlier puts to `dest` are there before a packet on that lane. Any answer but done: it
  // may not wait.
  Post await_puts(Dest dest, Lane lane, std::uint32_t flags);
  // A get or an atomic that is flagged kAfter: waits until what the fabric copies is there. Any
  // answer but done: it may not wait. *by_packets: it has to be a packet, as those are in order and
  // puts that were packets may not be there yet.
  Post follow_puts(Rank rank, std::uint32_t flags, bool* by_packets);
  bool puts_precede(Dest dest, Lane lane);
  Post noted(Post answer) {
    if (answer == Post::again_credit || answer == Post::again_buffer) refused_ = true;
    return answer;
  }
  // The client, which may not wait, is told so: a wait for any change is to let it try again.
  Post refuse(Post answer) {
    refused_ = true;
    return answer;
  }
  // Counts a part of a message, once its send with `flags` is answered.
  Post counted(Post answer, std::uint32_t flags) {
    if ((flags & kPart) != 0 && answer == Post::done) ++counters_.parts_sent;
    return answer;
  }
  Post finish_send(Post answer, DirectPacket* packet, Counter* done);
  static Keep on_arrived(void* self, const fabric::Incoming& packet) {
    return static_cast<DirectPort*>(self)->arrived(packet);
  }
  static void on_peer_lost(void* self, Peer peer) {
    static_cast<DirectPort*>(self)->peer_lost(peer);
  }
  static void on_path_changed(void* self, Peer peer, bool lost) {
    auto& me = *static_cast<DirectPort*>(self);
    me.events_.path_changed(peer, lost);
    if ((me.caps(peer).flags & kRawPuts) != 0) ++me.upcalls_;  // puts may have to be repeated
  }
  static void on_copied(void* self, std::uint64_t token, Post result) {
    auto& me = *static_cast<DirectPort*>(self);
    ++me.upcalls_;  // who waits for anything to happen looks again
    if ((token & NetworkOperations::kTokenBit) != 0) return me.network_.copied(token, result);
    me.copies_.copied(token, result);
  }
  static void on_told(void* self, Peer peer, std::uint32_t immediate) {
    auto& me = *static_cast<DirectPort*>(self);
    ++me.upcalls_;
    me.remote_.bump_came(peer, static_cast<CtrId>(immediate));
  }
  static fabric::SmallPacket* on_arrived_small(void* self, fabric::SmallPacket* packet,
                                               std::size_t size) {
    return static_cast<DirectPort*>(self)->arrived_small(packet, size);
  }
  Keep arrived(const fabric::Incoming& packet);
  fabric::SmallPacket* arrived_small(fabric::SmallPacket* packet, std::size_t size);
  fabric::SmallPacket* arrived_small_by_run(fabric::SmallPacket* packet, std::size_t size);
  bool acceptable(const fabric::Incoming& packet);
  void check_sequence(const fabric::Incoming& packet);
  void check_sent(const fabric::Incoming& packet);
  void peer_lost(Peer peer);
  bool deliver(DirectPacket* packet, const Arrival& arrival);
  void deliver_early(const Arrival& arrival);
  [[noreturn]] void fatal(const std::string& reason);

  // --- direct_progress.cc
  // NodeMemory
  using Port::share;
  bool shares(Rank rank) override { return memory_.shares(rank); }
  void* make_shared(SegId segment, std::size_t size) override;
  void* share(SegId mine, Rank owner, SegId theirs, std::size_t size) override;
  bool holds(const void* at, std::size_t size) override;
  bool tells() override { return options_.site == nullptr || options_.site->shows(); }
  void store(std::atomic<std::uint64_t>& word, std::uint64_t value,
             std::span<const Rank> readers) override;
  bool reaches_leaders() override { return network_.reaches_leaders(); }
  Counts counts() override { return shared_; }

  bool work_waits() const {
    return !overflow_.empty() || backlog_.items > 0 || copies_.busy() || multicast_.busy() ||
           network_.busy() || client_.has_due();
  }
  int run_waiting_work();
  // The client's work, which what comes interrupts.
  void compute(const Work& work);
  bool serve(bool interrupted);
  int answer_at_once();
  // `came`: what the fabric had, upcall or not.
  int poll(fabric::Patience& patience, int& came);
  void tell_sent();
  int flush_overflow();
  // One turn of a blocking send: lets time pass until something may have changed.
  void turn(WaitLadder& ladder);
  // One rung; sleep_length() says how long its last one may sleep.
  template <class SleepLength>
  void pause(WaitLadder& ladder, SleepLength&& sleep_length) {
    climb(ladder, [&] {
      if (!reliable_) [[unlikely]]
        tell_sent();
      nic_.sleep(sleep_length());
    });
  }
  Ps sleep_length(const Until& until, bool for_room) const;
  // Operations that have ended without an upcall that said so.
  std::uint64_t ended() const {
    return remote_.ended() + copies_.fences_ended() + queries_.ended() + events_.given() +
           network_.matched();
  }
  // Sleeps no longer where what it waits for rings no bell.
  Ps nap() const;
  Post counted(Post answer, Counter* done, std::uint64_t& counter);
  Post lose_put(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done,
                std::uint32_t flags);
  Post put_one(Rank rank, SegId segment, std::span<const PutPiece> pieces, Counter* done,
               CtrId remote, std::uint32_t flags);

  fabric::Nic& nic_;
  DirectOptions options_;
  PortCounters& counters_;
  Rank self_;
  Rank size_;
  fabric::RawCopies* raw_copies_;
  Caps caps_;                        // to oneself, and to most peers
  std::vector<Caps> other_caps_;     // the other kinds of paths that there are
  std::vector<std::uint8_t> kinds_;  // by peer, where there are any: 0, or which of them from 1
  bool reliable_;
  std::size_t small_below_;  // bytes; what the fabric sends as a small packet
  ClientSide client_;
  DirectPackets packets_;
  DirectPacket* spare_;  // the next arrival's object, unless it is small
  Overflow overflow_;
  DirectMemory memory_;
  Backlog backlog_;  // of remote_, queries_ and triggers_
  RemoteMemory remote_;
  RemoteCopies copies_;
  GroupTable groups_;
  SoftwareGroup multicast_;
  GroupQueries queries_;
  Triggers triggers_;
  NetworkOperations network_;
  std::uint64_t upcalls_ = 0;
  bool served_ = false;  // upcalls ran while the rank computed, and no wait has said so
  std::uint32_t entered_ = 0;
  bool refused_ = false;
  WaitLadder room_ladder_{options_.wait};  // of waits for room, one after the other
  std::uint64_t losses_ = 0;               // peers lost
  Counts shared_{};
  std::uint64_t losses_told_ = 0;        // of those, answered by wait()
  std::vector<std::uint32_t> next_out_;  // sequence per (peer, lane), unless the fabric is reliable
  std::vector<std::uint32_t> next_in_;
  Ps told_sent_{};
  std::atomic<std::uint32_t> fenced_{0};
  Events events_{client_, size_};
};

}  // namespace fairlead::lci
