// Fortran procedures that the C library calls: as what the C functions stand for is told by the
// procedure only (operations, error handlers), each procedure gets a C function of its own out of a
// fixed number; where the C interface hands a state through (attributes, generalized requests), the
// procedure is in that.
#pragma once
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpifort {

// How gfortran compiles what programs hand over.
using FortranOperation = void (*)(void* in, void* inout, int* length, int* datatype);
using FortranOperationLarge = void (*)(void* in, void* inout, MPI_Count* length, int* datatype);
using FortranErrorHandler = void (*)(int* handle, int* error_code);
using FortranCopy = void (*)(int* object, int* keyval, MPI_Aint* extra_state, MPI_Aint* value_in,
                             MPI_Aint* value_out, int* flag, int* ierror);
using FortranDelete = void (*)(int* object, int* keyval, MPI_Aint* value, MPI_Aint* extra_state,
                               int* ierror);
using FortranCopyOld = void (*)(int* object, int* keyval, int* extra_state, int* value_in,
                                int* value_out, int* flag, int* ierror);
using FortranDeleteOld = void (*)(int* object, int* keyval, int* value, int* extra_state,
                                  int* ierror);
using FortranQuery = void (*)(MPI_Aint* extra_state, MPI_Status* status, int* ierror);
using FortranFree = void (*)(MPI_Aint* extra_state, int* ierror);
using FortranCancel = void (*)(MPI_Aint* extra_state, int* complete, int* ierror);

}  // namespace fairlead::mpifort
