// Port over a host-NI interface: the host side of every implementation on an NI (I-sdma, I-pio,
// I-nirx, and I-hrx, whose host runs the reliability scheme too). Where the work of a step takes
// time, the interface charges it. Who makes one includes ni_port_send.h and ni_port_receive.h,
// which have the bodies of what gives and takes packets.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/fabric/bell.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/lci/client/client_side.h"
#include "fairlead/lci/client/events.h"
#include "fairlead/lci/client/triggers.h"
#include "fairlead/lci/group/group_memory.h"
#include "fairlead/lci/group/group_queries.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/own_memory.h"
#include "fairlead/lci/memory/remote_memory.h"
#include "fairlead/lci/ni/host_flow.h"
#include "fairlead/lci/ni/host_multicast.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/ni/host_work.h"
#include "fairlead/lci/ni/ni_port_options.h"
#include "fairlead/lci/ni/ni_vi_rdma.h"
#include "fairlead/lci/ni/ni_words.h"
#include "fairlead/lci/ni/own_segments.h"
#include "fairlead/lci/ni/put_carriers.h"
#include "fairlead/lci/ni/received_packets.h"
#include "fairlead/lci/ni/send_buffers.h"
#include "fairlead/lci/port.h"
#include "fairlead/lci/until.h"

namespace fairlead::lci {

// In ViRdmaPort's place where there are no VIs.
class NoViRdmaPort {
 public:
  virtual void vi_rdma() = 0;

