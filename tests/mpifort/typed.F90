! What mpi_f08 alone has: optional errors, keywords, counts of 64 bits, C_PTR, types of handles.
subroutine typed_forms()
  use mpi_f08
  use checking
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, size, f_status(MPI_STATUS_SIZE), unit, ierror
  integer, pointer :: shared(:), allocated(:)
  integer, target :: buffer(1000)
  integer(kind=MPI_COUNT_KIND) :: many, length, count
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  type(MPI_Comm) :: comm
  type(MPI_Status) :: status, again
  type(MPI_Win) :: win
  type(MPI_Datatype) :: large
  type(c_ptr) :: place
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(comm=MPI_COMM_WORLD, size=size)
  call PMPI_Barrier(MPI_COMM_WORLD)
  comm%MPI_VAL = MPI_COMM_WORLD%MPI_VAL
  call check(comm == MPI_COMM_WORLD .and. comm /= MPI_COMM_SELF, 'comparison of handles')
  ! The form for 64 bits is chosen by the kind of the count.
  many = 3
  if (rank == 0) then
    call MPI_Send([1, 2, 3], many, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)
  else if (rank == 1) then
    call MPI_Recv(buffer, many, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, status)
    call check(all(buffer(1:3) == [1, 2, 3]), 'a count of 64 bits')
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 3 .and. status%MPI_SOURCE == 0 .and. status%MPI_TAG == 1, 'a typed status')
    call MPI_Status_f082f(status, f_status)
    call check(f_status(MPI_TAG) == 1 .and. f_status(MPI_SOURCE) == 0, 'MPI_Status_f082f')
    call MPI_Status_f2f08(f_status, again, ierror)
    call MPI_Get_count(again, MPI_INTEGER, count)
    call check(count == 3 .and. ierror == MPI_SUCCESS, 'MPI_Status_f2f08')
  end if
  many = 3000000000_MPI_COUNT_KIND
  call MPI_Type_contiguous(many, MPI_INTEGER, large)
  call MPI_Type_size(large, length)
  call check(length == 4 * many, 'a type longer than 32 bits')
  call MPI_Type_free(large)
  ! Memory that MPI gives.
  bytes = 40
  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, place)
  call c_f_pointer(place, allocated, [10])
  allocated = rank
  call check(sum(allocated) == 10 * rank, 'MPI_Alloc_mem')
  call MPI_Free_mem(allocated)
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, win)
  call c_f_pointer(place, shared, [10])
  call MPI_Win_fence(0, win)
  shared = rank
  call MPI_Win_fence(0, win)
  bytes = 5
  call MPI_Get(buffer, 1, MPI_INTEGER, mod(rank + 1, size), bytes, 1, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(buffer(1) == mod(rank + 1, size), 'MPI_Win_allocate')
  call MPI_Win_free(win)
  ! The buffer that was attached comes back.
  call MPI_Buffer_attach(buffer, 4000)
  call MPI_Buffer_detach(place, unit)
  call check(c_associated(place, c_loc(buffer)) .and. unit == 4000, 'MPI_Buffer_detach')
  call MPI_F_sync_reg(buffer)
end subroutine typed_forms
