// The names of MPI-1 that the standard has removed and old programs call (NPB's BT-IO among them).
// Addresses are INTEGERs there: the lower half of an address's distance from MPI_BOTTOM, so that
// differences of two are right.
#include <vector>

#include "fairlead/systems/mpifort/callbacks.h"
#include "fairlead/systems/mpifort/conversions.h"

using namespace fairlead::mpifort;

namespace {

std::vector<MPI_Aint> widened(const int* narrow, int count) {
  return std::vector<MPI_Aint>(narrow, narrow + (count > 0 ? count : 0));
}

// The extent's parts in 32 bits; MPI_ERR_ARG where one does not fit.
int tell_narrow(int error, MPI_Aint value, int* place) {
  if (error != MPI_SUCCESS) return error;
  *place = static_cast<int>(value);
  if (*place == value) return MPI_SUCCESS;
  MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG);
  return MPI_ERR_ARG;
}

}  // namespace

extern "C" {

void pmpi_comm_create_errhandler_(void* procedure, int* errhandler, int* ierror);

void mpi_address_(void* location, int* address, int* ierror) {
  MPI_Aint here = 0;
  MPI_Aint bottom = 0;
  int error = MPI_Get_address(buffer_of(location), &here);
  if (error == MPI_SUCCESS) error = MPI_Get_address(&fortran_places, &bottom);
  if (error == MPI_SUCCESS) *address = static_cast<int>(here - bottom);
  tell(ierror, error);
}

void mpi_type_struct_(int* count, int* lengths, int* displacements, int* types, int* newtype,
                      int* ierror) {
  const std::vector<MPI_Aint> places = widened(displacements, *count);
  Handles<MPI_Datatype> parts(types, *count);
  Answer<MPI_Datatype> answer;
  const int error =
      MPI_Type_create_struct(*count, lengths, places.data(), parts.all(), answer.address());
  if (error == MPI_SUCCESS) answer.tell(newtype);
  tell(ierror, error);
}

void mpi_type_hindexed_(int* count, int* lengths, int* displacements, int* oldtype, int* newtype,
                        int* ierror) {
  const std::vector<MPI_Aint> places = widened(displacements, *count);
  Answer<MPI_Datatype> answer;
  const int error = MPI_Type_create_hindexed(*count, lengths, places.data(),
                                             made<MPI_Datatype>(*oldtype), answer.address());
  if (error == MPI_SUCCESS) answer.tell(newtype);
  tell(ierror, error);
}

void mpi_type_hvector_(int* count, int* length, int* stride, int* oldtype, int* newtype,
                       int* ierror) {
  Answer<MPI_Datatype> answer;
  const int error = MPI_Type_create_hvector(*count, *length, *stride, made<MPI_Datatype>(*oldtype),
                                            answer.address());
  if (error == MPI_SUCCESS) answer.tell(newtype);
  tell(ierror, error);
}

void mpi_type_extent_(int* datatype, int* extent, int* ierror) {
  MPI_Aint lower = 0;
  MPI_Aint size = 0;
  const int error = MPI_Type_get_extent(made<MPI_Datatype>(*datatype), &lower, &size);
  tell(ierror, tell_narrow(error, size, extent));
}
void mpi_type_lb_(int* datatype, int* bound, int* ierror) {
  MPI_Aint lower = 0;
  MPI_Aint size = 0;
  const int error = MPI_Type_get_extent(made<MPI_Datatype>(*datatype), &lower, &size);
  tell(ierror, tell_narrow(error, lower, bound));
}
void mpi_type_ub_(int* datatype, int* bound, int* ierror) {
  MPI_Aint lower = 0;
  MPI_Aint size = 0;
  const int error = MPI_Type_get_extent(made<MPI_Datatype>(*datatype), &lower, &size);
  tell(ierror, tell_narrow(error, lower + size, bound));
}

void mpi_errhandler_create_(void* procedure, int* errhandler, int* ierror) {
  pmpi_comm_create_errhandler_(procedure, errhandler, ierror);
}
void mpi_errhandler_get_(int* comm, int* errhandler, int* ierror) {
  Answer<MPI_Errhandler> answer;
  const int error = MPI_Comm_get_errhandler(made<MPI_Comm>(*comm), answer.address());
  if (error == MPI_SUCCESS) answer.tell(errhandler);
  tell(ierror, error);
}
void mpi_errhandler_set_(int* comm, int* errhandler, int* ierror) {
  tell(ierror, MPI_Comm_set_errhandler(made<MPI_Comm>(*comm), made<MPI_Errhandler>(*errhandler)));
}

}  // extern "C"
