// Whether the members of a communicator meet on a board (board.h), on which they agree by messages;
// and the end of that.
#pragma once
#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

// At the first call on a communicator of at most kBoardRanks members all agree, in the course of a
// barrier over messages, whether they have a board, and whether all may copy from and to each
// other's memory. True: they met by doing so.
bool settle_board(Process& process, Comm& comm, CollectiveKind kind, const char* call);

// The part of it that the members have in common with a part of a communicator that shares a node:
// all of `comm` call it, `members` is how they reach each other. Comm::board, board_copies and
// reduction_choice are then as agreed. For GroupCall and a Subgroup of one.
template <class Group>
void agree_on_board(Process& process, Comm& comm, Group& members);

// Collective: waits until no member needs the board, or that of its node, then gives its memory
// back, and what they reduce through.
void drop_board(Process& process, Comm& comm, const char* call);

}  // namespace fairlead::mpi
