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
    ! What C finds under a key of Fortran's; it makes a key and an attribute of its own.
    integer(c_intptr_t) function c_attributes(comm, key, own_key, own) &
        bind(C, name='c_attributes')
      import
      integer(c_int), value :: comm, key
      integer(c_int) :: own_key
      integer(c_intptr_t) :: own
    end function c_attributes
  end interface
  integer :: error, rank, comm, type, op, wrong, given, result, came(3)
  integer :: status(MPI_STATUS_SIZE), key, own_key, copy
  integer(MPI_ADDRESS_KIND) :: value, own
  logical :: flag
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, error)
  call MPI_Type_contiguous(3, MPI_INTEGER, type, error)
  call MPI_Type_commit(type, error)
  call MPI_Sendrecv([1, 2, 3], 1, type, rank, 5, came, 3, MPI_INTEGER, rank, 5, &
                    MPI_COMM_WORLD, status, error)
  wrong = c_side(comm, type, status, op)
  ! Attributes: C gets the address of Fortran's value, Fortran the address that is C's value.
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, &
                              0_MPI_ADDRESS_KIND, error)
  call MPI_Comm_set_attr(comm, key, 5555_MPI_ADDRESS_KIND, error)
  if (c_attributes(comm, key, own_key, own) /= 5555) wrong = wrong + 1
  call MPI_Comm_dup(comm, copy, error)
  call MPI_Comm_get_attr(copy, own_key, value, flag, error)
  if (.not. flag .or. value /= own) wrong = wrong + 1
  call MPI_Comm_set_attr(comm, key, -7_MPI_ADDRESS_KIND, error)
  call MPI_Comm_get_attr(copy, key, value, flag, error)
  if (.not. flag .or. value /= 5555) wrong = wrong + 1
  call MPI_Comm_set_attr(copy, own_key, 1234_MPI_ADDRESS_KIND, error)
  if (c_attributes(copy, own_key, own_key, own) /= 1234) wrong = wrong + 1
  call MPI_Comm_get_attr(comm, key, value, flag, error)
  if (.not. flag .or. value /= -7) wrong = wrong + 1
  call MPI_Comm_free(copy, error)
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
