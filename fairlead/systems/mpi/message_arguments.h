// Arguments of point-to-point calls, checked: one side of a message in the engine's terms.
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {

// Arguments of one side of a message, checked with few branches; what is unusual (an error,
// MPI_PROC_NULL) is told apart off the message path.
struct Side {
  Comm* comm;
  Data data;
  Envelope envelope;
  int error = MPI_SUCCESS;
  bool nobody = false;  // MPI_PROC_NULL
};

// True: the message can go on as described. False: an error was raised, or it goes to nobody.
bool describe_send(const Call& call, Side& side, const void* buffer, MPI_Count count,
                   MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
bool describe_receive(const Call& call, Side& side, const void* buffer, MPI_Count count,
                      MPI_Datatype datatype, int source, int tag, MPI_Comm comm);

// Begins to receive and to send as described. nullptr: the message is sent.
Request* start_receive(const Call& call, const Side& side);
Request* start_send(const Call& call, const Side& side, bool sync);

// Ends a receive that is done and was waited for; raises its error.
int end_receive(const Call& call, Request* request, MPI_Status* status);

}  // namespace fairlead::mpi
