#!/usr/bin/env bash
# wrappers_test.sh BUILD_DIR CMAKE CXX: the Fortran wrapper of the build tree and of a moved install
# builds programs of each form, also under its plain names; CMake finds it by FindMPI, an install by
# find_package(fairlead) and pkg-config.
set -euo pipefail
build=$1 cmake=$2 cxx=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$build/mpifort-wrappers-test
rm -rf "$work"
mkdir -p "$work"
fail() { echo "wrappers_test: $*" >&2; exit 1; }

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved here"

runs() { "$1" | grep -qx 'rank 0 of 1' || fail "$1 does not run alone"; }

try() {  # try PREFIX NAME: everything below PREFIX
  local prefix=$1 out=$work/$2 name
  mkdir -p "$out"
  # Expect: mpif.h in fixed and free form, on long lines too, and the modules; strict standards.
  "$prefix/bin/fairlead-mpifort" -Wall -Werror "$here/user/hello.f90" -o "$out/hello"
  runs "$out/hello"
  "$prefix/bin/fairlead-mpifort" -Wall -Werror "$here/user/included.f" -o "$out/fixed"
  runs "$out/fixed"
  "$prefix/bin/fairlead-mpifort" -ffixed-line-length-none -std=f2008 "$here/user/included.f" \
    -o "$out/long"
  runs "$out/long"
  "$prefix/bin/fairlead-mpifort" -Wall -Werror -fimplicit-none -std=f95 \
    -c "$here/user/included.f90" -o "$out/free.o" || fail "$2: -std=f95"
  for name in mpifort mpif90 mpif77; do
    PATH="$prefix/libexec/fairlead/bin:$PATH" "$name" "$out/free.o" -o "$out/$name"
    runs "$out/$name"
  done
  "$prefix/bin/fairlead-mpifort" -show -c x.f90 | grep -q -- '-c x.f90' || fail "$2: -show"
  "$prefix/bin/fairlead-mpifort" -link_info | grep -q -- '-lfairlead_mpifort -lmpi_abi' ||
    fail "$2: -link_info"
}
try "$build" build_tree
try "$work/moved here" install

by_cmake() {  # by_cmake NAME OPTION...
  local out=$work/$1
  shift
  "$cmake" -S "$here/user" -B "$out" -G Ninja "$@" >"$out.log" ||
    { cat "$out.log" >&2; fail "$out"; }
  "$cmake" --build "$out" >>"$out.log" || { cat "$out.log" >&2; fail "$out"; }
  runs "$out/hello"
}
by_cmake find_mpi -DMPI_Fortran_COMPILER="$build/bin/fairlead-mpifort"
by_cmake package -DBY_PACKAGE=ON -DCMAKE_PREFIX_PATH="$work/moved here" -DCMAKE_CXX_COMPILER="$cxx"
runs "$work/package/hello_c"

# pkg-config writes a prefix with blanks in a form of its own.
mv "$work/moved here" "$work/moved"
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name fairlead-mpifort.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir fairlead-mpifort)
# shellcheck disable=SC2046  # pkg-config prints a list of flags
gfortran "$here/user/hello.f90" $(pkg-config --cflags --libs fairlead-mpifort) \
  -Wl,-rpath,"$libdir" -o "$work/by_pkg_config"
runs "$work/by_pkg_config"
# shellcheck disable=SC2046
cc "$here/../mpi/user/hello.c" $(pkg-config --cflags --libs fairlead-mpi) -Wl,-rpath,"$libdir" \
  -o "$work/c_by_pkg_config"
runs "$work/c_by_pkg_config"
echo "wrappers_test: passed"
