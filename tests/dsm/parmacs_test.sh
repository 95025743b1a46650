#!/usr/bin/env bash
# parmacs_test.sh BUILD_DIR: what fairlead-parmacs-cc builds runs as processes, really and modelled;
# what a program does wrong is told.
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)/parmacs
work=$build/parmacs-test
cc=$build/bin/fairlead-parmacs-cc
run=("$build/bin/fairlead" run)
rm -rf "$work"
mkdir -p "$work"
fail() { echo "parmacs_test: $*" >&2; exit 1; }

# Expect: one command expands and compiles all, headers beside the sources included.
sources=("$here/main.c.in" "$here/work.c.in" "$here/early.c.in")
"$cc" -O2 -Wall -Werror "${sources[@]}" -o "$work/main"
# Expect: so do two steps, and a makefile's own m4 with a compiler that gets C.
(cd "$work" && "$cc" -O2 -c "$here/work.c.in" && [ -s work.o ]) || fail "no object"
mkdir "$work/by_hand"
for file in common.h terms.h main.c work.c early.c; do
  (cd "$work/by_hand" && m4 "$("$cc" -macros)" "$here/$file.in" >"$file")
done
"$cc" "$work/by_hand/main.c" "$work/by_hand/early.c" "$work/work.o" -o "$work/by_hand/main"

check() {  # check PROCESSES PROGRAM OPTIONS...: all of them were there, and rank 0 says it is right
  local processes=$1 program=$2
  shift 2
  "${run[@]}" "$@" "$work/$program" "$processes" ${form:+"$form"} >"$work/out" || {
    cat "$work/out"
    fail "$program with $processes processes: $*"
  }
  grep -qx "$processes processes: as written" "$work/out" || fail "$* wrote $(cat "$work/out")"
  [ "$(grep -c "^process .* of $processes, len +$" "$work/out")" = "$processes" ] || fail "$*"
}
form=
check 3 main -n 3
check 1 main -n 1
check 2 by_hand/main -n 2 --on udp
# Expect: processes are created one by one, too; ranks without one wait for the end.
form=one
check 2 main -n 3
check 3 main -n 3 --on myrinet-p3

# Expect: what is written for threads has all memory in common; without -threads it has not.
form=
"$cc" -threads -O2 -Wall -Werror "$here/threads.c.in" -o "$work/threads"
check 4 threads -n 4
check 2 threads -n 3 --on udp
check 3 threads -n 3 --on myrinet-p3
FAIRLEAD_DSM_PROTOCOL=async check 4 threads -n 4
"$cc" -O2 "$here/threads.c.in" -o "$work/not_threads"
! "${run[@]}" -n 2 "$work/not_threads" 2 >"$work/out" 2>&1 || fail "all went well without -threads"

# Expect: the manual's program prints what the manual shows.
manual=$here/../../../docs/dsm.md
awk '/^\$ cat sum.c.in/ {on = 1; next} /^\$ / {on = 0} on' "$manual" >"$work/sum.c.in"
"$cc" -O2 "$work/sum.c.in" -o "$work/sum"
printed=$(sed -n '/^\$ fairlead run -n 4 .\/sum$/ {n;p}' "$manual")
[ "$("${run[@]}" -n 4 "$work/sum")" = "$printed" ] || fail "docs/dsm.md: the sum is another"

refused() {  # refused WORDS COMMAND...
  local words=$1
  shift
  ! "$@" >"$work/out" 2>&1 || fail "$* ended well"
  grep -q -- "$words" "$work/out" || fail "$* said $(cat "$work/out")"
}
refused "CREATE of 4 processes: .* ranks, 2; run it with more" "${run[@]}" -n 2 "$work/main" 4
cat >"$work/wrong.c.in" <<'END'
MAIN_ENV
LOCKDEC(lock)
int main(void) { LOCK(lock); return 0; }
END
"$cc" "$work/wrong.c.in" -o "$work/wrong"
refused "LOCK of what LOCKINIT has not initialised" "${run[@]}" -n 2 "$work/wrong"
# Expect: a heap that is too small says which one is not.
cat >"$work/large.c.in" <<'END'
#include <stdlib.h>
MAIN_ENV
int main(void) { void* all = G_MALLOC(800000000) MAIN_END; return all == 0; }
END
"$cc" "$work/large.c.in" -o "$work/large"
refused "G_MALLOC of 800000000 bytes: .*; try FAIRLEAD_DSM_HEAP=1024M" \
  "${run[@]}" -n 2 "$work/large"
FAIRLEAD_DSM_HEAP=1024M "${run[@]}" -n 2 "$work/large" || fail "1024M were not enough"
# Expect: a program whose variables differ by rank says how to link it.
m4 "$("$cc" -macros)" "$work/wrong.c.in" >"$work/wrong.c"
cc -fPIE -pie "-I$build/include" "$work/wrong.c" "-L$build/lib" "-Wl,-rpath,$build/lib" \
  -lfairlead_dsm -o "$work/pie"
refused "link it by fairlead-parmacs-cc" "${run[@]}" -n 2 "$work/pie"
refused "there is no such file" "$cc" "$work/none.c.in"
echo "parmacs_test: passed"
