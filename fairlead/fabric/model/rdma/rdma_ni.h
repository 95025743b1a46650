// The network interface of one node of an RDMA machine, in virtual time: a send engine that takes
// up work queue entries and cuts messages into packets, and a responder that serves what arrives,
// without the host: puts, gets and atomics go to the memory a key stands for. A receiver's buffers
// are promised to a sender by credits. The ranks of a node have queues, keys and credits of their
// own and share engine, responder and path; what one of them sends to another passes through the
// interface, but not the wire.
//
// Nothing is lost on the network but by a fault plan (RdmaParts::loses). Then each queue of
// requests is a reliable connection (reliable_connection.h), credits are requests as others, and
// answers and acknowledgments come once more when what they answer does.
//
// Contexts and translations that the interface does not keep (hw/rdma/table_cache.h) are read over
// the host path: for an entry before its payload, for what arrives before it is taken up. The
// responder waits for that read with all that came behind, as it serves a peer in order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/background_traffic.h"
#include "fairlead/fabric/model/rdma/rdma_engine.h"
#include "fairlead/fabric/model/rdma/reliable_connection.h"
#include "fairlead/hw/host_memory.h"
#include "fairlead/hw/host_path.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/rdma/key_table.h"
#include "fairlead/hw/rdma/rdma_params.h"
#include "fairlead/hw/rdma/table_cache.h"
#include "fairlead/sim/engine.h"
#include "fairlead/sim/resource.h"

namespace fairlead::fabric::model {

struct RdmaParts : RdmaShared {
  const hw::RdmaParams& params;
  const hw::HostPathParams& path;
  const hw::NetworkParams& network_params;
  hw::Network& network;
  BytesPerSec memory_rate;  // of a node's memory, where several ranks share it
  bool loses = false;       // packets, by a fault plan
};

class RdmaNi final : public RdmaEngine {
 public:
  RdmaNi(const RdmaParts& parts, Peer self);
  RdmaNi(const RdmaNi&) = delete;
  RdmaNi& operator=(const RdmaNi&) = delete;

  void attach_host(Rank rank, const RdmaHostSink& sink) override { of(rank).host = sink; }
  const RdmaHostSink& host_of(Rank rank) override { return of(rank).host; }
  Peer self() const { return self_; }

  // Small messages are written to the NI with their entries; for others the host wrote a doorbell,
  // and the NI fetches the entry.
  void ring(Rank rank, std::uint32_t packet) override;
  void use_memory(Rank rank, RankMemory& memory) override { of(rank).memory = &memory; }
  void return_buffers(Rank rank, Rank source, std::uint8_t lane, std::uint32_t count) override;
  hw::KeyTable& keys(Rank rank) override { return of(rank).keys; }
  Ps slowed(Rank rank, Ps alone, std::uint64_t bytes) override {
    return memory_ == nullptr ? alone
                              : memory_->use(parts_.ranks.place_of(rank), now(), alone, bytes);
  }
  bool shares_memory() const override { return memory_ != nullptr; }

  // --- By the network.
  void arrived(std::uint32_t packet);
  void transmitted(std::uint32_t packet);
  // Before it arrives: the number of a packet that is the same once more.
  std::uint32_t twin(std::uint32_t packet) { return copy_of(packet); }
  // A reduction's result, which is a packet of all members.
  void reduced(std::uint32_t packet);

  Ps units_busy() const {
    return sender_.busy(parts_.engine.now()) + responder_.busy(parts_.engine.now());
  }
  Ps path_busy() const override { return path_->busy(); }
  const hw::TableCache& contexts() const { return contexts_; }
  const hw::TableCache& translations() const { return translations_; }
  // Sends another job's messages until end_background(). Before the first event.
  void begin_background();
  void end_background() { background_.end(); }
  // Requests that were sent once more.
  std::uint64_t repeated() const { return repeated_; }

