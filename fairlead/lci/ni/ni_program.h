// The control program of a network interface (LCI paper section 4, figure 4): host send queue, send
// queues per destination, receive dispatch, unicast, multicast, fetch-and-add, acknowledgments,
// timers. A template on the NI's hardware, which is also its Site (the modelled NI, an engine that
// is a process, or a DPU by the same text), and on the reliability scheme between NIs
// (proto/flow.h). Its memory grows to the largest backlog so far.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/lci/ni/ni_fetch_add.h"
#include "fairlead/lci/ni/ni_program_options.h"
#include "fairlead/lci/ni/ni_stripes.h"
#include "fairlead/lci/ni/node_pages.h"
#include "fairlead/lci/ni/node_tree.h"
#include "fairlead/lci/ni/receive_pool.h"
#include "fairlead/proto/flow.h"
#include "fairlead/proto/item_lists.h"
#include "fairlead/proto/multicast_tree.h"
#include "fairlead/proto/send_queues.h"

namespace fairlead::lci {

// A packet's life here: the host's occupies a send buffer until all its sends are over, one from
// the network a receive buffer until it is with the host and has been sent on. What leaves is the
// packet itself where nobody needs it any more, else an image of it.
template <class Hardware, class Flow>
class NiProgram {
 public:
  using PacketId = std::uint32_t;
  static constexpr bool kRetransmits = Flow::kRetransmits;
  // Several rails may join it to others: then an endpoint of the flow is a node by one of them.
  static constexpr bool kHasRails = requires(Hardware & each) { each.rails(); };

  NiProgram(Hardware& ni, Flow flow, const NiProgramOptions& options)
      : ni_(ni),
        buffers_(options.receive_buffers),
        options_(options),
        group_(ni.self(), options.members, options.tree),
        flow_(std::move(flow)),
        stripes_(*this, options),
        pages_(ni, options.anonymous_pages, options.translates ? options.ranks_here : 1) {}

  // --- Entry points of the main loop.

  // The host posted a packet: its data is written, or is to be fetched first.
  void on_descriptor(PacketId id) {
    ni_.charge(Step::dequeue);
    auto& packet = ni_.packet(id);
    packet.uses = 1;
    if (options_.translates && !obey(packet)) return;
    if (packet.fetch_bytes > 0) {
      ni_.charge(Step::dma_program);
      ni_.charge(Step::dma_queue);
      fetches_.push(fetching_, id);
      ni_.fetch(id);
      return;
    }
    pass_fetch_queue();
    // What needs no fetch does not overtake what waits for one.
    if (fetching_.empty()) {
      depart(id);
    } else {
      fetches_.push(fetching_, id);
    }
  }

  void on_fetched(PacketId id) {
    ni_.charge(Step::dma_complete);
    auto& packet = ni_.packet(id);
    packet.fetch_bytes = 0;
    const std::uint64_t cookie = packet.cookie;
    const std::uint32_t place = packet.place;
    const bool report = packet.wants_report;
    FAIRLEAD_DCHECK(fetches_.front(fetching_) == id, "NI {}: fetched out of order", ni_.self());
    do {
      const PacketId next = fetches_.front(fetching_);
      fetches_.pop(fetching_);
      depart(next);
    } while (!fetching_.empty() && ni_.packet(fetches_.front(fetching_)).fetch_bytes == 0);
    if (report) ni_.report(place, cookie);
  }

  // A multicast packet is to go on to one child (paper section 4.2: a descriptor like the host's).
  void on_forward(PacketId id, Peer child) {
    ni_.charge(Step::forward);
    ni_.charge(Step::dequeue);
    pass_fetch_queue();
    ++ni_.counters().multicasts_forwarded;
    send(child, id);
  }

  // `origin`: the packet whose image has left; kNoPacket: one itself of the rank's at `place`.
  void on_transmitted(PacketId origin, std::uint32_t place) {
    ni_.charge(Step::transmit_done);
    // Its acknowledgment frees the buffer, here or on the host.
    if (Flow::kRetransmits || !Flow::kNumbers) return;
    if (origin == kNoPacket) {
      ni_.send_buffer_free(place);
    } else {
      use_over(origin);
    }
  }

  void on_received(PacketId id) {
    ni_.charge(Step::detect);
    auto& packet = ni_.packet(id);
    const Peer peer = packet.peer;
    if (peer >= options_.endpoints) return foreign(id, peer);
    stripes_.heard(peer);
    const PacketKind kind = packet.header.client.kind;
    if constexpr (Flow::kNumbers) {
      if (!check(id, peer, kind)) return;
    } else {
      ni_.charge(Step::dispatch);
    }
    if (!take_buffer(id, peer)) return;
    packet.holds = Holds::receive_buffer;
    packet.uses = 1;
    accepted(id, peer, kind);
    if constexpr (Flow::kKeepsEarly) take_kept(peer);
  }

