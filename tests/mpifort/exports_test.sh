#!/usr/bin/env bash
# exports_test.sh PYTHON SYSTEMS_DIR LIBRARY: every call that Fortran has is exported for mpif.h and
# mpi and for mpi_f08, PMPI_ strong and MPI_ weak, so that a profiling tool may replace it.
set -euo pipefail
python=$1 systems=$2 library=$3
fail() { echo "exports_test: $*" >&2; exit 1; }

declared=$("$python" -B "$systems/mpifort/generate.py" "$systems/mpi" names | sort)
exported=$(nm -D --defined-only "$library" | awk '$3 ~ /^p?mpi_/ {print $2, $3}')
# Expect: there is no name of the tables without a function.
lost=$(comm -23 <(echo "$declared") <(echo "$exported" | awk '{print $2}' | sort))
[ -z "$lost" ] || fail "not exported: $lost"
[ "$(echo "$declared" | grep -c '^mpi_.*_f08_$')" -gt 500 ] || fail "too few names of mpi_f08"
# Expect: of the calls, only pmpi_ names are strong.
wrong=$(comm -12 <(echo "$declared") <(echo "$exported" | awk '$1 ~ /[TD]/ {print $2}' | sort) |
  grep '^mpi_' || true)
[ -z "$wrong" ] || fail "strong: $wrong"
wrong=$(comm -12 <(echo "$declared" | grep '^pmpi_' | grep -v _f08_) \
  <(echo "$exported" | awk '$1 ~ /[VW]/ {print $2}' | sort))
[ -z "$wrong" ] || fail "weak: $wrong"
readelf -d "$library" | grep -q 'SONAME.*\[libfairlead_mpifort.so.0\]' || fail "wrong soname"
echo "exports_test: passed"
