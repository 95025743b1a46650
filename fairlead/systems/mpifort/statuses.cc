// Statuses between C and the two forms of Fortran: all have the same parts in the same places.
#include <cstring>

#include "fairlead/systems/mpifort/conversions.h"

namespace {

template <class From, class To>
int convert(const From* from, To* to) {
  const void* const place = from;
  if (from == nullptr || to == nullptr || place == MPI_F_STATUS_IGNORE ||
      place == MPI_F_STATUSES_IGNORE) {
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG);
    return MPI_ERR_ARG;
  }
  std::memcpy(to, from, sizeof(MPI_Status));
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status));
MPI_Fint* const MPI_F_STATUS_IGNORE = fortran_places.status_ignore;
MPI_Fint* const MPI_F_STATUSES_IGNORE = fortran_places.statuses_ignore;
MPI_F08_status* const MPI_F08_STATUS_IGNORE =
    reinterpret_cast<MPI_F08_status*>(fortran_places.status_ignore);
MPI_F08_status* const MPI_F08_STATUSES_IGNORE =
    reinterpret_cast<MPI_F08_status*>(fortran_places.statuses_ignore);

#define FAIRLEAD_MPIFORT_STATUS(names, From, To)                                        \
  int PMPI_Status_##names(const From* given, To* made) { return convert(given, made); } \
  int MPI_Status_##names(const From*, To*) __attribute__((weak, alias("PMPI_Status_" #names)));
FAIRLEAD_MPIFORT_STATUS(c2f, MPI_Status, MPI_Fint)
FAIRLEAD_MPIFORT_STATUS(c2f08, MPI_Status, MPI_F08_status)
FAIRLEAD_MPIFORT_STATUS(f2c, MPI_Fint, MPI_Status)
FAIRLEAD_MPIFORT_STATUS(f2f08, MPI_Fint, MPI_F08_status)
FAIRLEAD_MPIFORT_STATUS(f082c, MPI_F08_status, MPI_Status)
FAIRLEAD_MPIFORT_STATUS(f082f, MPI_F08_status, MPI_Fint)
#undef FAIRLEAD_MPIFORT_STATUS

}  // extern "C"
