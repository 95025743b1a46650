// A collective in one of its three forms, by number: at once, begun and waited for, persistent and
// started twice.
#pragma once
#include "fairlead/systems/mpi/mpi.h"

#define MPI_TEST_FORM(form, name, lower_name, ...)                  \
  do {                                                              \
    MPI_Request form_request = MPI_REQUEST_NULL;                    \
    if ((form) == 0) {                                              \
      MPI_##name(__VA_ARGS__);                                      \
    } else if ((form) == 1) {                                       \
      MPI_I##lower_name(__VA_ARGS__, &form_request);                \
      MPI_Wait(&form_request, MPI_STATUS_IGNORE);                   \
    } else {                                                        \
      MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &form_request); \
      for (int form_time = 0; form_time < 2; ++form_time) {         \
        MPI_Start(&form_request);                                   \
        MPI_Wait(&form_request, MPI_STATUS_IGNORE);                 \
      }                                                             \
      MPI_Request_free(&form_request);                              \
    }                                                               \
  } while (0)

namespace fairlead::mpi_test {
constexpr int kForms = 3;
}  // namespace fairlead::mpi_test
