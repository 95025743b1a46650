// What few programs need of an MPI process: made at the first use, so that a modelled rank without
// it stays small.
#pragma once
#include <memory>
#include <set>
#include <vector>

#include "fairlead/systems/mpi/buffered.h"
#include "fairlead/systems/mpi/collectives/schedule_steps.h"
#include "fairlead/systems/mpi/job_memory.h"
#include "fairlead/systems/mpi/objects.h"
#include "fairlead/systems/mpi/operation_turn.h"
#include "fairlead/systems/mpi/partitioned.h"
#include "fairlead/systems/mpi/request.h"
#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {

class Watch;  // watch/watch.h

// A message that MPI_Mprobe took (MPI_Message).
struct Matched : Object {
  Unexpected* message = nullptr;
  Comm* comm = nullptr;
};

struct Extras {
  Objects<Matched> matched;
  SendBuffers buffers;
  JobMemory memory;
  // Given up by the program while they were under way (task.h).
  std::vector<Request*> given_up;
  // Schedules that are over leave their memory for the next.
  std::vector<std::unique_ptr<ScheduleSteps>> spare_steps;
  std::uint32_t next_copy_context = kCopyContext;  // of MPI_Comm_idup
  std::set<std::uint64_t> copies;                  // those under way (comm_copying.cc)
  OperationTurn operation_turn;
  PartitionedOffers partitioned;
  std::shared_ptr<Watch> watch;  // nullptr: nobody watches the calls
};

}  // namespace fairlead::mpi
