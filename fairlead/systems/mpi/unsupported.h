// What calls return that this library does not have (calls.txt).
#pragma once
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

// MPI_ERR_UNSUPPORTED_OPERATION by the error handler of `comm`, else of MPI_COMM_SELF; before
// MPI_Init, too, where it ends the program. `name` is the MPI name of the call.
int unsupported(const char* name, MPI_Comm comm = MPI_COMM_SELF);
// A call on files returns the class, as the handler of files is MPI_ERRORS_RETURN at first; so does
// MPI_File_open, whose communicator is not asked.
int unsupported(const char* name, MPI_File file);
// A call with an error handler of its own, such as MPI_Session_init, which a program may make
// before MPI_Init to find out: MPI_ERRORS_RETURN gets the class, any other is as above without
// `comm`.
int unsupported(const char* name, MPI_Errhandler handler);
// The tool interface has codes of its own and no error handler.
int tool_unsupported(const char* name);

}  // namespace fairlead::mpi
