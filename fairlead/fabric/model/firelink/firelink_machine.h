// A modelled cluster of large shared-memory hosts with Sun Fire Link interfaces: lines between
// their memories, and on every rank's host the library of a rank that is a fiber.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/counters.h"
#include "fairlead/base/pinned_array.h"
#include "fairlead/base/result.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/firelink/firelink_host.h"
#include "fairlead/fabric/model/firelink/firelink_nic.h"
#include "fairlead/fabric/model/firelink/line_network.h"
#include "fairlead/fabric/model/model_nic.h"
#include "fairlead/fabric/model/node_regions.h"

namespace fairlead::fabric::model {

class FirelinkMachine final : public NicMachine {
 public:
  using LocalNic = FirelinkNic<FirelinkHost>;

  // `platform`: its bus and NI are of these kinds.
  FirelinkMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                  const SharedMemory& shared = {});

  LineNetwork& lines() { return lines_; }
  FirelinkHost& host(Rank rank) { return hosts_[rank].host; }
  LocalNic& nic(Rank rank) override { return hosts_[rank].nic; }

  PortCounters& counters(Rank rank) override { return hosts_[rank].counters; }
  void run_on(Rank rank, sim::Task& task) override { host(rank).run_on(task); }
  void sync(Rank rank) override { host(rank).sync(); }
  NodeBusy busy(Rank rank) const override;
  Result<void> set_faults(const FaultPlan& plan) override { return lines_.set_faults(plan); }
  std::string losses() const override { return lines_.losses(); }
  std::shared_ptr<Figures> count() override;
  hw::Network::BusyLink busiest_link() const override { return lines_.busiest(); }
  void all_ended() override { lines_.end_background(); }

 private:
  struct OneRank {
    OneRank(const FirelinkParts& parts, const FirelinkTerms& terms, LineNetwork& lines, Rank rank)
        : host(parts, terms, lines, rank), nic(host, counters) {}
    PortCounters counters;
    FirelinkHost host;
    LocalNic nic;
  };
  void trace_nodes(TraceWriter& writer) override;

  FirelinkTerms terms_;
  LineRuns runs_;
  NodeRegions regions_;
  FirelinkParts parts_;
  LineNetwork lines_;
  PinnedArray<OneRank> hosts_;
};

}  // namespace fairlead::fabric::model
