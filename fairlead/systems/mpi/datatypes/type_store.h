// The datatypes that a process has made, and what it hung on the predefined ones.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {

struct TypeStore {
  Objects<DerivedType> types;
  // Names that the program gave to predefined types.
  std::map<MPI_Datatype, std::string> names;

  MPI_Datatype add(TypeRef body) {
    DerivedType* const made = types.make();
    made->body = std::move(body);
    return reinterpret_cast<MPI_Datatype>(made);
  }
};

}  // namespace fairlead::mpi