 private:
  struct Queue {
    Ring<std::uint32_t> waiting;   // messages
    Ring<std::uint32_t> in_order;  // packets cut from them, not yet on the wire
    std::uint32_t ahead = 0;       // packets that have not left the NI
    bool translates = false;       // the last one cut waits for its pages' translations
  };
  // Both halves of one, and the requester's clock.
  struct Connection {
    RcRequester requester;
    RcResponder responder;
    Ps heard{};               // when its wait for an acknowledgment began
    bool armed = false;       // an event comes at its end
    std::uint32_t tries = 0;  // since an acknowledgment was news
    bool broken = false;      // given up
  };
  // What the NI knows of a rank of its node and a peer: its queue pairs' contexts.
  struct Way {
    Queue queues[kRdmaQueues];
    std::uint32_t credits[kLanes];
    bool refused = false;                       // a packet of the copy that is coming in
    std::unique_ptr<Connection[]> connections;  // where links lose packets
    std::unique_ptr<Queue> background;          // where another job's messages are for the peer
  };
  // What it knows of a rank of its node.
  struct Own {
    Own(Rank rank, std::size_t peers) : keys(std::uint64_t{rank} << 32), ways(peers) {}
    RdmaHostSink host;
    LocalMemory own_memory;
    RankMemory* memory = &own_memory;
    hw::KeyTable keys;
    std::vector<std::unique_ptr<Way>> ways;  // by peer, from the first packet on
  };
  using Handler = void (RdmaNi::*)(std::uint32_t packet);
  struct Data {
    std::uint32_t packet;
    std::uint64_t bytes;
  };
  struct Write {
    std::uint32_t packet;
    std::uint64_t bytes;
    std::uint64_t left;  // not asked for
    RdmaStore what;
  };

  template <Handler handler>
  void at(Ps when, sim::EventKind kind, std::uint32_t packet) {
    parts_.engine.at(
        when, self_, kind,
        [](void* self, std::uint64_t id, std::uint64_t) {
          (static_cast<RdmaNi*>(self)->*handler)(static_cast<std::uint32_t>(id));
        },
        this, packet);
  }
  // Reads `bytes` of the host's memory for a packet, by as many reads as the path takes; when all
  // are in the NI its next step follows. Memory answers in the order of asking, however long it
  // holds each up.
  void fetch(std::uint32_t packet, std::uint64_t bytes, RdmaFetch what);
  void read(std::uint32_t packet, std::uint64_t bytes, RdmaFetch what);
  void begin_reads();
  void on_memory(std::uint32_t packet, std::uint64_t bytes);
  void move_data();
  void on_data(std::uint32_t packet);

  Own& of(Rank rank) { return *ranks_[parts_.ranks.place_of(rank)]; }
  Way& way(Rank own, Rank peer);
  Queue& queue_of(Rank own, Rank peer, std::uint8_t number) {
    Way& to = way(own, peer);
    return number < kRdmaQueues ? to.queues[number] : *to.background;
  }
  // Writes so many bytes to the host's memory; the packet's next step follows when they are there.
  // Transfers end in the order of asking, however long the memory holds each up.
  void to_host(std::uint32_t packet, std::uint64_t bytes, RdmaStore what);
  void crosses(Ps end, const Write& write);
  void move_write();
  void on_write_moved(std::uint32_t packet);
  Ps held_up(Ps end, std::uint64_t bytes);
  RdmaPacket& packet(std::uint32_t id) { return parts_.packets.at(id); }
  Ps now() const { return parts_.engine.now(); }

  // Send engine.
  void on_doorbell(std::uint32_t id);
  void on_entry(std::uint32_t id);
  void on_context(std::uint32_t id);
  void on_fetched(std::uint32_t id);
  void pump(Rank own, Rank peer, std::uint8_t queue);
  void start(Queue& queue, std::uint32_t message);
  void on_payload(std::uint32_t id);
  void leave_in_order(Rank own, Rank peer, std::uint8_t queue);
  void leave(std::uint32_t id);
  void on_looped(std::uint32_t id);