  // Its CRC says that what came is not what was sent.
  void on_corrupt(PacketId id) {
    ni_.charge(Step::detect);
    ++ni_.counters().corrupt_dropped;
    const Peer peer = ni_.packet(id).peer;
    ni_.free_packet(id);
    if (Flow::kReserves) violated(peer, "a packet failed its CRC check");
  }

  // The host has the data of a page transfer; as below.
  void on_landed(PacketId origin, Peer peer) {
    ni_.charge(Step::dma_complete);
    gone(origin, peer);
  }

  // The host has its packet. `origin`: the buffer it is an image of; kNoPacket: the buffer went
  // with it.
  void on_delivered(PacketId origin, Peer peer) {
    ni_.charge(Step::dma_complete);
    ni_.charge(Step::host_ring);
    gone(origin, peer);
  }

  void on_timer() {
    if constexpr (Flow::kRetransmits) {
      flow_.run_due(
          ni_, [this](Peer peer) { send_control(PacketKind::ack, peer); },
          [this](Peer peer, std::uint32_t id, std::uint32_t sequence) {
            send_again(peer, id, sequence);
            stripes_.not_answered(peer);
          },
          [this](Peer peer) {
            // A rail that was silent for so long is not asked again.
            if (stripes_.is_stripe(peer)) return;
            violated(peer, "a packet was not acknowledged however often it was sent");
          });
    }
  }

  // Brings into the cache what a packet of `peer` will need.
  void prepare(Peer peer) const {
    if constexpr (requires { flow_.prepare(peer); }) flow_.prepare(peer);
  }
  // What on_timer() will need.
  void prepare_due() const {
    if constexpr (requires { flow_.prepare_due(); }) flow_.prepare_due();
  }

  // After every entry: the hardware's timer is to end here.
  Ps next_due() const { return flow_.next_due(); }

 private:
  using PacketKind = fabric::PacketKind;
  using Holds = fabric::Holds;
  static constexpr PacketId kNoPacket = fabric::kNoPacket;
  using Stripes = std::conditional_t<kHasRails, NiStripes<NiProgram>, NoNiStripes>;
  friend Stripes;
  using Adds = NiFetchAdds<NiProgram>;
  friend Adds;

  // Word of an acknowledgment that asks for one in return.
  static constexpr std::size_t kAskWord = 2;

  static bool is_control(PacketKind kind) {
    return kind == PacketKind::ack || kind == PacketKind::resend;
  }

  // --- Sending.

  // What the descriptor says of the TLB. False: that was all of it.
  template <class Packet>
  bool obey(Packet& packet) {
    NiPages<Hardware>& pages = pages_.of(packet.place);
    switch (pages.descriptor(packet)) {
      case NiPages<Hardware>::Said::sends:
        return true;
      case NiPages<Hardware>::Said::written:
        pages.release([this](PacketId id) {
          const auto& arrival = ni_.packet(id);
          dispatch(id, arrival.peer, arrival.header.client.kind);
        });
        return false;
      default:
        violated(ni_.self(), "its host named a page or an entry that its TLB does not have");
        return false;
    }
  }

  // Without data to fetch a descriptor only comes to its end there.
  void pass_fetch_queue() {
    if (!options_.fetches) return;
    ni_.charge(Step::dma_complete);
  }

  // One of the host's packets, in the host's order.
  void depart(PacketId id) {
    auto& packet = ni_.packet(id);
    if (!forwarded_here(packet)) {
      if (packet.peer == ni_.self()) [[unlikely]]
        return Adds::serve_near(*this, id);
      if (stripes_.takes(id)) return;
      return send(packet.peer, id);
    }
    const Peer root = ni_.node_of(packet.header.client.source);
    packet.uses = static_cast<std::uint8_t>(group_.children(root));
    group_.for_each_child(root, [this, id](Peer child) {
      ni_.charge(Step::forward);
      send(child, id);
    });
  }

  void send(Peer peer, PacketId id) {
    if (!waiting_.empty(peer) || !flow_.open(ni_, peer)) {
      ++ni_.counters().credit_stalls;
      waiting_.push(peer, id);
      count_waiting(1);
      return;
    }
    transmit(peer, id);
  }

