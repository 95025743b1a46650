! Derived datatypes.
#include "forms.inc"
subroutine datatypes()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, rank, size, matrix(4, 5), i, whole(2), part(2), start(2), numbers(20), kinds(3)
  integer :: integers(20), bytes
  integer(kind=MPI_ADDRESS_KIND) :: base, addresses(2), lower, extent, contents(20)
  DATATYPE :: column, row, both, types(2), parts(20), copy
  real(kind=8) :: number
  integer :: whole_number
  common /apart/ number, whole_number
  save /apart/
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  ! A row of a matrix, the inner part of one.
  call MPI_Type_vector(5, 1, 4, MPI_INTEGER, row, error)
  call MPI_Type_commit(row, error)
  call MPI_Type_size(row, bytes, error)
  call check(bytes == 20, 'MPI_Type_size')
  whole = [4, 5]
  part = [2, 3]
  start = [1, 1]
  call MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_FORTRAN, MPI_INTEGER, column, &
                                error)
  call MPI_Type_commit(column, error)
  matrix = reshape([(i, i = 1, 20)], [4, 5])
  if (rank == 0) then
    call MPI_Send(matrix(2, 1), 1, row, 1, 1, MPI_COMM_WORLD, error)
    call MPI_Send(matrix, 1, column, 1, 1, MPI_COMM_WORLD, error)
  else if (rank == 1) then
    call MPI_Recv(numbers, 5, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call check(all(numbers(1:5) == matrix(2, :)), 'a row by MPI_Type_vector')
    call MPI_Recv(numbers, 6, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call check(all(reshape(numbers(1:6), part) == matrix(2:3, 2:4)), 'MPI_Type_create_subarray')
  end if
  ! What lies apart, by its addresses from MPI_BOTTOM.
  call MPI_Get_address(number, addresses(1), error)
  call MPI_Get_address(whole_number, addresses(2), error)
  types = [MPI_DOUBLE_PRECISION, MPI_INTEGER]
  call MPI_Type_create_struct(2, [1, 1], addresses, types, both, error)
  call MPI_Type_commit(both, error)
  number = merge(2.5d0, 0d0, rank == 0)
  whole_number = merge(25, 0, rank == 0)
  call MPI_Bcast(MPI_BOTTOM, 1, both, 0, MPI_COMM_WORLD, error)
  call check(number == 2.5d0 .and. whole_number == 25, 'MPI_BOTTOM and MPI_Type_create_struct')
  base = MPI_Aint_diff(addresses(2), addresses(1))
  call check(base == 8 .and. MPI_Aint_add(addresses(1), base) == addresses(2), 'MPI_Aint_add')
  ! What a type was made of.
  call MPI_Type_get_envelope(both, kinds(1), kinds(2), kinds(3), i, error)
  call check(all(kinds == [3, 2, 2]) .and. i == MPI_COMBINER_STRUCT, 'MPI_Type_get_envelope')
  call MPI_Type_get_contents(both, 20, 20, 20, integers, contents, parts, error)
  call check(integers(1) == 2 .and. all(contents(1:2) == addresses), 'MPI_Type_get_contents')
  call check(parts(1) == types(1) .and. parts(2) == types(2), 'the types of a type')
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, copy, error)
  call MPI_Type_get_extent(copy, lower, extent, error)
  call check(lower == 0 .and. extent == 16, 'MPI_Type_create_resized')
  call MPI_Type_free(copy, error)
  call check(copy == MPI_DATATYPE_NULL, 'MPI_Type_free')
  call MPI_Type_free(row, error)
  call MPI_Type_free(column, error)
  call MPI_Type_free(both, error)
end subroutine datatypes

! Types by precision and range, and by size.
subroutine types_by_precision()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, bytes
  DATATYPE :: type
  call MPI_Type_create_f90_real(15, 307, type, error)
  call MPI_Type_size(type, bytes, error)
  call check(bytes == 8, 'MPI_Type_create_f90_real')
  call MPI_Type_create_f90_complex(6, 37, type, error)
  call MPI_Type_size(type, bytes, error)
  call check(bytes == 8, 'MPI_Type_create_f90_complex')
  call MPI_Type_create_f90_integer(18, type, error)
  call MPI_Type_size(type, bytes, error)
  call check(bytes == 8, 'MPI_Type_create_f90_integer')
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, type, error)
  call check(type == MPI_REAL4, 'MPI_Type_match_size')
  call MPI_Type_size(MPI_DOUBLE_COMPLEX, bytes, error)
  call check(bytes == 16, 'MPI_DOUBLE_COMPLEX')
  call MPI_Type_size(MPI_LOGICAL, bytes, error)
  call check(bytes == 4, 'MPI_LOGICAL')
  call MPI_Type_size(MPI_INTEGER8, bytes, error)
  call check(bytes == 8, 'MPI_INTEGER8')
  call MPI_Type_size(MPI_2DOUBLE_PRECISION, bytes, error)
  call check(bytes == 16, 'MPI_2DOUBLE_PRECISION')
#if !defined(FORM_MPIF)
  call MPI_Sizeof(1d0, bytes, error)
  call check(bytes == 8, 'MPI_Sizeof of a number')
  call MPI_Sizeof([(1.0, 2.0)], bytes, error)
  call check(bytes == 8, 'MPI_Sizeof of an array')
#endif
end subroutine types_by_precision
