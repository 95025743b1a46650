// MPI error classes and their texts.
#pragma once

namespace fairlead::mpi {

struct ErrorClass {
  const char* name;  // "MPI_ERR_RANK"
  const char* text;  // what it means, for MPI_Error_string
};

// nullptr when `error` is no class of the standard. This library's codes are the classes.
const ErrorClass* find_error(int error);

}  // namespace fairlead::mpi
