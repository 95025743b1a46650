#!/usr/bin/env bash
# exports_test.sh PYTHON MPI_SOURCE_DIR DOCS LIBMPI_ABI: what the library exports is all of the MPI
# 5.0 binary interface, as calls.txt has it and mpi.h declares it.
set -euo pipefail
python=$1 source=$2 docs=$3 library=$4
fail() { echo "exports_test: $*" >&2; exit 1; }

# Expect: the headers and docs/mpi.md say what the tables say.
"$python" -B "$source/generate.py" "$source" check "$docs"

# Expect: as many calls as the binary interface has.
generated=$("$python" -B "$source/generate.py" "$source" names)
[ "$(echo "$generated" | grep -c '^MPI_')" = 664 ] || fail "calls.txt has not the 664 calls"
[ "$(echo "$generated" | grep -c '^PMPI_')" = 664 ] || fail "not every call has its PMPI_ twin"

# Expect: every declared call and its PMPI_ twin is exported, MPI_ weak and PMPI_ strong (profiling
# tools define MPI_ names of their own), and no other MPI name is.
declared=$(echo "$generated" | sort)
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
