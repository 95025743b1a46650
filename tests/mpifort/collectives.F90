! Collectives, MPI_IN_PLACE among their arguments.
#include "forms.inc"
subroutine collectives()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, rank, size, i, total, one(1), pair(2)
  integer, allocatable :: all_ranks(:), counts(:), places(:), sent(:), came(:)
  DATATYPE, allocatable :: types(:)
  real :: sums(3)
  logical :: yes
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  allocate (all_ranks(size), counts(size), places(size), sent(size), came(size), types(size))
  call MPI_Barrier(MPI_COMM_WORLD, error)
  total = merge(42, 0, rank == 0)
  call MPI_Bcast(total, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call check(total == 42, 'MPI_Bcast')
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check(total == size * (size - 1) / 2, 'MPI_Allreduce with MPI_IN_PLACE')
  sums = [1.0, 2.0, 3.0] * rank
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, sums, 3, MPI_REAL, MPI_MAX, 0, MPI_COMM_WORLD, error)
    call check(all(sums == [1.0, 2.0, 3.0] * (size - 1)), 'MPI_Reduce with MPI_IN_PLACE')
  else
    call MPI_Reduce(sums, sums, 3, MPI_REAL, MPI_MAX, 0, MPI_COMM_WORLD, error)
  end if
  all_ranks = -1
  all_ranks(rank + 1) = rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 1, MPI_INTEGER, &
                     MPI_COMM_WORLD, error)
  call check(all(all_ranks == [(i, i = 0, size - 1)]), 'MPI_Allgather with MPI_IN_PLACE')
  if (rank == 0) then
    call MPI_Scatter(all_ranks, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, &
                     error)
  else
    call MPI_Scatter(all_ranks, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call check(one(1) == rank, 'MPI_Scatter')
  end if
  yes = rank /= 0
  call MPI_Allreduce(MPI_IN_PLACE, yes, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  call check(.not. yes, 'MPI_LAND of LOGICAL')
  pair = [mod(rank + 1, size), rank]
  call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call check(pair(1) == size - 1 .and. pair(2) == mod(2 * size - 2, size), 'MPI_2INTEGER')
  ! Each gives one number to each, by counts, places and types.
  counts = 1
  places = [(size - i, i = 1, size)]
  sent = 1000 * rank + [(size - i, i = 1, size)]
  call MPI_Alltoallv(sent, counts, places, MPI_INTEGER, came, counts, places, MPI_INTEGER, &
                     MPI_COMM_WORLD, error)
  call check(all(came == [(1000 * (size - i) + rank, i = 1, size)]), 'MPI_Alltoallv')
  types = MPI_INTEGER
  came = 0
  call MPI_Alltoallw(sent, counts, 4 * places, types, came, counts, 4 * places, types, &
                     MPI_COMM_WORLD, error)
  call check(all(came == [(1000 * (size - i) + rank, i = 1, size)]), 'MPI_Alltoallw')
  came = sent
  call MPI_Alltoallw(MPI_IN_PLACE, counts, places, types, came, counts, 4 * places, types, &
                     MPI_COMM_WORLD, error)
  call check(all(came == [(1000 * (size - i) + rank, i = 1, size)]), 'MPI_Alltoallw in place')
  call MPI_Exscan(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank > 0) call check(total == rank, 'MPI_Exscan')
  call MPI_Reduce_scatter_block(all_ranks, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check(total == rank * size, 'MPI_Reduce_scatter_block')
end subroutine collectives
