! Procedures of the program that MPI calls.
#include "forms.inc"
module called_back
  USE_MPI
  use, intrinsic :: iso_c_binding
  implicit none
#if !defined(FORM_MPIF)
  private
#endif
  INCLUDE_MPI
  integer, public :: copies = 0, deletions = 0, errors_seen = 0, last_class = 0, frees = 0
  integer(kind=MPI_ADDRESS_KIND), public :: extra_seen = 0
  public :: larger_last_digit, copy, erase, on_error, query, ended, cancelled
contains
  ! The number whose last digit is larger.
#if defined(FORM_F08)
  subroutine larger_last_digit(in, inout, length, type)
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
#else
  subroutine larger_last_digit(a, b, length, type)
    integer :: length, type
    integer :: a(length), b(length)
#endif
    if (type /= MPI_INTEGER) return
    where (mod(a, 10) > mod(b, 10)) b = a
  end subroutine larger_last_digit

  subroutine copy(old, keyval, extra_state, value_in, value_out, flag, error)
    COMM :: old
    integer :: keyval, error
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    copies = copies + 1
    extra_seen = extra_state
    value_out = value_in + 1
    flag = old == MPI_COMM_WORLD .and. keyval /= MPI_KEYVAL_INVALID
    error = MPI_SUCCESS
  end subroutine copy

  subroutine erase(object, keyval, attribute_val, extra_state, error)
    COMM :: object
    integer :: keyval, error
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    error = MPI_SUCCESS
    if (object == MPI_COMM_NULL .or. keyval == MPI_KEYVAL_INVALID) return
    if (attribute_val >= 12345678901_MPI_ADDRESS_KIND .and. extra_state == 17) &
      deletions = deletions + 1
  end subroutine erase

  subroutine on_error(object, code)
    COMM :: object
    integer :: code, error
    errors_seen = errors_seen + 1
    if (object == MPI_COMM_SELF) call MPI_Error_class(code, last_class, error)
  end subroutine on_error

  subroutine query(extra_state, status, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    STATUS_OF(status)
    integer :: error
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state), error)
    call MPI_Status_set_cancelled(status, .false., error)
    SOURCE(status) = MPI_UNDEFINED
    TAG(status) = MPI_UNDEFINED
  end subroutine query

  subroutine ended(extra_state, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: error
    frees = frees + int(extra_state)
    extra_state = extra_state + 1
    error = MPI_SUCCESS
  end subroutine ended

  subroutine cancelled(extra_state, complete, error)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: error
    if (.not. complete) frees = frees + 100 * int(extra_state)
    error = MPI_SUCCESS
  end subroutine cancelled
end module called_back

subroutine operations()
  USE_MPI
  use checking
  use called_back, only: larger_last_digit
  implicit none
  INCLUDE_MPI
  integer :: error, rank, size, given(3), result(3)
  OPERATION :: op
  logical :: commute
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call MPI_Op_create(larger_last_digit, .true., op, error)
  call MPI_Op_commutative(op, commute, error)
  call check(commute, 'MPI_Op_commutative')
  given = [rank, 9 - rank, 50 + rank]
  call MPI_Allreduce(given, result, 3, MPI_INTEGER, op, MPI_COMM_WORLD, error)
  call check(all(result == [size - 1, 9, 49 + size]), 'an operation of the program')
  call MPI_Op_free(op, error)
  call check(op == MPI_OP_NULL, 'MPI_Op_free')
end subroutine operations

subroutine attributes()
  USE_MPI
  use checking
  use called_back, only: copy, erase, copies, deletions, extra_seen
  implicit none
  INCLUDE_MPI
  integer :: error, keyval, plain
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  COMM :: double
  logical :: flag
  value = 0
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, error)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB is its value')
  extra = 17
  call MPI_Comm_create_keyval(copy, erase, keyval, extra, error)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, flag, error)
  call check(.not. flag, 'an attribute that is not there')
  value = 12345678901_MPI_ADDRESS_KIND
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, double, error)
  call check(copies == 1 .and. extra_seen == 17, 'the copy procedure')
  value = 0
  call MPI_Comm_get_attr(double, keyval, value, flag, error)
  call check(flag .and. value == 12345678902_MPI_ADDRESS_KIND, 'the copy')
  call MPI_Comm_free(double, error)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, error)
  call check(deletions == 2, 'the deletion procedure')
  call MPI_Comm_free_keyval(keyval, error)
  call check(keyval == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, error)
  value = -5
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, error)
  call MPI_Comm_dup(MPI_COMM_SELF, double, error)
  value = 0
  call MPI_Comm_get_attr(double, keyval, value, flag, error)
  call check(flag .and. value == -5, 'MPI_COMM_DUP_FN')
  call MPI_Comm_free(double, error)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, error)
  call MPI_Comm_free_keyval(keyval, error)
  ! MPI-1's attributes are INTEGERs.
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, keyval, 0, error)
  call MPI_Attr_put(MPI_COMM_SELF, keyval, -6, error)
  call MPI_Attr_get(MPI_COMM_SELF, keyval, plain, flag, error)
  call check(flag .and. plain == -6, 'MPI_Attr_get')
  call MPI_Comm_dup(MPI_COMM_SELF, double, error)
  call MPI_Attr_get(double, keyval, plain, flag, error)
  call check(.not. flag, 'MPI_NULL_COPY_FN')
  call MPI_Comm_free(double, error)
  call MPI_Attr_delete(MPI_COMM_SELF, keyval, error)
  call MPI_Keyval_free(keyval, error)
end subroutine attributes

subroutine error_handlers()
  USE_MPI
  use checking
  use called_back, only: on_error, errors_seen, last_class
  implicit none
  INCLUDE_MPI
  integer :: error, code, class
  HANDLER :: handler, old
  call MPI_Comm_create_errhandler(on_error, handler, error)
  call MPI_Comm_get_errhandler(MPI_COMM_SELF, old, error)
  call check(old == MPI_ERRORS_ARE_FATAL, 'the first error handler')
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler, error)
  call MPI_Send(1, 1, MPI_INTEGER, 5, 1, MPI_COMM_SELF, code)
  call MPI_Error_class(code, class, error)
  call check(class == MPI_ERR_RANK, 'the class of an error')
  call check(errors_seen == 1 .and. last_class == MPI_ERR_RANK, 'an error handler of the program')
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)
  call MPI_Send(1, -1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, error)
  call check(error /= MPI_SUCCESS .and. errors_seen == 1, 'MPI_ERRORS_RETURN')
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, old, error)
  call MPI_Errhandler_free(handler, error)
end subroutine error_handlers

subroutine generalized_requests()
  USE_MPI
  use checking
  use called_back, only: query, ended, cancelled, frees
  implicit none
  INCLUDE_MPI
  integer :: error, count
  integer(kind=MPI_ADDRESS_KIND), volatile :: extra
  REQUEST :: request
  STATUS_OF(status)
  extra = 3
  call MPI_Grequest_start(query, ended, cancelled, extra, request, error)
  call MPI_Cancel(request, error)
  call MPI_Grequest_complete(request, error)
  call MPI_Wait(request, status, error)
  call MPI_Get_elements(status, MPI_INTEGER, count, error)
  call check(count == 3, 'the query procedure')
  call check(frees == 303, 'the procedures that cancel and free')
  call check(extra == 4, 'what a procedure made of the extra state')
end subroutine generalized_requests
