// The control program of a network interface (LCI paper section 4, figure 4) with credit flow
// control: host send queue, send queues per destination, receive dispatch, unicast, fetch-and-add,
// acknowledgments. A template on the NI's hardware, which is also its Site: the modelled NI today,
// an engine on a core of its own or a DPU by the same text. It allocates nothing after
// construction.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/proto/credit_window.h"
#include "fairlead/proto/send_queues.h"

namespace fairlead::lci {

// Assumes a reliable network with FIFO paths (paper section 4): it never sends again, and stops
// the job when it sees that assumption violated.
template <class Hardware>
class CreditProgram {
 public:
  using PacketId = std::uint32_t;

  struct Options {
    std::uint32_t endpoints;   // NIs of the machine
    std::uint32_t window;      // receive buffers reserved per sender
    std::uint32_t queued_max;  // packets that may wait for credit
    void (*violated)(void* context, Peer self, Peer peer, const char* what);
    void* context;
  };

  CreditProgram(Hardware& ni, const Options& options)
      : ni_(ni),
        options_(options),
        credit_(options.endpoints, options.window),
        waiting_(options.endpoints, options.queued_max),
        fetching_(1, options.queued_max),
        expected_(options.endpoints, 0),
        next_(options.endpoints, 0) {}

  // --- Entry points of the main loop.

  // The host posted a packet: its data is written, or is to be fetched first.
  void on_descriptor(PacketId id) {
    ni_.charge(Step::dequeue);
    if (ni_.packet(id).fetch_bytes > 0) {
      ni_.charge(Step::dma_program);
      ni_.charge(Step::dma_queue);
      in_order(id);
      ni_.fetch(id);
      return;
    }
    // What needs no fetch does not overtake what waits for one.
    if (fetching_.empty(0)) {
      send(id);
    } else {
      in_order(id);
    }
  }

  void on_fetched(PacketId id) {
    ni_.charge(Step::dma_complete);
    auto& packet = ni_.packet(id);
    packet.fetch_bytes = 0;
    const std::uint64_t cookie = packet.cookie;
    const bool report = packet.wants_report;
    FAIRLEAD_DCHECK(fetching_.front(0) == id, "NI {}: fetched out of order", ni_.self());
    do {
      const PacketId next = fetching_.front(0);
      fetching_.pop(0);
      send(next);
    } while (!fetching_.empty(0) && ni_.packet(fetching_.front(0)).fetch_bytes == 0);
    if (report) ni_.report(cookie);
  }

  void on_transmitted() {
    ni_.charge(Step::transmit_done);
    ni_.send_buffer_free();
  }

  void on_received(PacketId id) {
    ni_.charge(Step::detect);
    auto& packet = ni_.packet(id);
    const Peer peer = packet.peer;
    if (peer >= options_.endpoints || packet.header.sequence != expected_[peer]) {
      const bool again = peer < options_.endpoints &&
                         static_cast<std::int32_t>(packet.header.sequence - expected_[peer]) < 0;
      options_.violated(options_.context, ni_.self(), peer,
                        again ? "a packet came twice" : "a packet is missing or out of order");
      return;
    }
    ++expected_[peer];
    ni_.charge(Step::dispatch);
    if (!credit_.give(ni_, peer, packet.header.ack)) {
      options_.violated(options_.context, ni_.self(), peer, "more credit came back than was lent");
      return;
    }
    if (packet.header.ack > 0) send_waiting(peer);
    switch (packet.header.client.kind) {
      case fabric::PacketKind::data:
        ni_.charge(Step::deliver);
        ni_.deliver(id);
        return;
      case fabric::PacketKind::ack:
        ++ni_.counters().acks_received;
        ni_.free_packet(id);
        return;
      case fabric::PacketKind::fetch_add:
        serve_fetch_add(id);
        return;
      case fabric::PacketKind::fetch_add_reply:
        ni_.charge(Step::fetch_add_reply);
        ni_.charge(Step::deliver);
        ni_.answer(id);
        released(peer);
        return;
      default:
        ++ni_.counters().corrupt_dropped;
        ni_.free_packet(id);
    }
  }

  // Its CRC says that what came is not what was sent.
  void on_corrupt(PacketId id) {
    ni_.charge(Step::detect);
    ++ni_.counters().corrupt_dropped;
    const Peer peer = ni_.packet(id).peer;
    ni_.free_packet(id);
    options_.violated(options_.context, ni_.self(), peer, "a packet failed its CRC check");
  }

  // The packet is the host's now; its receive buffer here is free.
  void on_delivered(Peer peer) {
    ni_.charge(Step::dma_complete);
    ni_.charge(Step::host_ring);
    released(peer);
  }

 private:
  void in_order(PacketId id) {
    FAIRLEAD_CHECK(fetching_.push(0, id), "NI {}: host send queue full", ni_.self());
  }

  void send(PacketId id) {
    const Peer peer = ni_.packet(id).peer;
    if (!waiting_.empty(peer) || !credit_.take(ni_, peer)) {
      ++ni_.counters().credit_stalls;
      FAIRLEAD_CHECK(waiting_.push(peer, id), "NI {}: send queue full", ni_.self());
      return;
    }
    transmit(peer, id);
  }

  void send_waiting(Peer peer) {
    while (!waiting_.empty(peer) && credit_.take(ni_, peer)) {
      const PacketId id = waiting_.front(peer);
      waiting_.pop(peer);
      transmit(peer, id);
    }
  }

  void transmit(Peer peer, PacketId id) {
    ni_.charge(Step::header);
    auto& packet = ni_.packet(id);
    packet.header.sequence = next_[peer]++;
    packet.header.ack = credit_.take_owed(peer);
    if (packet.header.ack > 0 && packet.header.client.kind != fabric::PacketKind::ack) {
      ++ni_.counters().acks_piggybacked;
    }
    packet.peer = ni_.self();  // what the receiver sees: where it came from
    ni_.charge(Step::transmit);
    ni_.transmit(peer, id);
  }

  // A receive buffer reserved for `peer` is free again.
  void released(Peer peer) {
    ni_.charge(Step::release);
    if (!credit_.released(peer)) return;
    ni_.charge(Step::ack);
    ++ni_.counters().acks_sent;
    // Acknowledgments need no credit: the receiver takes them off the wire at once.
    transmit(peer, ni_.make_control(fabric::PacketKind::ack, peer));
  }

  void serve_fetch_add(PacketId id) {
    auto& packet = ni_.packet(id);
    const Peer peer = packet.peer;
    ni_.charge(Step::fetch_add);
    std::uint64_t* word =
        ni_.find_word(packet.header.client.words[0], packet.header.client.words[1]);
    if (word == nullptr) {
      ++ni_.counters().bound_dropped;
      ni_.free_packet(id);
      released(peer);
      return;
    }
    const std::uint64_t before = *word;
    *word += packet.operand;
    packet.operand = before;
    ++ni_.counters().fetch_adds_served;
    // The request's own packet goes back as the reply; its receive buffer is free first, and the
    // reply is a send like any other.
    packet.header.client.kind = fabric::PacketKind::fetch_add_reply;
    packet.from_host = false;
    packet.peer = peer;
    released(peer);
    send(id);
  }

  Hardware& ni_;
  Options options_;
  proto::CreditWindow credit_;
  proto::SendQueues waiting_;            // for credit, per destination
  proto::SendQueues fetching_;           // for their data or those before them: the host's order
  std::vector<std::uint32_t> expected_;  // sequence per peer: FIFO is assumed, and checked
  std::vector<std::uint32_t> next_;
};

}  // namespace fairlead::lci