  // Tells hardware that keeps such figures how many packets wait for the window.
  void count_waiting(int by) {
    if constexpr (requires { ni_.waiting(by); }) ni_.waiting(by);
  }

  void send_waiting(Peer peer) {
    while (!waiting_.empty(peer) && flow_.open(ni_, peer)) {
      const PacketId id = waiting_.front(peer);
      waiting_.pop(peer);
      count_waiting(-1);
      transmit(peer, id);
    }
  }

  void transmit(Peer peer, PacketId id) {
    ni_.charge(Step::header);
    put_on_wire(peer, id, flow_.number(ni_, peer, id));
  }

  void send_again(Peer peer, PacketId id, std::uint32_t sequence) {
    if constexpr (Flow::kKeepsEarly) {
      // All has come, and how far the peer is was not told, or not heard.
      if (id == Flow::kNothing) return send_control(PacketKind::ack, peer, true);
    }
    ni_.charge(Step::header);
    ++ni_.counters().retransmissions;
    put_on_wire(peer, id, sequence);
  }

  void put_on_wire(Peer peer, PacketId id, std::uint32_t sequence) {
    PacketId out = id;
    const auto& packet = ni_.packet(id);
    if (Flow::kRetransmits || packet.uses > 1 || packet.holds == Holds::receive_buffer) {
      out = ni_.image(id);
      ni_.packet(out).origin = id;
    }
    auto& leaving = ni_.packet(out);
    if constexpr (Flow::kNumbers) {
      if (flow_.owes(peer)) ++ni_.counters().acks_piggybacked;
      leaving.header.sequence = sequence;
      leaving.header.ack = flow_.take_ack(peer);
    }
    leaving.peer = ni_.self();  // what the receiver sees: where it came from
    ni_.charge(Step::transmit);
    ni_.transmit(peer, out);
  }

  // Those that are missing at the peer.
  void send_lost(Peer peer) {
    while (flow_.lost(peer) > 0) {
      const auto again = flow_.take_lost(ni_, peer);
      send_again(peer, again.item, again.sequence);
    }
  }

  // Acknowledgments need no window: the receiver takes them off the wire at once. A credit scheme
  // numbers them with the rest, to see that paths are FIFO. `asks` for one in return.
  void send_control(PacketKind kind, Peer peer, bool asks = false) {
    ni_.charge(Step::ack);
    ++(kind == PacketKind::ack ? ni_.counters().acks_sent : ni_.counters().resends_requested);
    ni_.charge(Step::header);
    const PacketId id = ni_.make_control(kind, peer);
    auto& packet = ni_.packet(id);
    if constexpr (Flow::kReserves) packet.header.sequence = flow_.number(ni_, peer, id);
    if constexpr (Flow::kKeepsEarly) {
      std::uint64_t early = 0;
      (void)flow_.take_early(peer, {&early, 1});
      packet.header.client.words[0] = static_cast<std::uint32_t>(early);
      packet.header.client.words[1] = static_cast<std::uint32_t>(early >> 32);
      packet.header.client.words[kAskWord] = asks ? 1 : 0;
    }
    packet.header.ack = flow_.take_ack(peer);
    packet.peer = ni_.self();
    ni_.charge(Step::transmit);
    ni_.transmit(peer, id);
  }

  // One send of the packet, or its delivery, is over; its buffer is free after the last.
  void use_over(PacketId id) {
    auto& packet = ni_.packet(id);
    if (--packet.uses > 0) return;
    const Holds held = packet.holds;
    const Peer peer = packet.peer;
    const std::uint32_t place = packet.place;
    const PacketId origin = packet.origin;
    stripes_.over(packet);
    ni_.free_packet(id);
    if (origin != kNoPacket) return use_over(origin);  // the host posted an image
    if (held == Holds::send_buffer) {
      ni_.send_buffer_free(place);
    } else if (held == Holds::receive_buffer) {
      buffer_free();
      if (Flow::kReserves) released(peer);
    }
  }

  // --- Receiving.

