#!/usr/bin/env bash
# exports_test.sh PYTHON SHMEM_SOURCE_DIR DOCS LIBRARY: the library exports what table.py has.
set -euo pipefail
python=$1 source=$2 docs=$3 library=$4
fail() { echo "exports_test: $*" >&2; exit 1; }

# Expect: shmem.h and docs/shmem.md are as generate.py writes them.
"$python" -B "$source/generate.py" "$source" check "$docs"

declared=$("$python" -B "$source/generate.py" "$source" names | sort)
# Expect: each call as a weak name, which profilers replace, and as a strong one.
for kind in 'W shmem_' 'T pshmem_'; do
  exported=$(nm -D --defined-only "$library" | grep -o " $kind.*" | sed 's/^ . p\?//' |
    grep -v '^shmem_pcontrol$' | sort)
  diff <(echo "$declared") <(echo "$exported") >&2 ||
    fail "the lists of declared (<) and exported (>) names differ"
done
[ "$(echo "$declared" | wc -l)" -ge 1600 ] || fail "the table has lost calls"
echo "exports_test: passed"