  // Reductions (rdma_reductions.cc).
  void pump_reduction(std::uint32_t message);
  std::uint32_t cut_operand(std::uint32_t message);
  void leave_operand(std::uint32_t id);
  void on_result(std::uint32_t id);
  void on_reduced(std::uint32_t id);

  // The other job (rdma_background.cc).
  void on_background(std::uint32_t message);
  void on_background_told(std::uint32_t packet);
  void on_background_posted(std::uint32_t packet);

  // Where links lose packets (rdma_retransmission.cc).
  Connection& connection(Rank own, Rank peer, std::uint8_t number);
  bool is_full(Rank own, Rank peer, std::uint8_t queue);
  bool is_broken(Rank own, Rank peer, std::uint8_t queue);
  std::uint32_t number_request(std::uint32_t id);
  std::uint32_t copy_of(std::uint32_t id);
  bool takes(std::uint32_t id);
  bool takes_request(std::uint32_t id);
  bool takes_answer(std::uint32_t id);
  void acknowledge(Rank own, Rank peer, std::uint8_t number, bool gap);
  void on_news(Rank own, Rank peer, std::uint8_t number);
  void go_back(Rank own, Rank peer, std::uint8_t number);
  void arm(Rank own, Rank peer, std::uint8_t number);
  void on_ack_timer(Rank own, Rank peer, std::uint8_t number);
  void give_up(Rank own, Rank peer, std::uint8_t number);
  void fail(std::uint32_t id);

  // Tables that are not all here (rdma_tables.cc): how many bytes are to be read first.
  std::uint64_t context_missing(Rank own, Rank peer);
  std::uint64_t pages_missing(std::uint64_t key, std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t arrival_missing(const RdmaPacket& in);
  void fetch_payload(std::uint32_t id, std::uint64_t bytes);
  void on_translation(std::uint32_t id);
  void take_up_arrivals();

  // Responder.
  void take_up(std::uint32_t id);
  void on_arrival(std::uint32_t id);
  void serve_write(std::uint32_t id);
  void serve_read(std::uint32_t id);
  void serve_atomic(std::uint32_t id);
  void on_atomic_word(std::uint32_t id);
  void on_atomic_done(std::uint32_t id);
  void on_received(std::uint32_t id);
  void on_written(std::uint32_t id);
  void on_told(std::uint32_t id);
  void on_read(std::uint32_t id);
  void on_completion(std::uint32_t id);
  void on_buffers(std::uint32_t id);
  void complete(std::uint32_t id);
  void answer(std::uint32_t id, bool ok);

  const RdmaParts& parts_;
  const hw::RdmaParams& ni_;
  Peer self_;
  std::unique_ptr<hw::HostPath> path_;
  sim::Server sender_;
  sim::Server responder_;
  std::vector<std::unique_ptr<Own>> ranks_;
  sim::Server loop_;  // what goes from rank to rank of this node, one after another
  std::unique_ptr<hw::HostMemory> memory_;  // where several ranks share it
  Ps to_host_ends_{};
  Ps from_host_ends_{};           // when memory has what was asked of it last
  Ring<std::uint32_t> reads_;     // packets with reads to begin
  std::uint32_t reads_open_ = 0;  // under way
  // Parts of reductions that are in the network, by their names.
  struct Reducing {
    std::uint32_t message;
    std::uint64_t offset;
    std::uint32_t bytes;
  };
  std::unordered_map<std::uint64_t, Reducing> reducing_;
  BackgroundTraffic background_;
  hw::TableCache contexts_;
  hw::TableCache translations_;
  Ring<std::uint32_t> arrivals_;  // that the responder has not taken up, where it may wait
  bool reads_tables_ = false;     // for the first of them
  std::uint64_t repeated_ = 0;
  // Where the two ways of the path take turns.
  Ring<Data> read_data_;      // of reads whose data memory has
  bool data_moves_ = false;   // the first of them
  Ring<Write> writes_;        // one after another
  bool write_moves_ = false;  // the first of them
};

}  // namespace fairlead::fabric::model
