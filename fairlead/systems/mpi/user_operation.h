// Operations that programs make (MPI_Op_create).
#pragma once
#include <cstddef>

#include "fairlead/systems/mpi/arguments.h"
#include "fairlead/systems/mpi/objects.h"

namespace fairlead::mpi {

struct UserOperation : Object {
  UserFunction function{static_cast<MPI_User_function*>(nullptr)};
  bool commutes = false;

  // As Combine (operation.h), of elements of `element` bytes, which are of `type`.
  void combine(MPI_Datatype type, std::size_t element, const void* lower, const void* higher,
               void* out, std::size_t count) const;
};

}  // namespace fairlead::mpi
