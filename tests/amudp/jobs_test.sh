#!/usr/bin/env bash
# jobs_test.sh FAIRLEAD CLIENT: how jobs of AMUDP's interface end, and that a program starts one.
set -euo pipefail
fairlead=$1 client=$2
output=$(mktemp)
trap 'rm -f "$output"' EXIT

fail() { cat "$output"; echo "jobs_test: $*" >&2; exit 1; }
# expect CODE WORDS COMMAND...: it ends with the code (any: not 0), and says the words.
expect() {
  local code=$1 words=$2 status=0
  shift 2
  timeout -k 1 50 "$@" >"$output" 2>&1 || status=$?
  if [ "$code" = any ]; then
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "$*: code $status, not another than 0"
  else
    [ "$status" -eq "$code" ] || fail "$*: code $status instead of $code"
  fi
  grep -qE -- "$words" "$output" || fail "$*: did not say '$words'"
}

# Expect: any rank ends the job with its code, and each rank hears of it.
expect 0 'rank 0 ends with 0' "$fairlead" run -n 3 "$client" exit 2 0
expect 7 'rank 1' "$fairlead" run -n 3 "$client" exit 1 7
# Expect: a rank that dies is named, and the job ends.
expect any 'rank 1.*SIGKILL' "$fairlead" run -n 3 "$client" die 1
# Expect: what comes back from a rank that has left is no error where the job ends soon after, and
# is one where it goes on.
for on in shm udp; do
  for code in 0 7; do
    expect $code "rank 0 ends with $code" "$fairlead" run -n 3 --on $on "$client" gone 1 $code
  done
done
expect 1 'rank 2.*handler 1 of rank 1 came back.*has ended' \
  "$fairlead" run -n 3 --on udp "$client" gone 1 -1
# Expect: ranks that gather unequal amounts are told.
expect any 'do all ranks gather as much' "$fairlead" run -n 2 "$client" uneven
# Expect: a rank that leaves without the end of the job is named.
expect any 'rank 1.*without' "$fairlead" run -n 2 "$client" early 1
# Expect: the program that is no rank starts its job itself.
PATH=$(dirname "$fairlead"):$PATH expect 0 '2 ranks are through' "$client" 2
