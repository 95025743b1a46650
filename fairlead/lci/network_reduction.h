// Reductions that the network below a Port does (fabric/network_reduction.h), for systems that have
// such calls.
#pragma once
#include "fairlead/fabric/network_reduction.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

using fabric::NetworkReduction;
using fabric::NetworkReductions;

// A Port that may have such a network.
class ReducingPort {
 public:
  // The Port's; its calls are made as the Port's are, and who waits for a reduction's end waits for
  // its counter. nullptr: hosts combine.
  virtual NetworkReductions* reductions() = 0;

 protected:
  ~ReducingPort() = default;
};

// As above, of any Port.
inline NetworkReductions* reductions_of(Port& port) {
  auto* const above = dynamic_cast<ReducingPort*>(&port);
  return above == nullptr ? nullptr : above->reductions();
}

}  // namespace fairlead::lci
