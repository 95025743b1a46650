#!/usr/bin/env bash
# exports_test.sh PYTHON MPI_SOURCE_DIR LIBMPI_ABI: what the library exports is what mpi.h declares.
set -euo pipefail
python=$1 source=$2 library=$3
fail() { echo "exports_test: $*" >&2; exit 1; }

# Expect: the headers say what calls.txt says.
"$python" -B "$source/generate.py" "$source/calls.txt" check "$source"

# Expect: every declared call and its PMPI_ twin is exported, MPI_ weak and PMPI_ strong (profiling
# tools define MPI_ names of their own), and no other MPI name is.
declared=$("$python" -B "$source/generate.py" "$source/calls.txt" names | sort)
exported=$(nm -D --defined-only "$library" | awk '$3 ~ /^P?MPI_/ {print $2, $3}')
diff <(echo "$declared") <(echo "$exported" | awk '{print $2}' | sort) >&2 ||
  fail "the lists of declared (<) and exported (>) names differ"
if echo "$exported" | grep -E '^T MPI_|^[WV] PMPI_'; then fail "the names above bind wrongly"; fi
for name in $declared; do
  grep -qw "$name" "$source/mpi.h" || fail "$name is exported but not in mpi.h"
done

# Expect: the standard's soname, the older link beside it, and libfairlead not linked in twice.
readelf -d "$library" | grep -q 'SONAME.*\[libmpi_abi.so.1\]' || fail "wrong soname"
[ "$(readlink "$(dirname "$library")/libmpi_abi.so.0")" = libmpi_abi.so.1 ] || fail "no .so.0 link"
readelf -d "$library" | grep -q 'NEEDED.*\[libfairlead.so' || fail "libfairlead is not linked"
echo "exports_test: passed"
