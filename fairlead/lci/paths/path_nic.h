// Several ways to the peers behind one Nic: those of the same node by the node's fabric, all others
// by a network. Each peer has one way for as long as the job runs, so that order is the fabrics'.
#pragma once
#include <memory>
#include <vector>

#include "fairlead/fabric/nic.h"

namespace fairlead::lci {

// Both are reliable, know all ranks of the job by the same numbers, and outlive it. `near`: by
// rank, whether it is on this node.
std::unique_ptr<fabric::Nic> make_path_nic(fabric::Nic& node, fabric::Nic& network,
                                           std::vector<bool> near);

}  // namespace fairlead::lci
