#!/usr/bin/env bash
# wrappers_test.sh BUILD_DIR CMAKE: the compiler wrappers of the build tree and of a moved install
# build programs on tmk.h, under TreadMarks' own name of it too, and on dsm.h; so do the flags that
# pkg-config has. What they build runs.
set -euo pipefail
build=$1 cmake=$2
work=$build/dsm-wrappers-test
rm -rf "$work"
mkdir -p "$work"
fail() { echo "wrappers_test: $*" >&2; exit 1; }

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved here"

cat >"$work/counter.c" <<'END'
#include <Tmk.h>
#include <stdio.h>
static long* counter;
int main(int argc, char** argv) {
  Tmk_startup(argc, argv);
  if (Tmk_proc_id == 0) {
    counter = (long*)Tmk_malloc(sizeof(long));
    Tmk_distribute((char*)&counter, sizeof counter);
  }
  Tmk_barrier(0);
  Tmk_lock_acquire(0);
  *counter += 1;
  Tmk_lock_release(0);
  Tmk_barrier(1);
  if (Tmk_proc_id == 1) printf("%u ranks counted to %ld\n", Tmk_nprocs, *counter);
  Tmk_exit(0);
}
END
sed 's/Tmk\.h/tmk.h/' "$work/counter.c" >"$work/small.c"
cat >"$work/words.cc" <<'END'
#include <cstdio>
#include <vector>

#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/dsm/allocator.h"
#include "fairlead/systems/dsm/dsm.h"

namespace dsm = fairlead::dsm;

int main() {
  auto joined = fairlead::run::attach();
  if (!joined.ok()) return 1;
  auto options = dsm::Options::of_environment();
  if (!options.ok()) return 1;
  auto started = dsm::Dsm::start(*joined.value(), options.value());
  if (!started.ok()) return 1;
  dsm::Dsm& shared = *started.value();
  std::vector<int, dsm::Allocator<int>> own{dsm::Allocator<int>(shared)};
  if (shared.self() == 0) own.assign(1000, 3);
  const std::uint64_t handle =
      shared.agree(shared.self() == 0 ? shared.handle(own.data()) : 0);
  const int* const theirs = static_cast<const int*>(shared.address(handle));
  if (shared.self() == 1) {
    int sum = 0;
    for (int i = 0; i < 1000; ++i) sum += theirs[i];
    std::printf("%u ranks have a sum of %d\n", shared.size(), sum);
  }
  shared.barrier();
  own.clear();
  own.shrink_to_fit();
  shared.stop();
}
END

run() {  # run NAME PREFIX PROGRAM WORDS: two ranks print that line
  local name=$1 prefix=$2 program=$3 words=$4
  "$prefix/bin/fairlead" run -n 2 "$program" | grep -qx "$words" || fail "$name: no \"$words\""
}

try() {  # try PREFIX NAME: everything below PREFIX
  local prefix=$1 name=$2 out=$work/$2 plain=$1/libexec/fairlead/bin
  mkdir -p "$out"
  # Expect: one command compiles and links; two steps do too; the programs find their libraries.
  "$prefix/bin/fairlead-dsmcc" -O2 "$work/counter.c" -o "$out/counter"
  run "$name" "$prefix" "$out/counter" "2 ranks counted to 2"
  PATH="$plain:$PATH" dsmcc -c "$work/small.c" -o "$out/small.o"
  PATH="$plain:$PATH" dsmcc "$out/small.o" -o "$out/small"
  run "$name" "$prefix" "$out/small" "2 ranks counted to 2"
  PATH="$plain:$PATH" dsmc++ -O2 -Wall -Wextra "$work/words.cc" -o "$out/words"
  run "$name" "$prefix" "$out/words" "2 ranks have a sum of 3000"
  # Expect: -show prints the command and compiles nothing.
  "$prefix/bin/fairlead-dsmcc" -show -c x.c | grep -q -- '-c x.c' || fail "$name: -show"
  "$prefix/bin/fairlead-dsmcc" -link_info | grep -q -- '-lfairlead_dsm' || fail "$name: -link_info"
}
try "$build" build_tree
prefix="$work/moved here"
try "$prefix" install

# Expect: the flags of pkg-config build the same programs.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fairlead-dsm.pc)")
export PKG_CONFIG_PATH
mapfile -t flags < <(pkg-config --cflags --libs fairlead-dsm | xargs -n 1)
libdir=$(dirname "$PKG_CONFIG_PATH")
cc "$work/counter.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/counter"
run pkg-config "$prefix" "$work/counter" "2 ranks counted to 2"
c++ -std=c++20 "$work/words.cc" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/words"
run pkg-config "$prefix" "$work/words" "2 ranks have a sum of 3000"
echo "wrappers_test: passed"
