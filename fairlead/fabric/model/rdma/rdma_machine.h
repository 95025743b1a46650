// A modelled cluster whose network interfaces are RDMA engines: on every node an interface, its
// host, and the library of a rank that is a fiber.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/model_nic.h"
#include "fairlead/fabric/model/rdma/rdma_host.h"
#include "fairlead/fabric/model/rdma/rdma_nic.h"

namespace fairlead::fabric::model {

class RdmaMachine final : public NicMachine {
 public:
  using LocalNic = RdmaNic<RdmaHost>;

  // `platform`: its bus and NI are of these kinds.
  RdmaMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
              const SharedMemory& shared = {});

  RdmaNi& ni(Peer node) { return nodes_[node].ni; }
  RdmaHost& host(Peer node) { return nodes_[node].host; }
  LocalNic& nic(Peer node) override { return nodes_[node].nic; }

  PortCounters& counters(Peer node) override { return nodes_[node].counters; }
  void run_on(Peer node, sim::Task& task) override { host(node).run_on(task); }
  void sync(Peer node) override { host(node).sync(); }
  NodeBusy busy(Peer node) const override;
  Result<void> set_faults(const FaultPlan& plan) override;

 private:
  struct Node {
    Node(const RdmaParts& parts, Peer self)
        : ni(parts, self), host(parts, ni), nic(host, counters) {}
    PortCounters counters;
    RdmaNi ni;
    RdmaHost host;
    LocalNic nic;
  };
  void trace_nodes(TraceWriter& writer) override;

  RdmaTerms terms_;
  RdmaPackets packets_;
  RdmaParts parts_;
  PinnedArray<Node> nodes_;
};

}  // namespace fairlead::fabric::model
