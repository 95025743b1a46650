! Communicators, groups, topologies, windows.
#include "forms.inc"
subroutine communicators()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, rank, size, part_rank, part_size, result, ranges(3, 1), place, one(1), there(1)
  COMM :: part, double, world
  GROUP :: all_ranks, evens
  logical :: flag
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  ! Even and odd ranks, each in reversed order.
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, part, error)
  call MPI_Comm_rank(part, part_rank, error)
  call MPI_Comm_size(part, part_size, error)
  call check(part_size == (size + 1 - mod(rank, 2)) / 2, 'the size of a part')
  call check(part_rank == part_size - 1 - rank / 2, 'the rank in a part')
  call MPI_Comm_test_inter(part, flag, error)
  call check(.not. flag, 'MPI_Comm_test_inter')
  call MPI_Comm_free(part, error)
  call check(part == MPI_COMM_NULL, 'MPI_Comm_free')
  call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, part, error)
  call check(part == MPI_COMM_NULL, 'MPI_Comm_split without a color')
  call MPI_Comm_dup(MPI_COMM_WORLD, double, error)
  call MPI_Comm_compare(double, MPI_COMM_WORLD, result, error)
  call check(result == MPI_CONGRUENT .and. double /= MPI_COMM_WORLD, 'MPI_Comm_dup')
  world = MPI_COMM_WORLD
  call MPI_Comm_compare(world, MPI_COMM_WORLD, result, error)
  call check(result == MPI_IDENT, 'MPI_Comm_compare')
  call MPI_Comm_free(double, error)
  call MPI_Comm_group(MPI_COMM_WORLD, all_ranks, error)
  ranges(:, 1) = [0, size - 1, 2]
  call MPI_Group_range_incl(all_ranks, 1, ranges, evens, error)
  call MPI_Group_size(evens, part_size, error)
  call check(part_size == (size + 1) / 2, 'MPI_Group_range_incl')
  one = rank
  call MPI_Group_translate_ranks(all_ranks, 1, one, evens, there, error)
  place = merge(rank / 2, MPI_UNDEFINED, mod(rank, 2) == 0)
  call check(there(1) == place, 'MPI_Group_translate_ranks')
  call MPI_Group_free(evens, error)
  call MPI_Group_free(all_ranks, error)
  call check(evens == MPI_GROUP_NULL, 'MPI_Group_free')
end subroutine communicators

subroutine topologies()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, rank, size, dims(2), at(2), below, above, left, kept, came(2), before, next
  integer :: sources(1), destinations(1), weights(1), others(1), nothing(1), numbers(2), from, to
  logical :: periods(2), reads(2), remain(2), weighted
  COMM :: grid, line, ring
  DATATYPE :: types(2)
  integer(kind=MPI_ADDRESS_KIND) :: places(2)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  dims = [0, 1]
  call MPI_Dims_create(size, 2, dims, error)
  call check(all(dims == [size, 1]), 'MPI_Dims_create')
  periods = [.true., .false.]
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, error)
  call MPI_Comm_rank(grid, rank, error)
  dims = 0
  call MPI_Cart_get(grid, 2, dims, reads, at, error)
  call check(all(reads .eqv. periods) .and. all(at == [rank, 0]), 'MPI_Cart_get')
  call MPI_Cart_shift(grid, 0, 1, below, above, error)
  call check(below == mod(rank + size - 1, size) .and. above == mod(rank + 1, size), &
             'MPI_Cart_shift around')
  call MPI_Cart_shift(grid, 1, 1, left, kept, error)
  call check(left == MPI_PROC_NULL .and. kept == MPI_PROC_NULL, 'MPI_Cart_shift at an end')
  remain = [.true., .false.]
  call MPI_Cart_sub(grid, remain, line, error)
  call MPI_Cartdim_get(line, kept, error)
  call check(kept == 1, 'MPI_Cart_sub')
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, came, 1, MPI_INTEGER, line, error)
  call check(all(came == [below, above]), 'MPI_Neighbor_allgather')
  ! As many types as there are neighbours.
  types = MPI_INTEGER
  places = [0, 4]
  numbers = [10 * rank, 10 * rank + 1]
  call MPI_Neighbor_alltoallw(numbers, [1, 1], places, types, came, [1, 1], places, types, line, &
                              error)
  call check(all(came == [10 * below + 1, 10 * above]), 'MPI_Neighbor_alltoallw')
  call MPI_Comm_free(line, error)
  call MPI_Comm_free(grid, error)
  ! A ring without weights, and a communicator with no neighbours.
  before = below
  next = above
  sources = before
  destinations = next
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, &
                                      destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, &
                                      error)
  call MPI_Dist_graph_neighbors_count(ring, from, to, weighted, error)
  call check(from == 1 .and. to == 1 .and. .not. weighted, 'MPI_UNWEIGHTED')
  call MPI_Comm_free(ring, error)
  weights = 7
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, destinations, &
                                      weights, MPI_INFO_NULL, .false., ring, error)
  weights = 0
  call MPI_Dist_graph_neighbors(ring, 1, sources, weights, 1, others, MPI_UNWEIGHTED, error)
  call check(weights(1) == 7 .and. sources(1) == before .and. others(1) == next, 'weights')
  call MPI_Comm_free(ring, error)
  nothing = 0
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, nothing, MPI_WEIGHTS_EMPTY, 0, nothing, &
                                      MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., ring, error)
  call MPI_Dist_graph_neighbors_count(ring, from, to, weighted, error)
  call check(from == 0 .and. to == 0 .and. weighted, 'MPI_WEIGHTS_EMPTY')
  call MPI_Comm_free(ring, error)
end subroutine topologies

subroutine windows()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, rank, size, next, memory(4), before, old, unit
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place, value
  WINDOW :: win
  logical :: flag
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  memory = 0
  bytes = 16
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, error)
  call check(flag .and. value == 16, 'MPI_WIN_SIZE')
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, error)
  unit = int(value)
  call check(flag .and. unit == 4, 'MPI_WIN_DISP_UNIT')
  call MPI_Win_fence(0, win, error)
  place = 1
  call MPI_Put(100 + rank, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win, error)
  call MPI_Win_fence(0, win, error)
  call check(all(memory == [0, 100 + before, 0, 0]), 'MPI_Put between fences')
  call MPI_Win_fence(0, win, error)
  place = 2
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, error)
  call MPI_Fetch_and_op(1, old, MPI_INTEGER, 0, place, MPI_SUM, win, error)
  call MPI_Win_unlock(0, win, error)
  call check(old >= 0 .and. old < size, 'MPI_Fetch_and_op')
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, error)
  call MPI_Get(old, 1, MPI_INTEGER, 0, place, 1, MPI_INTEGER, win, error)
  call MPI_Win_unlock(0, win, error)
  call check(old == size, 'MPI_Get')
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Win_free(win, error)
  call check(win == MPI_WIN_NULL, 'MPI_Win_free')
end subroutine windows
