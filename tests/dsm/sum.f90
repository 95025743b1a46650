! Each process adds its share to a sum in shared memory, under a lock.
program main
  use tmk
  implicit none
  type(c_ptr), save, target :: shared = c_null_ptr
  integer(c_long), pointer :: total(:)
  integer(c_long) :: i, mine

  call tmk_startup()
  if (tmk_proc_id == 0) then
    shared = tmk_malloc(4096_c_int)
    call tmk_distribute(c_loc(shared), int(c_sizeof(shared), c_int))
  end if
  call tmk_barrier(0_c_int)
  call c_f_pointer(shared, total, [512])
  mine = 0
  do i = tmk_proc_id + 1, 1000, tmk_nprocs
    mine = mine + i
  end do
  call tmk_lock_acquire(0_c_int)
  total(1) = total(1) + mine
  call tmk_lock_release(0_c_int)
  call tmk_barrier(1_c_int)
  if (tmk_proc_id == 0) print "(a,i0)", "sum of 1 to 1000: ", total(1)
  call tmk_exit(0_c_int)
end program
