// Operations that programs make (MPI_Op_create).
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/arguments.h"
#include "fairlead/systems/mpi/objects.h"

namespace fairlead::mpi {

// What a program's function works on.
struct UserElements {
  MPI_Datatype type;
  std::size_t bytes;        // from one element to the next
  std::int64_t shift = 0;   // where they begin, from the address that the function gets
  bool one_by_one = false;  // the function finds only one: it goes by the type's extent
};

struct UserOperation : Object {
  UserFunction function{static_cast<MPI_User_function*>(nullptr)};
  bool commutes = false;

  // As Combine (operation.h).
  void combine(const UserElements& elements, const void* lower, const void* higher, void* out,
               std::size_t count) const;
};

}  // namespace fairlead::mpi
