// What the calls on requests share.
#pragma once
#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/message_arguments.h"

namespace fairlead::mpi::api {

// MPI_REQUEST_NULL is one. A request that is complete and freed is told apart as long as its object
// was not used again.
bool is_request(MPI_Request handle);
// `count` requests that are valid; MPI_SUCCESS or an error raised.
int check_requests(const Call& call, int count, const MPI_Request* requests);

// Sends through the buffer that is attached; MPI_SUCCESS or an error raised.
int send_buffered(const Call& call, const Side& side);

}  // namespace fairlead::mpi::api
