// A modelled cluster of LANai network interfaces: on every node one with firmware, and its host
// side.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/model/lanai/host_ni.h"
#include "fairlead/fabric/model/lanai/lanai_parts.h"
#include "fairlead/fabric/model/lanai/ni_hardware.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/fabric/model/wire_faults.h"
#include "fairlead/hw/packet_pool.h"

namespace fairlead::fabric::model {

class LanaiMachine final : public Machine, private FaultyWire {
 public:
  // `platform`: its bus and NI are of these kinds. Packets hold `payload_bytes`.
  LanaiMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
               std::uint32_t payload_bytes, const SharedMemory& shared = {});

  const hw::LanaiParams& params() const { return parts_.params; }
  NiHardware& ni(Peer node) { return nodes_[node].ni; }
  ModelHostNi& host(Rank rank) { return of(rank).host; }
  hw::PacketPool& pool() { return pool_; }

  PortCounters& counters(Rank rank) override { return of(rank).counters; }
  void run_on(Rank rank, sim::Task& task) override { host(rank).run_on(task); }
  void sync(Rank rank) override { host(rank).sync(); }
  NodeBusy busy(Rank rank) const override;
  Result<void> set_faults(const FaultPlan& plan) override;
  std::string losses() const override;
  std::shared_ptr<Figures> count() override;
  void all_ended() override {
    for (Peer node = 0; node < nodes(); ++node) ni(node).end_background();
  }

 private:
  struct OneRank {
    OneRank(const LanaiParts& parts, NiHardware& ni, std::uint32_t place, LanaiMachine& machine)
        : host(parts, ni, place, {&machine, &LanaiMachine::host_of}) {}
    PortCounters counters;
    ModelHostNi host;
  };
  // With its first rank, where it has one.
  struct Node {
    Node(LanaiMachine& machine, Peer self, std::uint64_t* words)
        : ni(machine.parts_, self, counters, words),
          host(machine.parts_, ni, 0, {&machine, &LanaiMachine::host_of}) {}
    PortCounters counters;
    NiHardware ni;
    ModelHostNi host;
  };
  struct Seen {
    PortCounters& counters;
    ModelHostNi& host;
  };
  Seen of(Rank rank) {
    const std::uint32_t place = ranks_.place_of(rank);
    const Peer node = ranks_.node_of(rank);
    if (place == 0) [[likely]]
      return {nodes_[node].counters, nodes_[node].host};
    OneRank& one = more_[node * (ranks_.each - 1) + place - 1];
    return {one.counters, one.host};
  }
  static ModelHostNi& host_of(void* self, Rank rank) {
    return static_cast<LanaiMachine*>(self)->host(rank);
  }

  // From here on the state of the nodes, 6 KB each, is larger than a processor's own cache.
  static constexpr std::uint32_t kManyNodes = 128;
  void look_ahead();
  void trace_nodes(TraceWriter& writer) override;

  // --- FaultyWire
  Peer source_of(PacketId id) override;
  void deliver(Peer node, PacketId id) override { ni(node).arrived(id); }
  void deliver_corrupt(Peer node, PacketId id) override { ni(node).arrived_corrupt(id); }
  void lose(Peer node, PacketId id) override { ni(node).free_packet(id); }
  PacketId twin(Peer node, PacketId id) override;

  hw::LibraryRates host_rates_;
  hw::NiFirmware firmware_;
  hw::PacketPool pool_;
  LanaiParts parts_;
  PinnedArray<Node> nodes_;
  PinnedArray<OneRank> more_;  // further ranks of the nodes
  std::unique_ptr<WireFaults> faults_;
  std::unique_ptr<Journeys> journeys_;
  std::shared_ptr<Figures> figures_;
};

}  // namespace fairlead::fabric::model
