! The calls of TreadMarks (tmk.h) for Fortran: compile this file with the program, as tmk.h says, and
! link with libfairlead_dsm. Shared memory is what tmk_malloc answers, given a shape by
! c_f_pointer. A variable that tmk_distribute copies has the attributes save and target.
module tmk
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), bind(c, name="Tmk_nprocs") :: tmk_nprocs
  integer(c_int), bind(c, name="Tmk_proc_id") :: tmk_proc_id

  interface
    subroutine tmk_startup_with(argc, argv) bind(c, name="Tmk_startup")
      import :: c_int, c_ptr
      integer(c_int), value :: argc
      type(c_ptr), value :: argv
    end subroutine
    subroutine tmk_exit(status) bind(c, name="Tmk_exit")
      import :: c_int
      integer(c_int), value :: status
    end subroutine
    subroutine tmk_barrier(id) bind(c, name="Tmk_barrier")
      import :: c_int
      integer(c_int), value :: id
    end subroutine
    subroutine tmk_lock_acquire(id) bind(c, name="Tmk_lock_acquire")
      import :: c_int
      integer(c_int), value :: id
    end subroutine
    subroutine tmk_lock_release(id) bind(c, name="Tmk_lock_release")
      import :: c_int
      integer(c_int), value :: id
    end subroutine
    subroutine tmk_lock_cond_wait(id, condition) bind(c, name="Tmk_lock_cond_wait")
      import :: c_int
      integer(c_int), value :: id, condition
    end subroutine
    subroutine tmk_lock_cond_signal(id, condition) bind(c, name="Tmk_lock_cond_signal")
      import :: c_int
      integer(c_int), value :: id, condition
    end subroutine
    subroutine tmk_lock_cond_broadcast(id, condition) bind(c, name="Tmk_lock_cond_broadcast")
      import :: c_int
      integer(c_int), value :: id, condition
    end subroutine
    type(c_ptr) function tmk_malloc(bytes) bind(c, name="Tmk_malloc")
      import :: c_int, c_ptr
      integer(c_int), value :: bytes
    end function
    subroutine tmk_free(allocated) bind(c, name="Tmk_free")
      import :: c_ptr
      type(c_ptr), value :: allocated
    end subroutine
    subroutine tmk_touch(begin, bytes, writes) bind(c, name="Tmk_touch")
      import :: c_int, c_long, c_ptr
      type(c_ptr), value :: begin
      integer(c_long), value :: bytes
      integer(c_int), value :: writes
    end subroutine
    subroutine tmk_distribute(variable, bytes) bind(c, name="Tmk_distribute")
      import :: c_int, c_ptr
      type(c_ptr), value :: variable
      integer(c_int), value :: bytes
    end subroutine
  end interface

contains

  subroutine tmk_startup()
    call tmk_startup_with(0_c_int, c_null_ptr)
  end subroutine
end module
