! Point to point: statuses, requests, and places that stand for none.
#include "forms.inc"
subroutine point_to_point()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, rank, size, count, position, got, partner
  real(kind=8) :: numbers(10), came(10), began, ended
  character(len=1) :: packed(100)
  STATUS_OF(status)
  MESSAGE :: matched
  logical :: flag
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  numbers = 1.5d0 * [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  came = 0
  began = MPI_Wtime()
  if (rank == 0) then
    call MPI_Send(numbers, 10, MPI_DOUBLE_PRECISION, 1, 7, MPI_COMM_WORLD, error)
    call MPI_Recv(came, 10, MPI_REAL8, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
    call check(all(came == 2 * numbers), 'ping-pong comes back')
    call check(SOURCE(status) == 1 .and. TAG(status) == 8, 'source and tag of a status')
    call MPI_Get_count(status, MPI_REAL8, count, error)
    call check(count == 10, 'MPI_Get_count')
    call MPI_Test_cancelled(status, flag, error)
    call check(.not. flag, 'MPI_Test_cancelled')
  else if (rank == 1) then
    call MPI_Recv(came, 10, MPI_DOUBLE_PRECISION, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    came = 2 * came
    call MPI_Send(came, 10, MPI_DOUBLE_PRECISION, 0, 8, MPI_COMM_WORLD, error)
  end if
  ended = MPI_Wtime()
  call MPI_Barrier(MPI_COMM_WORLD, error)  ! another rank's message would suit the receive above
  call check(ended > began .and. MPI_Wtick() > 0, 'MPI_Wtime goes on')
  ! A matched probe, and what is packed.
  if (rank == 0) then
    position = 0
    call MPI_Pack(4711, 1, MPI_INTEGER, packed, 100, position, MPI_COMM_WORLD, error)
    call MPI_Pack(numbers, 2, MPI_REAL8, packed, 100, position, MPI_COMM_WORLD, error)
    call check(position == 20, 'MPI_Pack moves the position')
    call MPI_Send(packed, position, MPI_PACKED, 1, 9, MPI_COMM_WORLD, error)
  else if (rank == 1) then
    call MPI_Mprobe(0, 9, MPI_COMM_WORLD, matched, status, error)
    call MPI_Get_count(status, MPI_PACKED, count, error)
    call MPI_Mrecv(packed, count, MPI_PACKED, matched, MPI_STATUS_IGNORE, error)
    call check(matched == MPI_MESSAGE_NULL, 'a received message is null')
    position = 0
    call MPI_Unpack(packed, count, position, got, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
    call MPI_Unpack(packed, count, position, came, 2, MPI_REAL8, MPI_COMM_WORLD, error)
    call check(got == 4711 .and. all(came(1:2) == numbers(1:2)), 'MPI_Unpack')
  end if
  partner = ieor(rank, 1)
  if (partner >= size) partner = MPI_PROC_NULL
  got = rank
  call MPI_Sendrecv_replace(got, 1, MPI_INTEGER, partner, 1, partner, 1, MPI_COMM_WORLD, status, &
                            error)
  if (partner /= MPI_PROC_NULL) call check(got == partner, 'MPI_Sendrecv_replace')
end subroutine point_to_point

subroutine nonblocking()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer, parameter :: each = 4
  integer :: error, rank, size, i, next, before, place, outcount, places(each), got
  integer :: sent(each), came(each), total
  REQUEST :: requests(2 * each)
  STATUSES_OF(statuses, 2 * each)
  logical :: flag
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  sent = 100 * rank + [1, 2, 3, 4]
  do i = 1, each
    call MPI_Irecv(came(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, requests(i), error)
  end do
  do i = each, 1, -1
    call MPI_Isend(sent(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, requests(each + i), error)
  end do
  call MPI_Waitall(2 * each, requests, statuses, error)
  call check(all(came == 100 * before + [1, 2, 3, 4]), 'MPI_Waitall')
  do i = 1, each
    call check(TAG_AT(statuses, i) == i, 'a tag in an array of statuses')
  end do
  call check(all([(requests(i) == MPI_REQUEST_NULL, i = 1, 2 * each)]), 'requests are null')
  ! Expect: places in arrays count from 1.
  requests(1) = MPI_REQUEST_NULL
  call MPI_Irecv(came(2), 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(2), error)
  call MPI_Send(sent(2), 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, error)
  call MPI_Waitany(2, requests, place, AT(statuses, 1), error)
  call check(place == 2, 'MPI_Waitany counts from 1')
  call MPI_Waitany(2, requests, place, MPI_STATUS_IGNORE, error)
  call check(place == MPI_UNDEFINED, 'MPI_Waitany of none')
  call MPI_Irecv(came(3), 1, MPI_INTEGER, before, 3, MPI_COMM_WORLD, requests(2), error)
  call MPI_Send(sent(3), 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, error)
  call MPI_Waitsome(2, requests, outcount, places, MPI_STATUSES_IGNORE, error)
  call check(outcount == 1 .and. places(1) == 2, 'MPI_Waitsome counts from 1')
  call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, error)
  call check(flag, 'MPI_Testall of none')
  ! Persistent requests, and a nonblocking collective.
  call MPI_Recv_init(got, 1, MPI_INTEGER, before, 5, MPI_COMM_WORLD, requests(1), error)
  call MPI_Send_init(rank, 1, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(2), error)
  do i = 1, 2
    got = -1
    call MPI_Startall(2, requests, error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    ! Expect: the compiler knows that the number may have changed.
    call check(got == before .and. requests(1) /= MPI_REQUEST_NULL, 'persistent requests')
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call check(requests(2) == MPI_REQUEST_NULL, 'MPI_Request_free')
  call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), error)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, error)
  end do
  call MPI_F_sync_reg(total)
  call check(total == size * (size - 1) / 2, 'MPI_Iallreduce')
  ! A receive that never comes is cancelled.
  call MPI_Irecv(got, 1, MPI_INTEGER, before, 99, MPI_COMM_WORLD, requests(1), error)
  call MPI_Cancel(requests(1), error)
  call MPI_Wait(requests(1), AT(statuses, 1), error)
  call MPI_Test_cancelled(AT(statuses, 1), flag, error)
  call check(flag, 'MPI_Test_cancelled of a cancelled receive')
end subroutine nonblocking

! What may stand for a buffer: any type and rank, a part with gaps, a scalar, a string.
subroutine choice_buffers()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, rank, i, matrix(6, 6), came(3, 2), column(6)
  complex(kind=8) :: number
  logical :: yes(3)
  character(len=12) :: text
  type pair
    sequence
    integer :: first, second
  end type pair
  type(pair) :: one
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  if (rank > 1) return
  matrix = reshape([(i, i = 1, 36)], [6, 6])
  if (rank == 0) then
    call MPI_Send(matrix(1:6:2, 2:5:3), 6, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, error)
    call MPI_Send(matrix(3, :), 6, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, error)
    call MPI_Send((1d0, 2d0), 1, MPI_DOUBLE_COMPLEX, 1, 1, MPI_COMM_WORLD, error)
    call MPI_Send([.true., .false., .true.], 3, MPI_LOGICAL, 1, 1, MPI_COMM_WORLD, error)
    call MPI_Send('hello, world', 12, MPI_CHARACTER, 1, 1, MPI_COMM_WORLD, error)
    one = pair(3, 4)
    call MPI_Send(one, 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, error)
  else
    call MPI_Recv(came, 6, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call check(all(came == matrix(1:6:2, 2:5:3)), 'a part with gaps is sent')
    ! Expect: what lies between the elements of a part with gaps stays.
    call MPI_Recv(matrix(5, :), 6, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    column = matrix(:, 6)
    call check(all(matrix(5, :) == matrix(3, :)), 'a part with gaps is received')
    call check(all(column == [31, 32, 33, 34, 33, 36]), 'what lies between stays')
    call MPI_Recv(number, 1, MPI_DOUBLE_COMPLEX, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call check(number == (1d0, 2d0), 'a complex number')
    call MPI_Recv(yes, 3, MPI_LOGICAL, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call check(yes(1) .and. .not. yes(2) .and. yes(3), 'LOGICAL')
    call MPI_Recv(text, 12, MPI_CHARACTER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call check(text == 'hello, world', 'a string as a buffer')
    call MPI_Recv(one, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call check(one%first == 3 .and. one%second == 4, 'a derived type as a buffer')
  end if
end subroutine choice_buffers
