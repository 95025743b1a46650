#!/bin/sh
# A Fortran program on tmk.f90, compiled as a user does and run by processes: BUILD SOURCE.
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
gfortran -O1 -o sum "$source/fairlead/systems/dsm/tmk.f90" "$source/tests/dsm/sum.f90" \
  -L"$build/lib" -Wl,-rpath,"$build/lib" -lfairlead_dsm -lfairlead
for on in shm udp; do
  answer=$("$build/bin/fairlead" run -n 3 --on $on ./sum)
  if [ "$answer" != "sum of 1 to 1000: 500500" ]; then
    echo "$on: $answer" >&2
    exit 1
  fi
done
