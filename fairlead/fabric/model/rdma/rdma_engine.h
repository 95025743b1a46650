// A network interface as its hosts and their commands know it, whatever its kind: work queue
// entries, buffers, memory that peers may name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/base/even_nodes.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/figures.h"
#include "fairlead/fabric/model/rank_memory.h"
#include "fairlead/fabric/model/rdma/rdma_packet.h"
#include "fairlead/fabric/model/rdma/rdma_terms.h"
#include "fairlead/hw/host_noise.h"
#include "fairlead/hw/rdma/key_table.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

// What hosts and interfaces of a machine have in common; the machine's, which outlives them.
struct RdmaShared {
  sim::Engine& engine;
  RdmaPackets& packets;
  const RdmaTerms& terms;
  EvenNodes ranks;
  const hw::NoiseParams* noise = nullptr;  // of the hosts' processors; none: theirs alone
  Figures* figures = nullptr;              // counted only
  std::span<std::byte> regions{};          // of all ranks; empty: they share no memory
};

// What a host can see, from the event in which it can.
struct RdmaHostSink {
  void (*received)(void* context, std::uint32_t packet) = nullptr;  // the host's until it frees it
  void (*completed)(void* context, const RdmaCompletion& completion) = nullptr;
  void (*changed)(void* context) = nullptr;  // a peer wrote to its memory
  void* context = nullptr;
};

class RdmaEngine {
 public:
  virtual ~RdmaEngine() = default;

  // Connects one of the node's ranks.
  virtual void attach_host(Rank rank, const RdmaHostSink& sink) = 0;
  // The memory that addresses of this host's are in; it outlives the NI. Before the first event.
  virtual void use_memory(Rank rank, RankMemory& memory) = 0;

  // The host of one of the node's ranks, which is attached.
  virtual const RdmaHostSink& host_of(Rank rank) = 0;

  // --- By the host of `rank`, at the engine's now.
  // A message is in its queue, and its entry is written.
  virtual void ring(Rank rank, std::uint32_t packet) = 0;
  // So many receive buffers for packets of `source` are free again.
  virtual void return_buffers(Rank rank, Rank source, std::uint8_t lane, std::uint32_t count) = 0;
  virtual hw::KeyTable& keys(Rank rank) = 0;
  // What `alone` becomes, of work of the rank that moves `bytes` to or from memory, from now on.
  virtual Ps slowed(Rank rank, Ps alone, std::uint64_t bytes) = 0;
  // The node's processors share their memory: who moves much there catches up with the others
  // first.
  virtual bool shares_memory() const = 0;
  // How long the path between host and interface was in use since the run began.
  virtual Ps path_busy() const = 0;

  // --- Where a segment's number and a counter's are known to the interface (RdmaTerms::names).
  virtual void name_memory(Rank, std::uint32_t /*segment*/, std::uint64_t /*base*/,
                           std::uint64_t /*size*/) {}
  // permissions: bits as of lci. `who`: one rank more, or kEverybody.
  static constexpr std::uint64_t kEverybody = UINT64_MAX;
  virtual void permit(Rank, std::uint32_t /*segment*/, std::uint32_t /*permissions*/,
                      std::uint64_t /*who*/) {}
  virtual void forget_memory(Rank, std::uint32_t /*segment*/) {}
  // A pair of 8-byte words, of which events add to the first; 0: none any more.
  virtual void name_counter(Rank, std::uint32_t /*id*/, std::uint64_t /*address*/) {}
  // That range lies in the interface's memory.
  virtual void place(Rank, std::uint64_t /*base*/, std::uint64_t /*size*/) {}
};

}  // namespace fairlead::fabric::model
