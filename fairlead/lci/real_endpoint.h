// One rank's way to a real network, put together: the fabric's Nic, faults on it where a plan asks
// for them, what mends those, and the port.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/faulty/faulty.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/lci/direct_port.h"
#include "fairlead/lci/reliable_nic.h"

namespace fairlead::lci {

struct RealEndpointOptions {
  DirectOptions direct;
  std::optional<fabric::FaultPlan> faults;
  fabric::FaultyOptions faulty;
  bool hrx = false;  // the host mends what the fabric does (lci/reliable_nic.h)
  ReliableOptions reliable;
};

class RealEndpoint {
 public:
  RealEndpoint(std::unique_ptr<fabric::Nic> nic, const RealEndpointOptions& options);

  Port& port() { return *port_; }
  // When the rank's program has ended, in its thread: stays until its peers have what it sent them.
  // Packets that still come are acknowledged and dropped; the port cannot be used any more.
  void linger();

 private:
  std::unique_ptr<fabric::Nic> nic_;
  std::unique_ptr<fabric::Nic> faulty_;
  std::unique_ptr<ReliableNic> reliable_;
  std::unique_ptr<Port> port_;
  WaitPlan wait_;
};

// Which implementation ranks of this machine get: true for hrx. `fabric_loses`: of its own.
// Error: --lci names none that this place has.
Result<bool> choose_hrx(const std::string& lci, const fabric::FaultPlan& plan, bool fabric_loses,
                        const char* place);

}  // namespace fairlead::lci