  // Its number and its acknowledgment. True: it is the next one to take.
  bool check(PacketId id, Peer peer, PacketKind kind) {
    const auto& header = ni_.packet(id).header;
    const bool numbered = Flow::kReserves || !is_control(kind);
    proto::Verdict verdict = proto::Verdict::in_order;
    if (numbered) verdict = flow_.arrived(ni_, peer, header.sequence);
    if (Flow::kReserves && verdict != proto::Verdict::in_order) {
      out_of_order(id, peer, verdict);
      return false;
    }
    ni_.charge(Step::dispatch);
    if (!acknowledged(header, peer, kind)) {
      false_ack(id, peer);
      return false;
    }
    if constexpr (Flow::kKeepsEarly) send_lost(peer);
    send_waiting(peer);
    stripes_.answered(peer);
    if constexpr (Flow::kKeepsEarly) {
      if (verdict == proto::Verdict::early) {
        keep_early(id, peer);
        return false;
      }
    }
    if (verdict != proto::Verdict::in_order) {
      out_of_order(id, peer, verdict);
      return false;
    }
    if (Flow::kReserves) flow_.accept(peer);
    if (!is_control(kind)) return true;
    control(id, peer, kind);
    return false;
  }

  // What it says of this NI's own packets. False: it cannot be true.
  bool acknowledged(const fabric::PacketHeader& header, Peer peer, PacketKind kind) {
    const auto freed = [this](std::uint32_t kept) { use_over(kept); };
    if constexpr (Flow::kKeepsEarly) {
      const std::uint64_t early =
          is_control(kind) ? header.client.words[0] | std::uint64_t{header.client.words[1]} << 32
                           : 0;
      return flow_.acknowledged(ni_, peer, {header.ack, {&early, early != 0 ? 1u : 0u}}, freed);
    } else {
      return flow_.acknowledged(ni_, peer, header.ack, freed);
    }
  }

  // What comes early waits in its receive buffer for what is missing. No more than half of them are
  // taken so, as that needs one too.
  void keep_early(PacketId id, Peer peer) {
    if (!buffers_.take_spare()) {
      no_buffer(id, peer);
    } else {
      auto& packet = ni_.packet(id);
      packet.holds = Holds::receive_buffer;
      packet.uses = 1;
      const std::uint32_t sequence = packet.header.sequence;
      flow_.keep(peer, sequence, stripes_.came_early(id, peer));
    }
    if (flow_.urgent(peer)) send_control(PacketKind::ack, peer);
  }
  // What had waited for the packet that has come.
  void take_kept(Peer peer) {
    while (flow_.keeps(peer)) {
      const PacketId id = flow_.take_kept(ni_, peer);
      if (id == Flow::kNothing) return;
      accepted(id, peer, ni_.packet(id).header.client.kind);
    }
  }

  void control(PacketId id, Peer peer, PacketKind kind) {
    if (kind == PacketKind::ack) ++ni_.counters().acks_received;
    const bool asks = ni_.packet(id).header.client.words[kAskWord] != 0;
    ni_.free_packet(id);
    if constexpr (Flow::kKeepsEarly) {
      if (asks) send_control(PacketKind::ack, peer);
      if (kind != PacketKind::resend) return;
      flow_.lose_all(peer);
      send_lost(peer);
    } else if constexpr (Flow::kRetransmits) {
      if (kind != PacketKind::resend) return;
      flow_.resend_all(ni_, peer, [this](Peer to, std::uint32_t again, std::uint32_t sequence) {
        send_again(to, again, sequence);
      });
    }
  }

  void accepted(PacketId id, Peer peer, PacketKind kind) {
    if (options_.translates && pages_.of(ni_.packet(id).to).keeps(id)) return;
    dispatch(id, peer, kind);
  }

  void dispatch(PacketId id, Peer peer, PacketKind kind) {
    if constexpr (!Flow::kNumbers) {  // everything is the host's
      ni_.charge(Step::deliver);
      return ni_.deliver(id);
    }
    switch (kind) {
      case PacketKind::data:
        ni_.charge(Step::deliver);
        ni_.deliver(id);
        return;
      case PacketKind::multicast:
        return multicast(id);
      case PacketKind::page_transfer:
        if constexpr (requires { ni_.place_put(id); }) {
          ni_.charge(Step::deliver);
          return ni_.place_put(id);
        }
        if (!options_.translates) return refuse(id, peer);
        ni_.charge(Step::deliver);
        if (ni_.packet(id).notifies) ni_.charge(Step::dma_queue);
        return ni_.land(id);
      case PacketKind::copy_piece:
        if (!stripes_.came(id, peer)) refuse(id, peer);
        return;
      case PacketKind::fetch_add:
        return Adds::serve(*this, id);
      case PacketKind::fetch_add_reply:
        ni_.charge(Step::fetch_add_reply);
        ni_.charge(Step::deliver);
        ni_.packet(id).holds = Holds::nothing;
        ni_.answer(id);
        buffer_free();
        return released(peer);
      default:
        refuse(id, peer);
    }
  }
  void refuse(PacketId id, Peer peer) {
    ++ni_.counters().corrupt_dropped;
    ni_.free_packet(id);
    buffer_free();
    released(peer);
  }

