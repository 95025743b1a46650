! What the tests share: counting what is not as expected.
module checking
  implicit none
  integer :: failures = 0
contains
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (ok) return
    failures = failures + 1
    print '(2a)', 'not as expected: ', what
  end subroutine check
end module checking
