#!/usr/bin/env bash
# install_test.sh CMAKE BUILD_DIR CXX: installs BUILD_DIR into a fresh prefix, moves the prefix (an
# install must not remember where it was made), then builds and runs an outside program with
# find_package and with pkg-config, and compiles every installed header alone.
set -euo pipefail
cmake=$1 build=$2 cxx=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$build/install-test
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

fail() { echo "install_test: $*" >&2; exit 1; }

# Expect: nothing in the package files points into the source or build tree.
tree=$(cd "$here/../.." && pwd)
if grep -rIl -e "$tree" "$prefix" --include='*.cmake' --include='*.pc'; then
  fail "the files above name the tree they were built in"
fi

# Expect: find_package in a project of its own builds a program that runs.
"$cmake" -S "$here/cmake_user" -B "$work/cmake_user" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
"$cmake" --build "$work/cmake_user"
"$work/cmake_user/outside" | grep -x 'outside: 6.25 ns' || fail "find_package: wrong output"

# Expect: pkg-config flags alone build the same program; the library is found by its rpath.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fairlead.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir fairlead)
# shellcheck disable=SC2046  # pkg-config answers a list of flags
"$cxx" -std=c++20 "$here/cmake_user/outside.cc" $(pkg-config --cflags --libs fairlead) \
  -Wl,-rpath,"$libdir" -o "$work/outside_pkg_config"
"$work/outside_pkg_config" | grep -x 'outside: 6.25 ns' || fail "pkg-config: wrong output"

# Expect: each public header of C and C++ compiles alone, so the set of installed headers is closed.
find "$prefix/include/fairlead" -name '*.h' ! -name mpif.h | sort >"$work/headers"
[ -s "$work/headers" ] || fail "no public header was installed"
xargs -a "$work/headers" -P 2 -I{} "$cxx" -std=c++20 -fsyntax-only -I"$prefix/include" \
  -x c++ -include {} /dev/null || fail "a public header needs one that is not installed"

# Expect: installed programs start from the moved prefix.
if [ -x "$prefix/bin/fairlead" ]; then
  "$prefix/bin/fairlead" --help >/dev/null || fail "the installed fairlead command does not start"
fi
echo "install_test: passed"