 protected:
  ~NoViRdmaPort() = default;
};

// Flow: of a host that runs the reliability scheme (proto/flow.h); NoFlow where the NIs do.
template <HostNi Ni, class Transfer, class Flow = proto::NoFlow>
class alignas(kCacheLine) NiPort final
    : public Port,
      public std::conditional_t<Transfer::kHasQueues, ViRdmaPort, NoViRdmaPort> {
 public:
  // `ni` and `counters` outlive the port.
  NiPort(Ni& ni, const NiPortOptions& options, PortCounters& counters, Flow flow = Flow{})
      : ni_(ni),
        counters_(counters),
        received_(options.kept_max),
        buffers_(options.reply_reserve),
        self_(options.self),
        size_(options.size),
        work_takes_time_(options.work_takes_time),
        ni_forwards_(options.ni_forwards),
        caps_{options.mtu_bytes, kInlineBytes, 8, options.flags, 1, options.rails},
        near_caps_{options.mtu_bytes, kInlineBytes, 8,
                   kSharesNode<Ni> ? options.flags & ~std::uint64_t{kHwPut} : options.flags},
        flow_(ni, std::move(flow),
              {options.self, options.size, Transfer::kDescriptorLines, options.lost}, counters),
        memory_(options.size, options.region, std::size_t{options.memory_mib} << 20,
                options.ni_words),
        remote_(*this, memory_.table(), options.region, backlog_, options.ni_words),
        groups_(options.self, options.size, options.tree),
        multicast_(ni, flow_, groups_, counters, backlog_),
        queries_(*this, groups_, remote_.server(), backlog_, below(options)),
        triggers_(*this, backlog_),
        words_(ni, flow_, options.self, counters, backlog_),
        pages_(ni, remote_,
               {options.self, std::min(options.mtu_bytes, kPageBytes), options.reply_reserve},
               counters),
        vi_rdma_(ni) {
    if constexpr (Transfer::kCopiesPages || Transfer::kHasQueues) remote_.put_by(pages_);
    // NIs spread long puts over their rails.
    if (options.rails > 1) remote_.lanes_pass_puts();
  }

  Rank self() const override { return self_; }
  Rank size() const override { return size_; }
  const Caps& caps(Rank rank) const override {
    return passes_no_network(ni_, rank) ? near_caps_ : caps_;
  }
  Ps now() const override { return ni_.now(); }
  void charge(const Work& work) override {
    if (!work_takes_time_) return;
    HostWork(ni_, flow_, client_, interrupts_, counters_)
        .charge(
            work, received_.any_aside(), [this] { served_ = progress() > 0 || served_; },
            [this] { set_aside(); });
  }
  void after(Ps delay, Task task) override { client_.after(now() + delay, task); }
  void bind(Chan chan, Upcall upcall, Returned returned) override {
    client_.bind(chan, upcall, returned);
  }
  void defer(Task task) override { client_.defer(task); }
  void hold() override { client_.hold(); }
  void allow() override { client_.allow(); }
  std::uint32_t held() const override { return client_.held(); }
  std::uint64_t changes() const override { return ran_ + ended(); }
  void wake(Wake policy, Ps watchdog) override {
    wakes_ = policy != Wake::poll_only;
    interrupts_.wake(policy, watchdog, ni_.default_watchdog());
  }
  void enter() override { interrupts_.enter(); }
  void leave() override { interrupts_.leave(); }
  std::uint32_t open_queue() override {
    if constexpr (Transfer::kHasQueues) return ni_.open_vi();
    return 0;
  }
  void close_queue([[maybe_unused]] std::uint32_t queue) override {
    if constexpr (Transfer::kHasQueues) {
      if (queue > 0) ni_.close_vi(queue);
    }
  }
  // ViRdmaPort's, where this is one.
  std::conditional_t<Transfer::kHasQueues, ViRdma*, void> vi_rdma() override {
    if constexpr (Transfer::kHasQueues) return &vi_rdma_;
  }
  // For a WakingPort, where time passes by itself.
  bool quiet() const { return client_.quiet(); }
  bool listen(fabric::Bell& bell) {
    if (!local_.empty() || received_.any_aside()) return false;
    constexpr Ps kRoomNap = microseconds(200);  // room rings no bell
    if (owes()) bell.look_after(kRoomNap);
    if (const Ps due = next_due(); due != kNever) bell.look_after(std::max(due - now(), kRoomNap));
    return ni_.listen(bell);
  }
  void give_way() {}

  Packet* alloc(Dest dest, Lane lane, std::size_t size_hint, std::uint32_t flags) override {
    const bool known = dest.group ? groups_.knows(dest.id) : dest.id < size_;
    if (!known || size_hint > body_bytes()) return nullptr;
    client_.check_send(lane);
    std::uint32_t id = 0;
    if (dest.group ? groups_.size(dest.id) == 1 : dest.id == self_) {
      id = ni_.alloc_local(body_bytes());
    } else {
      const Rank to = dest.group ? kNobody : dest.id;
      if (!dest.group) await_room(dest.id, flags);
      if (!take_buffer(to, lane, flags, size_hint, &id)) return nullptr;
    }
    auto& packet = ni_.packet(id);
    packet.peer = dest.id;
    packet.for_group = dest.group;
    packet.header.client.lane = static_cast<std::uint8_t>(lane);
    return handle(packet);
  }

  std::span<std::byte> body(Packet* packet) override {
    auto& mine = of(packet);
    return {mine.payload(), mine.slot_bytes - sizeof mine};
  }

  Post send(Packet* packet, Chan chan, const Words& words, std::size_t size,
            std::span<const Piece> gather, Counter* done, std::uint32_t flags) override;

  Post send_small(Dest dest, Chan chan, Lane lane, const Words& words,
                  std::span<const std::byte> data, std::uint32_t flags) override {
    if (data.size() > kInlineBytes) return Post::invalid;
    const bool known = dest.group ? groups_.knows(dest.id) : dest.id < size_;
    if (!known) return Post::invalid;
    if (!dest.group && is_dead(ni_, dest.id)) return Post::peer_down;
    if (!has_rail(dest, flags)) return Post::no_rail;
    if (const Post behind = await_puts(dest, lane, flags); behind != Post::done) return behind;
    Packet* packet = alloc(dest, lane, data.size(), flags);
    if (packet == nullptr) return Post::again_buffer;
    const Piece piece{data.data(), data.size()};
    return send(packet, chan, words, 0, {&piece, data.empty() ? 0u : 1u}, nullptr, flags & ~kAfter);
  }

  void release(Packet* packet) override {
    auto& mine = of(packet);
    if (!mine.received) {
      mine.holds != Holds::nothing ? ni_.cancel(mine.id) : ni_.release_local(mine.id);
      return;
    }
    received_.release(ni_, mine);
  }

  int poll() override {
    client_.check_may_block();
    const int ran = progress();
    if (ran == 0) {
      ++counters_.empty_polls;
      ni_.charge(Step::poll_empty);
      ni_.sync();
    }
    return ran;
  }

  Post wait(const Until& until) override {
    client_.check_may_block();
    const Ending ending(until, &remote_.told());
    if (!ending.can_be_told()) return Post::invalid;
    const std::uint64_t ended_before = ended();
    const bool for_room = until.any_change && buffers_.refused();
    bool ran = std::exchange(served_, false);
    const auto over = [&] {
      return ending.holds(ran, ended() != ended_before) || (for_room && buffers_.has_room(ni_));
    };
    for (;;) {
      if (over()) return ending.answer();
      if (std::exchange(losses_, false)) return Post::peer_down;
      if (ending.late(clock_for(until))) return Post::again_credit;
      // Catching up and sleeping are one call then, and one round trip to another process.
      const bool asleep = only_ni_can_wake() && !for_room;
      if (asleep) ni_.block(std::min(until.deadline, flow_.next_due()), until.what);
      ran = progress() > 0;
      if (ran || asleep || more_here()) continue;
      if (over()) return ending.answer();
      if (ending.late(clock_for(until))) return Post::again_credit;
      if (client_.quiet()) {
        block_quietly(until.deadline, until.what);
      } else {
        ni_.block(std::min(until.deadline, next_due()), until.what);
      }
    }
  }

  // Something waits here for a send buffer: poll().
  bool owes() const { return backlog_.items > 0; }

  // After the program's end, where the host runs the reliability scheme: its peers may still need
  // acknowledgments, packets sent again, the NI words of this rank. Returns when the interface says
  // that nobody does (Ni::dismissed), or never.
  void linger() {
    if constexpr (HostFlowOf::kRuns) {
      while (received_.any_aside()) drop_late(ni_.packet(received_.take_aside()));
      PacketId id = 0;
      while (!ni_.dismissed()) {
        (void)reap_completions();
        while (take_off(&id)) drop_late(ni_.packet(id));
        flow_.run_due();
        (void)words_.send_waiting();
        (void)multicast_.pass_waiting();
        ni_.block(flow_.next_due(), "its end: its peers may not have all packets yet");
      }
    }
  }

  // Its memory may go: the interface moves nothing of it any more. Takes no time.
  void program_ended() { pages_.program_ended(); }

  void* allocate(SegId segment, std::size_t size, Place place) override {
    if (place == Place::host || !Transfer::kNiServesWords)
      return segments().allocate(segment, size);
    return segments().allocate_in_ni(segment, size);
  }
  void* alias(SegId segment) override { return memory_.alias(segment); }
  Post expose(SegId segment, void* base, std::size_t size, std::uint32_t permissions, void* alias,
              std::span<const Rank> allowed) override {
    return segments().expose(segment, base, size, permissions, alias, allowed);
  }
  Post withdraw(SegId segment) override { return segments().withdraw(segment); }
  Post regrant(SegId segment, std::uint32_t permissions, std::span<const Rank> allowed) override {
    return segments().regrant(segment, permissions, allowed);
  }
  void* map(Rank, SegId) override { return nullptr; }
  Post put(Dest dest, SegId segment, std::span<const PutPiece> pieces, Counter* done, CtrId remote,
           std::uint32_t flags) override {
    if (dest.group) return put_to_group(dest.id, segment, pieces, done, remote, flags);
    if (dest.id >= size_) return Post::invalid;
    if (!has_rail(dest, flags)) return Post::no_rail;
    ++counters_.puts;
    return remote_.put(dest.id, segment, pieces, done, remote, flags);
  }
  Post get(Remote from, void* to, std::size_t size, Counter* done, std::uint32_t flags) override {
    ++counters_.gets;
    if (from.rank >= size_) return Post::invalid;
    if (!has_rail({from.rank}, flags)) return Post::no_rail;
    return remote_.get(from, to, size, done, flags);
  }
  Post fence(Dest dest, Counter* done) override {
    if (dest.group) {
      return groups_.knows(dest.id) ? remote_.fence(groups_.members(dest.id), done) : Post::invalid;
    }
    if (dest.id >= size_) return Post::invalid;
    return remote_.fence({&dest.id, 1}, done);
  }
  void expose_counter(CtrId id, Counter* counter) override { remote_.expose_counter(id, counter); }
  Post group(std::uint16_t id, std::span<const Rank> members) override {
    const Post answer = groups_.define(id, members);
    if (answer == Post::done) {
      multicast_.take_early(id, [this](PacketId early) { local_.push_back(early); });
      queries_.named(id);
    }
    return answer;
  }
  Post ungroup(std::uint16_t id) override {
    const Post answer = groups_.forget(id);
    if (answer == Post::done) queries_.forgotten(id);
    return answer;
  }
  Post query(const Query& query, bool* all, Counter* done) override {
    return queries_.query(query, all, done);
  }
  Post when(Counter* counter, std::uint64_t at, const Operation& operation) override {
    return triggers_.when(counter, at, operation);
  }

  // NI memory is symmetric by convention: a segment this rank placed on its NI is on every NI.
  Post atomic(Remote word, Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t* old,
              Counter* done, std::uint32_t flags) override {
    ++counters_.atomics;
    if (word.rank >= size_) return Post::invalid;
    const fabric::WordName name{word.segment, word.offset, (flags & kWord4) != 0};
    if (op != Atomic::add || words_.find(name) == nullptr) {
      return remote_.atomic(word, op, a, b, old, done, flags);
    }
    // The NI adds before its host has the packets that came earlier.
    const Post behind = await_puts({word.rank}, Lane::control, flags);
    return behind == Post::done ? fetch_add(word.rank, name, a, old, done) : behind;
  }

  PathState path(Rank peer) const override { return events_.path(peer); }
  void on_event(EventSink sink) override { events_.attach(sink); }
  const PortCounters& counters() const override { return counters_; }

 private:
  static constexpr std::uint32_t kInlineBytes = 32;
  static constexpr Rank kNobody = UINT32_MAX;  // alone
  using NiPacket = fabric::NiPacket;
  using Holds = fabric::Holds;
  using PacketId = fabric::PacketId;
  using PacketKind = fabric::PacketKind;
  using HostFlowOf = HostFlow<Ni, Flow>;

  using Pages = PutsOf<Ni, Transfer>;
  OwnSegments<Ni, Pages> segments() { return {ni_, self_, memory_, pages_, remote_.told()}; }

  static NiPacket& of(Packet* packet) { return *reinterpret_cast<NiPacket*>(packet); }
  static Packet* handle(NiPacket& packet) { return reinterpret_cast<Packet*>(&packet); }

  // Nothing on the host's side has to be looked at or to become due.
  bool only_ni_can_wake() const {
    return !client_.quiet() && local_.empty() && !received_.any_aside() && !owes() &&
           backlog_.armed == 0 && client_.next_due() == kNever;
  }
  // Packets of this rank to itself, which nobody's arrival announces.
  bool more_here() const { return !local_.empty() && !client_.quiet(); }
  // Where the interface is in another process, asking for the time costs a round trip.
  Ps clock_for(const Until& until) const { return until.deadline == kNever ? Ps{0} : now(); }

  bool has_rail(Dest dest, std::uint32_t flags) const {
    return rail_of(flags) == 0 || dest.group || rail_of(flags) <= caps(dest.id).rails;
  }

  // A buffer holds a client's MTU and what lci itself puts before it.
  std::size_t body_bytes() const { return caps_.mtu_bytes + kPrefixBytes; }

  // For packets to that rank, or to a group (kNobody).
  bool take_buffer(Rank to, Lane lane, std::uint32_t flags, std::size_t size_hint,
                   std::uint32_t* id) {
    const std::size_t bytes = size_hint <= kInlineBytes ? kInlineBytes : body_bytes();
    flow_.reserve();
    while (!buffers_.take(ni_, to, lane, bytes, id)) {
      ++counters_.buffer_stalls;
      if (client_.in_upcall() || (flags & kNoBlock) != 0) {
        buffers_.refuse(ni_, to, lane);
        return false;
      }
      turn("a free send buffer");
    }
    return true;
  }

  // Operations that have ended without an upcall that said so.
  std::uint64_t ended() const {
    return remote_.ended() + pages_.ended() + queries_.ended() + events_.given();
  }

  // A sender waits here while its window to the peer is closed (paper section 7.1), where that is
  // the host's; what may not wait is queued.
  void await_room(Rank peer, std::uint32_t flags) {
    if (client_.in_upcall() || (flags & kNoBlock) != 0 || is_near(ni_, peer)) return;
    while (!flow_.room(peer)) {
      ++counters_.credit_stalls;
      turn("its send window");
    }
  }

  // done: what is sent with `flags` now is behind every put before it.
  Post await_puts(Dest dest, Lane lane, std::uint32_t flags) {
    if ((flags & kAfter) == 0) return Post::done;
    while (!puts_precede(dest, lane)) {
      ++counters_.credit_stalls;
      if (client_.quiet() || (flags & kNoBlock) != 0) return Post::again_credit;
      turn("its puts, which come before a packet");
    }
    return Post::done;
  }
  bool puts_precede(Dest dest, Lane lane) {
    if (!dest.group) return remote_.puts_precede(dest.id, lane);
    bool all = true;
    // It comes by way of other members, so that no lane of this rank's keeps the order.
    groups_.for_each_member(dest.id,
                            [&](Rank each) { all &= remote_.puts_precede(each, Lane::control); });
    return all;
  }

  // Receiving goes on while a send waits: two ranks that send to each other would wait for ever.
  void turn(const char* what) {
    if (client_.quiet()) {
      block_quietly(kNever, what);
    } else if (progress() == 0 && !flow_.take_news() && !more_here()) {
      ni_.block(next_due(), what);
    }
  }
  Ps next_due() const { return std::min(client_.next_due(), flow_.next_due()); }

  // No upcall may run, but the host's part of the protocol must.
  void block_quietly(Ps deadline, const char* what) {
    if constexpr (!HostFlowOf::kRuns) {
      ni_.block_for_more(deadline, what);
    } else {
      set_aside();
      if (!flow_.take_news()) ni_.block(std::min(deadline, flow_.next_due()), what);
    }
  }
  void set_aside() {
    ni_.sync();
    (void)reap_completions();
    PacketId id = 0;
    while (take_off(&id)) received_.set_aside(ni_, id, counters_);
    flow_.run_due();
  }

  void complete(NiPacket& packet, Chan chan, const Words& words, std::size_t size) {
    fabric::ClientHeader& header = packet.header.client;
    header.kind = packet.for_group ? PacketKind::multicast : PacketKind::data;
    header.chan = chan;
    header.source = self_;
    header.size = static_cast<std::uint32_t>(size);
    std::memcpy(header.words, words, sizeof header.words);
    packet.header.dest_rank = packet.peer;
    ++counters_.packets_sent;
    counters_.bytes_sent += size;
  }

  void post(NiPacket& packet, std::size_t gathered) {
    const std::size_t size = packet.header.client.size;
    if (packet.peer == self_) {
      packet.received = true;
      local_.push_back(packet.id);
      return;
    }
    if constexpr (kSharesNode<Ni>) {
      if (packet.holds == Holds::near_buffer) {
        ni_.charge(Step::send);
        return ni_.post_near(packet.id, gathered);
      }
    }
    Transfer::move(ni_, packet.id, size, gathered);
    packet.wants_report = Transfer::kReports && size > 0;
    if constexpr (HostFlowOf::kRuns) {
      packet.uses = 1;
      return flow_.send(packet.id, packet.peer);
    }
    ni_.post(packet.id, size > 0 ? Transfer::kDescriptorLines : 1);
  }

  // --- Multicast.

  Post put_to_group(std::uint32_t group, SegId segment, std::span<const PutPiece> pieces,
                    Counter* done, CtrId remote, std::uint32_t flags) {
    return put_to_members(
        groups_, group, self_, remote_, done, [](Rank) { return true; },
        [&](Rank rank) {
          ++counters_.puts;
          return remote_.put_copied(rank, segment, pieces, remote, flags);
        });
  }

  bool forwarded_below(std::uint32_t group) const { return ni_forwards_ && group == 0; }

  // --- What this rank's NI answers queries by.

  static TellBelow below(const NiPortOptions& options) {
    if (!options.queries_below) return nullptr;
    return [](Port& port, Chan chan, const Words& words, std::span<const std::byte> data) {
      return static_cast<NiPort&>(port).tell_ni(chan, words, data);
    };
  }
  // A packet of this rank for itself that its NI takes.
  Post tell_ni(Chan chan, const Words& words, std::span<const std::byte> data);

  // After the program's end its packets are taken, and go on to others.
  void drop_late(NiPacket& packet) {
    if (packet.header.client.kind == PacketKind::multicast &&
        groups_.knows(packet.header.dest_rank)) {
      multicast_.pass_on(packet);
    }
    received_.done_with(ni_, packet);
  }

  Post fetch_add(Rank rank, const fabric::WordName& word, std::uint64_t operand, std::uint64_t* old,
                 Counter* done) {
    ni_.charge(Step::fetch_add_call);
    if (is_dead(ni_, rank)) return Post::peer_down;
    if (rank == self_) {
      words_.add_here(word, operand, old, done);
      return Post::done;
    }
    std::uint32_t id = 0;
    await_room(rank, kNoFlags);
    // The NI adds to a word of a near rank as well; only hosts that serve words need near buffers.
    const Rank to = HostFlowOf::kRuns ? rank : kNobody;
    if (!take_buffer(to, Lane::control, client_.in_upcall() ? kNoBlock : kNoFlags, 0, &id)) {
      return Post::again_buffer;
    }
    words_.ask(rank, word, operand, old, done, id);
    return Post::pending;
  }

  // --- Receiving.
  // Upcalls of one progress(): who polls comes back to its own work although packets come as fast
  // as they are taken.
  static constexpr int kDeliveredMax = 1024;

  // Takes what the interface has, runs upcalls, sends what waits for room; returns how much.
  int progress();
  // What the host does for it; count: nothing.
  static Step taken_by(const NiPacket& packet);
  // It is no message, but what the NI says of one.
  static bool is_told(const NiPacket& packet) {
    return Transfer::kHasQueues && packet.holds == Holds::nothing &&
           packet.source == static_cast<std::uint8_t>(ViOp::told);
  }
  // The next packet for an upcall.
  bool next_received(PacketId* id);
  bool take_off(PacketId* id);
  // It is of another rank of this node: no NI has numbered it.
  bool took_near(const NiPacket& packet);
  int run_due();
  int reap_completions();
  int deliver_local();
  void deliver(NiPacket& packet);

  static void release_waiting(void* self, Packet* packet) {
    static_cast<NiPort*>(self)->release(packet);
  }

  // What every call looks at first.
  Ni& ni_;
  PortCounters& counters_;
  Ring<PacketId> local_;  // packets to myself, and those that waited for their group
  ReceivedPackets<Ni> received_;
  Backlog backlog_;
  bool served_ = false;  // by an interrupt, and no wait has said so
  bool losses_ = false;  // of peers, and wait() has not said so
  SendBuffers<Ni> buffers_;
  std::uint64_t ran_ = 0;  // upcalls and tasks
  Rank self_;
  Rank size_;
  bool work_takes_time_;
  bool ni_forwards_;
  Caps caps_;
  Caps near_caps_;  // of ranks of this node: no network moves what is for them
  [[no_unique_address]] HostFlowOf flow_;
  ClientSide client_;
  OwnMemory memory_;
  RemoteMemory remote_;
  GroupTable groups_;
  HostMulticast<Ni, Transfer, HostFlowOf> multicast_;
  GroupQueries queries_;
  Triggers triggers_;
  NiWords<Ni, HostFlowOf> words_;
  [[no_unique_address]] Pages pages_;
  Interrupts interrupts_;
  [[no_unique_address]] std::conditional_t<Transfer::kHasQueues, NiViRdma<Ni>, NoViRdma> vi_rdma_;
  Events events_{client_, size_};
};

}  // namespace fairlead::lci
