! Every test of a form; the job fails where one of its ranks saw something else than it should.
#include "forms.inc"
program mpifort_tests
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, all_failures
  logical :: flag
  call MPI_Initialized(flag, error)
  call check(.not. flag, 'MPI_Initialized before MPI_Init')
  call MPI_Init(error)
  call check(error == MPI_SUCCESS, 'MPI_Init')
  call MPI_Initialized(flag, error)
  call check(flag, 'MPI_Initialized after MPI_Init')
  call point_to_point()
  call nonblocking()
  call choice_buffers()
  call collectives()
  call datatypes()
  call types_by_precision()
  call communicators()
  call topologies()
  call windows()
  call operations()
  call attributes()
  call error_handlers()
  call generalized_requests()
  call strings()
#if defined(FORM_F08)
  call typed_forms()
#endif
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  call MPI_Finalized(flag, error)
  call check(flag, 'MPI_Finalized')
  if (all_failures + failures > 0) stop 1
end program mpifort_tests