  // To the host, and on to the children.
  void multicast(PacketId id) {
    auto& packet = ni_.packet(id);
    const Peer root = ni_.node_of(packet.header.client.source);
    std::uint32_t onward = 0;
    if (forwarded_here(packet)) {
      ni_.charge(Step::multicast);
      if (root < options_.members) onward = group_.children(root);
    }
    ni_.charge(Step::deliver);
    if (onward == 0) return ni_.deliver(id);
    packet.uses = static_cast<std::uint8_t>(onward + 1);
    const PacketId mine = ni_.image(id);
    ni_.packet(mine).origin = id;
    ni_.deliver(mine);
    group_.for_each_child(root, [this, id](Peer child) { ni_.submit_forward(id, child); });
  }

  // An arrival has left for the host: the packet itself (kNoPacket), or an image of `origin`.
  void gone(PacketId origin, Peer peer) {
    if (origin == kNoPacket) {
      buffer_free();
      if (stripes_.counts(peer)) released(peer);
    } else {
      if (!Flow::kReserves) released(peer);
      use_over(origin);
    }
  }

  // The receive buffer of a packet from `peer` may be acknowledged.
  void released(Peer peer) {
    ni_.charge(Step::release);
    if (flow_.released(ni_, peer)) send_control(PacketKind::ack, peer);
  }

  // --- The pool of receive buffers, where none are reserved per sender.

  // A packet to be forwarded leaves some free for those nearer to their trees' leaves: of these,
  // and of those for the host alone, some can always go (proto/multicast_tree.h).
  bool take_buffer(PacketId id, Peer peer) {
    if constexpr (Flow::kReserves) return true;
    const bool goes_on = forwarded_here(ni_.packet(id)) && options_.members > 1;
    if (buffers_.take(goes_on ? group_.edge_class_from(peer) : 0)) {
      if constexpr (Flow::kNumbers) flow_.accept(peer);
      return true;
    }
    no_buffer(id, peer);
    return false;
  }
  void no_buffer(PacketId id, Peer peer) {
    ++ni_.counters().full_dropped;
    ni_.free_packet(id);
    buffers_.starves(peer);
  }

  void buffer_free() {
    if constexpr (Flow::kReserves) return;
    buffers_.give();
    // Those whose packets had to be dropped need not wait for their timers (paper section 5.1.2).
    if (!Flow::kRetransmits || !buffers_.has_plenty_for_starved()) return;
    send_control(PacketKind::resend, buffers_.take_starved());
  }

  // Not a packet of another group, which hosts pass on.
  template <class Packet>
  bool forwarded_here(const Packet& packet) const {
    return packet.header.client.kind == PacketKind::multicast && packet.header.dest_rank == 0 &&
           options_.forwards;
  }

  // --- What should not have come.

  void out_of_order(PacketId id, Peer peer, proto::Verdict verdict) {
    if (Flow::kReserves) {
      return violated(peer, verdict == proto::Verdict::duplicate
                                ? "a packet came twice"
                                : "a packet is missing or out of order");
    }
    ++(verdict == proto::Verdict::duplicate ? ni_.counters().duplicates_dropped
                                            : ni_.counters().gaps_dropped);
    ni_.free_packet(id);
    if constexpr (Flow::kKeepsEarly) {
      if (flow_.urgent(peer)) send_control(PacketKind::ack, peer);
    }
  }
  void false_ack(PacketId id, Peer peer) {
    if (Flow::kReserves) return violated(peer, "more credit came back than was lent");
    ++ni_.counters().corrupt_dropped;
    ni_.free_packet(id);
  }
  void foreign(PacketId id, Peer peer) {
    if (Flow::kReserves) return violated(peer, "a packet is missing or out of order");
    ++ni_.counters().foreign_dropped;
    ni_.free_packet(id);
  }
  void violated(Peer peer, const char* what) {
    options_.violated(options_.context, ni_.self(), peer, what);
  }

  // What every packet touches; the flow's own lies first in it.
  Hardware& ni_;
  ReceivePool buffers_;
  proto::ItemList fetching_;   // for their data or those before them: the host's order
  proto::SendQueues waiting_;  // for the flow to open, per destination
  proto::ItemLists fetches_;
  NiProgramOptions options_;
  NodeTree group_;
  Flow flow_;
  [[no_unique_address]] Stripes stripes_;
  NodePages<Hardware> pages_;  // where options_.translates
};

}  // namespace fairlead::lci
