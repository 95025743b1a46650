// The reliability scheme of a port whose host runs it (LCI paper section 5.1.1, I-hrx): numbers and
// keeps what leaves, checks what comes, acknowledges, sends again. The NIs below move packets and
// drop those they have no room for. Runs in the rank's thread, from its port's send and progress.
#pragma once
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/counters.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/proto/flow.h"
#include "fairlead/proto/send_queues.h"

namespace fairlead::lci {

// A peer does not respond however often it was asked: ends the job.
using Lost = std::function<void(Rank self, Rank peer)>;

struct HostFlowOptions {
  Rank self;
  Rank ranks;
  std::size_t descriptor_lines;  // of a packet whose data the NI is to fetch
  Lost lost;
};

// The data of a sent packet stays in its send buffer on the NI; what leaves, each time, is a
// detached image of it. The buffer is free when every peer it went to has acknowledged it.
template <class Ni, class Flow>
class HostFlow {
 public:
  using PacketId = fabric::PacketId;
  using NiPacket = fabric::NiPacket;
  static constexpr bool kRuns = true;

  // `ni` and `counters` outlive it.
  HostFlow(Ni& ni, Flow flow, HostFlowOptions options, PortCounters& counters)
      : ni_(ni), flow_(std::move(flow)), options_(std::move(options)), counters_(counters) {}

  // Before the port takes its first send buffer: one is kept to send acknowledgments from, which
  // must not wait for a buffer that only an acknowledgment frees.
  void reserve() {
    if (control_ != fabric::kNoPacket) return;
    FAIRLEAD_CHECK(ni_.alloc(0, 0, &control_), "no send buffer for acknowledgments");
    fabric::ClientHeader& header = ni_.packet(control_).header.client;
    header.kind = fabric::PacketKind::ack;
    header.source = options_.self;
  }

  // A packet sent now would leave at once.
  bool room(Rank peer) { return waiting_.empty(peer) && flow_.room(peer); }

  // Sends what is in `buffer`, which expects packet.uses acknowledgments, to one of its peers.
  void send(PacketId buffer, Rank peer) {
    if (!waiting_.empty(peer) || !flow_.open(ni_, peer)) {
      ++counters_.credit_stalls;
      waiting_.push(peer, buffer);
      return;
    }
    transmit(peer, buffer);
  }

  // A packet has come; charges what the host does about it. False: it was not for the client, and
  // is gone.
  bool came(PacketId id) {
    reserve();
    const Rank peer = ni_.packet(id).peer;
    if (peer >= options_.ranks) return drop(id, counters_.foreign_dropped);
    const fabric::PacketHeader header = ni_.packet(id).header;
    const bool numbered = header.client.kind != fabric::PacketKind::ack;
    proto::Verdict verdict = proto::Verdict::in_order;
    if (numbered) verdict = flow_.arrived(ni_, peer, header.sequence);
    if (!flow_.acknowledged(ni_, peer, header.ack, [this](PacketId sent) { use_over(sent); })) {
      return drop(id, counters_.corrupt_dropped);
    }
    send_waiting(peer);
    if (!numbered) return drop(id, counters_.acks_received);
    if (verdict != proto::Verdict::in_order) {
      return drop(id, verdict == proto::Verdict::duplicate ? counters_.duplicates_dropped
                                                           : counters_.gaps_dropped);
    }
    flow_.accept(peer);
    if (flow_.released(ni_, peer)) acknowledge(peer);
    return true;
  }

  Ps next_due() const { return flow_.next_due(); }
  // Whether one of its timers has something to do.
  bool is_due() { return flow_.is_due(ni_); }
  void run_due() {
    if (flow_.next_due() == kNever) return;
    flow_.run_due(
        ni_, [this](Peer peer) { acknowledge(peer); },
        [this](Peer peer, PacketId buffer, std::uint32_t sequence) {
          ++counters_.retransmissions;
          ni_.charge(Step::send);
          post(peer, buffer, sequence);
        },
        [this](Peer peer) { options_.lost(options_.self, peer); });
  }

  // Since the last call something was acknowledged: a window or a buffer may be free.
  bool take_news() { return std::exchange(news_, false); }

 private:
  void transmit(Rank peer, PacketId buffer) { post(peer, buffer, flow_.number(ni_, peer, buffer)); }

  void post(Rank peer, PacketId buffer, std::uint32_t sequence) {
    auto& kept = ni_.packet(buffer);
    const bool with_data = kept.fetch_bytes > 0;
    const PacketId out = ni_.detached_image(buffer);
    // From now on its data is in NI memory.
    kept.fetch_bytes = 0;
    kept.wants_report = false;
    auto& leaving = ni_.packet(out);
    if (flow_.owes(peer)) ++counters_.acks_piggybacked;
    leaving.peer = peer;
    leaving.header.sequence = sequence;
    leaving.header.ack = flow_.take_ack(peer);
    ni_.post(out, with_data ? options_.descriptor_lines : 1);
  }

  void send_waiting(Rank peer) {
    while (!waiting_.empty(peer) && flow_.open(ni_, peer)) {
      const PacketId buffer = waiting_.front(peer);
      waiting_.pop(peer);
      transmit(peer, buffer);
    }
  }

  // Acknowledgments need no window, and none is sent again: the next one says the same.
  void acknowledge(Rank peer) {
    ni_.charge(Step::ack);
    ++counters_.acks_sent;
    const PacketId out = ni_.detached_image(control_);
    auto& leaving = ni_.packet(out);
    leaving.peer = peer;
    leaving.header.ack = flow_.take_ack(peer);
    ni_.post(out, 1);
  }

  void use_over(PacketId buffer) {
    news_ = true;
    if (--ni_.packet(buffer).uses == 0) ni_.cancel(buffer);
  }

  bool drop(PacketId id, std::uint64_t& counter) {
    ni_.charge(Step::reap_completion);
    ++counter;
    ni_.release(id);
    return false;
  }

  Ni& ni_;
  Flow flow_;
  HostFlowOptions options_;
  PortCounters& counters_;
  PacketId control_ = fabric::kNoPacket;
  proto::SendQueues waiting_;  // for their window to open
  bool news_ = false;
};

// The NIs below see to it.
template <class Ni>
class HostFlow<Ni, proto::NoFlow> {
 public:
  static constexpr bool kRuns = false;
  HostFlow(Ni&, proto::NoFlow, const HostFlowOptions&, PortCounters&) {}
  static void reserve() {}
  static bool room(Rank) { return true; }
  static bool came(std::uint32_t) { return true; }
  static Ps next_due() { return kNever; }
  static bool is_due() { return false; }
  static void run_due() {}
  static bool take_news() { return false; }
};

}  // namespace fairlead::lci
