// Where all members of a communicator have no board (board.h), those that share a node may have one
// of their own: blocking barriers and small reductions meet there before and after what goes
// between nodes. The part of a communicator on a node is Comm::here.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/collectives/board.h"
#include "fairlead/systems/mpi/collectives/group_call.h"

namespace fairlead::mpi {

// The members of this rank's node meet as meet_on_board() says, within the collective that `group`
// has entered. nullptr: they have no board, and nothing was done; it is the same for all of them.
// They agree on one at the first call; it may only come once all members of the communicator have
// settled whether they have one together.
const BoardSlot* meet_in_node(Process& process, Comm& comm, GroupCall& group, const char* call,
                              const void* data, std::size_t size);

}  // namespace fairlead::mpi
