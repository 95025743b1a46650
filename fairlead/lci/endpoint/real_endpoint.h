// One rank's way to a real network, put together: the fabric's Nic, faults on it where a plan asks
// for them, what mends those, and the port.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/faulty/faulty.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/lci/client/wake_helper.h"
#include "fairlead/lci/direct/direct_port.h"
#include "fairlead/lci/rank_endpoint.h"
#include "fairlead/lci/reliable/reliable_nic.h"

namespace fairlead::lci {

struct RealEndpointOptions {
  DirectOptions direct;
  std::optional<fabric::FaultPlan> faults;
  fabric::FaultyOptions faulty;
  // Where ranks are on several nodes: the fabric of this one, and by rank who is on it
  // (path_nic.h).
  std::unique_ptr<fabric::Nic> node;
  std::vector<bool> near;
  Ps linger_max = kNever;  // where it cannot be known whether a peer is still there
  bool hrx = false;        // the host mends what the fabric does (lci/reliable/reliable_nic.h)
  ReliableOptions reliable;
  WakeHooks wake;
};

class RealEndpoint final : public RankEndpoint {
 public:
  RealEndpoint(std::unique_ptr<fabric::Nic> nic, RealEndpointOptions options);

  Port& port() override { return *port_; }
  // linger_max bounds both.
  void settle() override;
  void linger() override;
  void shut() override { nic_->shut(); }
  void stop_helper() override { helper_.stop(); }

 private:
  std::unique_ptr<fabric::Nic> nic_;
  std::unique_ptr<fabric::Nic> faulty_;
  std::unique_ptr<ReliableNic> reliable_;
  std::unique_ptr<fabric::Nic> node_;
  std::unique_ptr<fabric::Nic> paths_;
  fabric::Nic* last_;  // of those on the way to other nodes, or to all: it must settle
  WakeHelper helper_;
  std::unique_ptr<Port> port_;
  WaitPlan wait_;
  Ps linger_max_;

  template <class Poll>
  void settle_by(Poll&& poll);
};

// The implementation that leaves to its client what the fabric does to packets.
inline constexpr const char kRawImplementation[] = "raw";
// Which implementation ranks of this machine get: true for hrx. `fabric_loses`: of its own.
// Error: --lci names none that this place has.
Result<bool> choose_hrx(const std::string& lci, const fabric::FaultPlan& plan, bool fabric_loses,
                        const char* place);

}  // namespace fairlead::lci
