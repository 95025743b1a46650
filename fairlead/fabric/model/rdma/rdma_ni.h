// The network interface of one node of an RDMA machine, in virtual time: a send engine that takes
// up work queue entries and cuts messages into packets, and a responder that serves what arrives,
// without the host: puts, gets and atomics go to the memory a key stands for. Nothing is lost on
// this network; a receiver's buffers are promised to a sender by credits.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/rank_memory.h"
#include "fairlead/fabric/model/rdma/rdma_packet.h"
#include "fairlead/fabric/model/rdma/rdma_terms.h"
#include "fairlead/hw/lanes/host_lanes.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/rdma/key_table.h"
#include "fairlead/hw/rdma/rdma_params.h"
#include "fairlead/sim/engine.h"
#include "fairlead/sim/resource.h"

namespace fairlead::fabric::model {

// What the nodes of a machine have in common; the machine's, which outlives them.
struct RdmaParts {
  sim::Engine& engine;
  const hw::RdmaParams& params;
  const hw::LanesParams& lanes;
  const hw::NetworkParams& network_params;
  hw::Network& network;
  RdmaPackets& packets;
  const RdmaTerms& terms;
};

// What a host can see, from the event in which it can.
struct RdmaHostSink {
  void (*received)(void* context, std::uint32_t packet) = nullptr;  // the host's until it frees it
  void (*completed)(void* context, const RdmaCompletion& completion) = nullptr;
  void (*changed)(void* context) = nullptr;  // a peer wrote to its memory
  void* context = nullptr;
};

class RdmaNi {
 public:
  RdmaNi(const RdmaParts& parts, Peer self);
  RdmaNi(const RdmaNi&) = delete;
  RdmaNi& operator=(const RdmaNi&) = delete;

  void attach_host(const RdmaHostSink& sink) { host_ = sink; }
  Peer self() const { return self_; }

  // --- By the host, at the engine's now.
  // A message is in its queue, and its entry is written: with its payload to the NI, where that is
  // small; else the host wrote a doorbell, and the NI fetches the entry.
  void ring(std::uint32_t packet);
  // The memory that addresses of this host's are in; it outlives the NI. Before the first event.
  void use_memory(RankMemory& memory) { memory_ = &memory; }
  // So many receive buffers for packets of `source` are free again.
  void return_buffers(Peer source, std::uint8_t lane, std::uint32_t count);
  hw::KeyTable& keys() { return keys_; }

  // --- By the network.
  void arrived(std::uint32_t packet);
  void transmitted(std::uint32_t packet);

  Ps units_busy() const {
    return sender_.busy(parts_.engine.now()) + responder_.busy(parts_.engine.now());
  }
  Ps lanes_busy() const { return lanes_.busy(); }

 private:
  struct Queue {
    Ring<std::uint32_t> waiting;   // messages
    Ring<std::uint32_t> in_order;  // packets cut from them, not yet on the wire
    std::uint32_t ahead = 0;       // packets that have not left the NI
  };
  // What the NI knows of a peer: its queue pairs' contexts.
  struct Way {
    Queue queues[kRdmaQueues];
    std::uint32_t credits[kLanes];
    bool refused = false;  // a packet of the copy that is coming in
  };
  using Handler = void (RdmaNi::*)(std::uint32_t packet);

  template <Handler handler>
  void at(Ps when, sim::EventKind kind, std::uint32_t packet) {
    parts_.engine.at(
        when, self_, kind,
        [](void* self, std::uint64_t id, std::uint64_t) {
          (static_cast<RdmaNi*>(self)->*handler)(static_cast<std::uint32_t>(id));
        },
        this, packet);
  }
  // From now on the host's memory sends `bytes`, which are in the NI when `done` runs.
  template <Handler done>
  void fetch(std::uint32_t packet, std::uint64_t bytes);
  template <Handler done>
  void fetched(std::uint32_t packet);

  Way& way(Peer peer);
  RdmaPacket& packet(std::uint32_t id) { return parts_.packets.at(id); }
  Ps now() const { return parts_.engine.now(); }

  // Send engine.
  void on_doorbell(std::uint32_t id);
  void on_entry(std::uint32_t id);
  void on_fetched(std::uint32_t id);
  void pump(Peer peer, std::uint8_t queue);
  void start(Queue& queue, std::uint32_t message);
  void on_payload(std::uint32_t id);
  void leave_in_order(Peer peer, std::uint8_t queue);
  void leave(std::uint32_t id);
  void on_looped(std::uint32_t id);

  // Responder.
  void on_arrival(std::uint32_t id);
  void serve_write(std::uint32_t id);
  void serve_read(std::uint32_t id);
  void serve_atomic(std::uint32_t id);
  void on_atomic_word(std::uint32_t id);
  void on_atomic_done(std::uint32_t id);
  void on_received(std::uint32_t id);
  void on_written(std::uint32_t id);
  void on_read(std::uint32_t id);
  void on_completion(std::uint32_t id);
  void on_buffers(std::uint32_t id);
  void complete(std::uint32_t id);
  void answer(std::uint32_t id, bool ok);

  const RdmaParts& parts_;
  const hw::RdmaParams& ni_;
  Peer self_;
  RdmaHostSink host_;
  hw::HostLanes lanes_;
  LocalMemory own_memory_;
  RankMemory* memory_ = &own_memory_;
  hw::KeyTable keys_;
  sim::Server sender_;
  sim::Server responder_;
  std::vector<std::unique_ptr<Way>> ways_;  // by peer, from the first packet on
};

}  // namespace fairlead::fabric::model
