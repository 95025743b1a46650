// Every collective that goes in two levels where several ranks share a node, on communicators whose
// members are spread over the nodes in many ways, in all three forms; for tests of modelled nodes
// and of real ones.
#pragma once
#include <vector>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi_test {

// The world; its copy; its members backwards; dealt out one to a node after the other; each second
// one; all but the first `each` but one, so that the first node has one of them; those of one node.
// `each` is how many consecutive ranks of the world share a node. All but the world are the
// caller's.
std::vector<MPI_Comm> spread_communicators(int each);

// Barriers, broadcasts, reductions, gathers, scatters, allgathers and alltoalls on each give what
// they should; prints what does not.
bool node_collectives(int each);

}  // namespace fairlead::mpi_test
