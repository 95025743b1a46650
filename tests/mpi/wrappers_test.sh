#!/usr/bin/env bash
# wrappers_test.sh BUILD_DIR CMAKE: the compiler wrappers of the build tree and of a moved install
# build C and C++ programs, also under their plain names and through CMake's FindMPI.
set -euo pipefail
build=$1 cmake=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$build/mpi-wrappers-test
rm -rf "$work"
mkdir -p "$work"
fail() { echo "wrappers_test: $*" >&2; exit 1; }

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved here"

try() {  # try PREFIX NAME: everything below PREFIX
  local prefix=$1 out=$work/$2
  mkdir -p "$out"
  # Expect: one command compiles and links; two steps do too; the program runs without settings.
  "$prefix/bin/fairlead-mpicc" "$here/user/hello.c" -o "$out/hello"
  "$out/hello" | grep -qx 'rank 0 of 1' || fail "$2: hello does not run alone"
  PATH="$prefix/libexec/fairlead/bin:$PATH" mpicxx -c -x c++ "$here/user/hello.c" -o "$out/hello.o"
  PATH="$prefix/libexec/fairlead/bin:$PATH" mpicxx "$out/hello.o" -o "$out/hello_cxx"
  PATH="$prefix/libexec/fairlead/bin:$PATH" mpic++ "$out/hello.o" -o "$out/hello_cxx"
  if [ -x "$prefix/bin/fairlead" ]; then
    PATH="$prefix/libexec/fairlead/bin:$PATH" mpirun -np 2 "$out/hello_cxx" | sort >"$out/ranks"
    printf 'rank 0 of 2\nrank 1 of 2\n' | diff - "$out/ranks" || fail "$2: mpirun -np 2"
  fi
  # Expect: -show prints the command and compiles nothing.
  "$prefix/bin/fairlead-mpicc" -show -c x.c | grep -q -- '-c x.c' || fail "$2: -show"
  "$prefix/bin/fairlead-mpicc" -compile_info | grep -q -- '-I' || fail "$2: -compile_info"
  "$prefix/bin/fairlead-mpicc" -link_info | grep -q -- '-lmpi_abi' || fail "$2: -link_info"
  # Expect: the compiler that a build script chooses, by the variables it knows or by an option.
  [ "$(OMPI_CC=one "$prefix/bin/fairlead-mpicc" -showme:command)" = one ] || fail "$2: OMPI_CC"
  [ "$(MPICH_CXX=two "$prefix/bin/fairlead-mpicxx" -showme:command)" = two ] || fail "$2: MPICH_CXX"
  [ "$(OMPI_CC=one FAIRLEAD_CC=three "$prefix/bin/fairlead-mpicc" -showme:command)" = three ] ||
    fail "$2: FAIRLEAD_CC"
  "$prefix/bin/fairlead-mpicc" -cc=four -show x.c | grep -q '^four .*x.c' || fail "$2: -cc"
}
try "$build" build_tree
try "$work/moved here" install

# Expect: find_package(MPI) finds mpi.h and the library by asking the wrapper.
"$cmake" -S "$here/user" -B "$work/find_mpi" -G Ninja \
  -DMPI_C_COMPILER="$build/bin/fairlead-mpicc" >"$work/find_mpi.log" ||
  { cat "$work/find_mpi.log" >&2; fail "find_package(MPI)"; }
"$cmake" --build "$work/find_mpi" >>"$work/find_mpi.log"
"$work/find_mpi/hello" | grep -qx 'rank 0 of 1' || fail "the program of FindMPI does not run"
echo "wrappers_test: passed"
