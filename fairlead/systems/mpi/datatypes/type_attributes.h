// Attributes of datatypes, the predefined ones included.
#pragma once
#include "fairlead/systems/mpi/datatypes/arguments_of_types.h"
#include "fairlead/systems/mpi/datatypes/type_store.h"

namespace fairlead::mpi {

// `type` is a datatype.
std::vector<Attribute>& attributes_of(Process& process, MPI_Datatype type);
// Runs the copy functions of the attributes of `from`; the first error of one, which ends it.
int copy_type_attributes(const Call& call, MPI_Datatype from, MPI_Datatype to);
// Runs the delete function of one attribute, which is there, then forgets it; or of all, the
// latest first. After an error the rest stays.
int delete_type_attribute(const Call& call, MPI_Datatype type, const Attribute& attribute);
int delete_type_attributes(const Call& call, MPI_Datatype type);

}  // namespace fairlead::mpi
