! Strings: filled up with blanks, cut off, and without the blanks at their end.
#include "forms.inc"
subroutine strings()
  USE_MPI
  use checking
  implicit none
  INCLUDE_MPI
  integer :: error, length, version, subversion, keys, code
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=6) :: short
  character(len=20) :: value
  INFO :: given, copied
  logical :: flag
  call MPI_Get_processor_name(processor, length, error)
  call check(length > 0 .and. length == len_trim(processor), 'MPI_Get_processor_name')
  call MPI_Get_library_version(library, length, error)
  call check(index(library, 'Fairlead') > 0, 'MPI_Get_library_version')
  call MPI_Get_version(version, subversion, error)
  call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
  call MPI_Error_string(MPI_ERR_RANK, text, length, error)
  call check(length > 0 .and. length == len_trim(text), 'MPI_Error_string')
  call MPI_Add_error_class(code, error)
  call MPI_Add_error_string(code, 'the hull leaks   ', error)
  call MPI_Error_string(code, text, length, error)
  call check(text == 'the hull leaks' .and. length == 14, 'MPI_Add_error_string')
  call MPI_Comm_set_name(MPI_COMM_WORLD, '  every one ', error)
  call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, error)
  call check(name == '  every one' .and. length == 11, 'leading blanks of a name stay')
  call MPI_Comm_get_name(MPI_COMM_WORLD, short, length, error)
  call check(short == '  ever', 'a name that is longer than its place')
  call MPI_Info_create(given, error)
  call MPI_Info_set(given, ' depth ', '  12 fathoms  ', error)
  call MPI_Info_set(given, 'sails', '', error)
  call MPI_Info_get_nkeys(given, keys, error)
  call check(keys == 2, 'MPI_Info_get_nkeys')
  value = 'x'
  call MPI_Info_get(given, 'depth', 20, value, flag, error)
  call check(flag .and. value == '12 fathoms', 'blanks around an info''s key and value go')
  call MPI_Info_get(given, 'width', 20, value, flag, error)
  call check(.not. flag .and. value == '12 fathoms', 'a key that is not there')
  call MPI_Info_get_valuelen(given, 'depth', length, flag, error)
  call check(flag .and. length == 10, 'MPI_Info_get_valuelen')
  length = 6
  value = 'x'
  call MPI_Info_get_string(given, 'depth', length, value, flag, error)
  call check(flag .and. length == 10 .and. value == '12 fat', 'MPI_Info_get_string cuts off')
  call MPI_Info_dup(given, copied, error)
  call MPI_Info_get_nthkey(copied, 0, value, error)
  call check(value == 'depth', 'MPI_Info_get_nthkey')
  call MPI_Info_delete(copied, 'depth', error)
  call MPI_Info_get_nkeys(copied, keys, error)
  call check(keys == 1, 'MPI_Info_delete')
  call MPI_Info_free(copied, error)
  call MPI_Info_free(given, error)
  call check(given == MPI_INFO_NULL, 'MPI_Info_free')
end subroutine strings
