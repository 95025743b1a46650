// The datatypes that a process has made, and what it hung on these and on the predefined ones.
#pragma once
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {

struct TypeKeyval {
  MPI_Type_copy_attr_function* copy = nullptr;
  MPI_Type_delete_attr_function* erase = nullptr;
  void* extra = nullptr;
  bool freed = false;  // no new attributes; those there are keep their functions
  int uses = 0;        // attributes there are
};

struct TypeStore {
  Objects<DerivedType> types;
  // What the program gave to predefined types.
  std::map<MPI_Datatype, std::string> names;
  std::map<MPI_Datatype, std::vector<Attribute>> attributes;
  KeyTable<TypeKeyval, 1 << 23> keyvals;
  // What MPI_Type_create_f90_... made, by combiner, precision and range: each is made once.
  std::map<std::array<int, 3>, MPI_Datatype> fortran;

  MPI_Datatype add(TypeRef body) {
    DerivedType* const made = types.make();
    made->body = std::move(body);
    return reinterpret_cast<MPI_Datatype>(made);
  }
};

}  // namespace fairlead::mpi
