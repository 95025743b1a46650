#!/usr/bin/env bash
# wrappers_test.sh BUILD_DIR CMAKE: the compiler wrappers of the build tree and of a moved install
# build C and C++ programs that include <shmem.h>, or <mpp/shmem.h>, also under their plain names.
set -euo pipefail
build=$1 cmake=$2
work=$build/shmem-wrappers-test
rm -rf "$work"
mkdir -p "$work"
fail() { echo "wrappers_test: $*" >&2; exit 1; }

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved here"
cat >"$work/ring.c" <<'END'
#include <shmem.h>
#include <stdio.h>
static int given = -1;
int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_int_p(&given, me, (me + 1) % pes);
  shmem_int_wait_until(&given, SHMEM_CMP_NE, -1);
  printf("PE %d was given %d\n", me, given);
  shmem_finalize();
  return 0;
}
END
sed 's,<shmem.h>,<mpp/shmem.h>,' "$work/ring.c" >"$work/old_ring.c"

try() {  # try PREFIX NAME: everything below PREFIX
  local prefix=$1 out=$work/$2 plain=$1/libexec/fairlead/bin
  mkdir -p "$out"
  # Expect: one command compiles and links; two steps do too; the program runs without settings.
  "$prefix/bin/fairlead-oshcc" "$work/ring.c" -o "$out/ring"
  "$out/ring" | grep -qx 'PE 0 was given 0' || fail "$2: ring does not run alone"
  PATH="$plain:$PATH" oshc++ -c -x c++ "$work/old_ring.c" -o "$out/ring.o"
  PATH="$plain:$PATH" oshCC "$out/ring.o" -o "$out/ring_cxx"
  if [ -x "$prefix/bin/fairlead" ]; then
    for program in ring ring_cxx; do
      PATH="$plain:$PATH" oshrun -np 2 "$out/$program" | sort >"$out/pes"
      printf 'PE 0 was given 1\nPE 1 was given 0\n' | diff - "$out/pes" || fail "$2: oshrun -np 2"
    done
  fi
  # Expect: -show prints the command and compiles nothing.
  "$prefix/bin/fairlead-oshcc" -show -c x.c | grep -q -- '-c x.c' || fail "$2: -show"
  "$prefix/bin/fairlead-oshcc" -link_info | grep -q -- '-lfairlead_shmem' || fail "$2: -link_info"
}
try "$build" build_tree
try "$work/moved here" install
echo "wrappers_test: passed"
