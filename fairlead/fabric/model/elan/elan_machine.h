// A modelled cluster on QsNet: an Elan on every node, its hosts and their library, and a network
// whose packets hold circuits.
#pragma once
#include <cstdint>
#include <memory>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/elan/elan_faults.h"
#include "fairlead/fabric/model/elan/elan_ni.h"
#include "fairlead/fabric/model/elan/elan_nic.h"
#include "fairlead/fabric/model/model_nic.h"
#include "fairlead/fabric/model/rdma/rdma_host.h"

namespace fairlead::fabric::model {

class ElanMachine final : public NicMachine {
 public:
  using LocalNic = ElanNic<RdmaHost>;

  // `platform`: its bus and NI are of these kinds, and its network holds circuits.
  ElanMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
              const SharedMemory& shared = {});

  ElanNi& ni(Peer node) { return nodes_[node].ni; }
  RdmaHost& host(Rank rank) { return of(rank).host; }
  LocalNic& nic(Rank rank) override { return of(rank).nic; }
  // Whether one packet reaches several nodes, of each its first rank.
  static bool has_groups(const hw::Platform& platform);

  PortCounters& counters(Rank rank) override { return of(rank).counters; }
  void run_on(Rank rank, sim::Task& task) override { host(rank).run_on(task); }
  void sync(Rank rank) override { host(rank).sync(); }
  NodeBusy busy(Rank rank) const override;
  Result<void> set_faults(const FaultPlan& plan) override;
  std::string losses() const override { return faults_ == nullptr ? "" : faults_->losses(); }
  void rank_ended(Rank rank) override { ni(ranks_.node_of(rank)).rank_ended(rank); }
  void all_ended() override;
  std::shared_ptr<Figures> count() override;

 private:
  struct OneRank {
    OneRank(const ElanParts& parts, ElanNi& ni, Rank rank, bool groups)
        : host(parts, ni, rank),
          nic(host, counters, groups, parts.ranks.each, parts.params.memory_bytes) {}
    PortCounters counters;
    RdmaHost host;
    LocalNic nic;
  };
  // With its first rank, where it has one.
  struct Node {
    Node(const ElanParts& parts, Peer self, bool groups)
        : ni(parts, self), first(parts, ni, parts.ranks.rank_at(self, 0), groups) {}
    ElanNi ni;
    OneRank first;
  };
  OneRank& of(Rank rank) {
    const std::uint32_t place = ranks_.place_of(rank);
    const Peer node = ranks_.node_of(rank);
    return place == 0 ? nodes_[node].first : more_[node * (ranks_.each - 1) + place - 1];
  }
  void attach_network();
  void attach_reductions();
  void trace_nodes(TraceWriter& writer) override;

  RdmaTerms terms_;
  RdmaPackets packets_;
  NodeRegions regions_;
  std::unique_ptr<ElanFaults> faults_;  // nullptr: nothing goes wrong
  ElanParts parts_;
  PinnedArray<Node> nodes_;
  PinnedArray<OneRank> more_;  // further ranks of the nodes
};

}  // namespace fairlead::fabric::model
