! Handles and statuses go from Fortran to C and back.
program with_c
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function c_side(comm, type, status, op) bind(C, name='c_side')
      import
      integer(c_int), value :: comm, type
      integer(c_int) :: status(*), op
    end function c_side
  end interface
  integer :: error, rank, comm, type, op, wrong, given, result, came(3)
  integer :: status(MPI_STATUS_SIZE)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, error)
  call MPI_Type_contiguous(3, MPI_INTEGER, type, error)
  call MPI_Type_commit(type, error)
  call MPI_Sendrecv([1, 2, 3], 1, type, rank, 5, came, 3, MPI_INTEGER, rank, 5, &
                    MPI_COMM_WORLD, status, error)
  wrong = c_side(comm, type, status, op)
  ! An operation that C made.
  given = rank + 1
  call MPI_Allreduce(given, result, 1, MPI_INTEGER, op, comm, error)
  if (result /= 1000) wrong = wrong + 1
  call MPI_Op_free(op, error)
  call MPI_Type_free(type, error)
  call MPI_Comm_free(comm, error)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (wrong /= 0) stop 1
end program with_c
