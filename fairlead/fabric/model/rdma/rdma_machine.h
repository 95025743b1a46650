// A modelled cluster whose network interfaces are RDMA engines: on every node an interface, its
// host, and the library of a rank that is a fiber.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/model_nic.h"
#include "fairlead/fabric/model/rdma/rdma_host.h"
#include "fairlead/fabric/model/rdma/rdma_ni.h"
#include "fairlead/fabric/model/rdma/rdma_nic.h"
#include "fairlead/fabric/model/wire_faults.h"

namespace fairlead::fabric::model {

class RdmaMachine final : public NicMachine, private FaultyWire {
 public:
  using LocalNic = RdmaNic<RdmaHost>;

  // `platform`: its bus and NI are of these kinds.
  RdmaMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
              const SharedMemory& shared = {});

  RdmaNi& ni(Peer node) { return nodes_[node].ni; }
  RdmaHost& host(Rank rank) { return of(rank).host; }
  LocalNic& nic(Rank rank) override { return of(rank).nic; }

  PortCounters& counters(Rank rank) override { return of(rank).counters; }
  void run_on(Rank rank, sim::Task& task) override { host(rank).run_on(task); }
  void sync(Rank rank) override { host(rank).sync(); }
  NodeBusy busy(Rank rank) const override;
  // Reductions in switches are never lost.
  Result<void> set_faults(const FaultPlan& plan) override;
  void all_ended() override;
  std::string losses() const override;
  std::shared_ptr<Figures> count() override;

 private:
  // --- FaultyWire.
  Peer source_of(PacketId id) override { return ranks_.node_of(packets_.at(id).source); }
  void deliver(Peer node, PacketId id) override { ni(node).arrived(id); }
  // The CRC check fails: as lost.
  void deliver_corrupt(Peer, PacketId id) override { packets_.give(id); }
  void lose(Peer, PacketId id) override { packets_.give(id); }
  PacketId twin(Peer node, PacketId id) override { return ni(node).twin(id); }

  struct OneRank {
    OneRank(const RdmaParts& parts, RdmaNi& ni, Rank rank)
        : host(parts, ni, rank), nic(host, counters) {}
    PortCounters counters;
    RdmaHost host;
    LocalNic nic;
  };
  // With its first rank, where it has one.
  struct Node {
    Node(const RdmaParts& parts, Peer self)
        : ni(parts, self), first(parts, ni, parts.ranks.rank_at(self, 0)) {}
    RdmaNi ni;
    OneRank first;
  };
  OneRank& of(Rank rank) {
    const std::uint32_t place = ranks_.place_of(rank);
    const Peer node = ranks_.node_of(rank);
    return place == 0 ? nodes_[node].first : more_[node * (ranks_.each - 1) + place - 1];
  }
  void attach_reductions();
  void trace_nodes(TraceWriter& writer) override;

  RdmaTerms terms_;
  RdmaPackets packets_;
  NodeRegions regions_;
  RdmaParts parts_;
  PinnedArray<Node> nodes_;
  PinnedArray<OneRank> more_;  // further ranks of the nodes
  std::unique_ptr<WireFaults> faults_;
};

}  // namespace fairlead::fabric::model
