// The parts of a status.
#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/calls.h"

namespace fairlead::mpi::api {
namespace {

template <class Status>
int part(const char* name, Status* status, const void* other, const auto& access) {
  if (status != nullptr && other != nullptr) {
    access(*status);
    return MPI_SUCCESS;
  }
  return Call(name).fail(nullptr, MPI_ERR_ARG, "status or what goes with it is a null pointer");
}

}  // namespace

int status_get_source(const MPI_Status* status, int* source) {
  return part("MPI_Status_get_source", status, source,
              [&](const MPI_Status& s) { *source = s.MPI_SOURCE; });
}
int status_get_tag(const MPI_Status* status, int* tag) {
  return part("MPI_Status_get_tag", status, tag, [&](const MPI_Status& s) { *tag = s.MPI_TAG; });
}
int status_get_error(const MPI_Status* status, int* error) {
  return part("MPI_Status_get_error", status, error,
              [&](const MPI_Status& s) { *error = s.MPI_ERROR; });
}
int status_set_source(MPI_Status* status, int source) {
  return part("MPI_Status_set_source", status, status,
              [&](MPI_Status& s) { s.MPI_SOURCE = source; });
}
int status_set_tag(MPI_Status* status, int tag) {
  return part("MPI_Status_set_tag", status, status, [&](MPI_Status& s) { s.MPI_TAG = tag; });
}
int status_set_error(MPI_Status* status, int error) {
  return part("MPI_Status_set_error", status, status, [&](MPI_Status& s) { s.MPI_ERROR = error; });
}
int status_set_cancelled(MPI_Status* status, int flag) {
  return part("MPI_Status_set_cancelled", status, status,
              [&](MPI_Status& s) { s.MPI_internal[2] = flag != 0; });
}
int test_cancelled(const MPI_Status* status, int* flag) {
  return part("MPI_Test_cancelled", status, flag,
              [&](const MPI_Status& s) { *flag = s.MPI_internal[2]; });
}

}  // namespace fairlead::mpi::api
