// Which buffers for buffered sends (buffered.h) the program has attached: one to the process, one
// to each communicator.
#pragma once
#include "fairlead/systems/mpi/buffered.h"

namespace fairlead::mpi {

class Call;
class Process;

// The buffer that is attached to `comm` (nullptr: to the process); nullptr: none is.
SendBuffer* attached_buffer(Process& process, const Comm* comm);

// Before `comm` goes (nullptr: MPI ends, all buffers): its messages are sent, then the buffer is
// detached.
void drop_buffers(const Call& call, const Comm* comm);

}  // namespace fairlead::mpi
