#!/usr/bin/env bash
# read.sh IM2REC READ_EXAMPLE PHOTOS - the README's C lines read a shard: one batch of all 64.
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/imrec-read-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$1" --quiet --resize 256 "$3" "$work/set.rec"
"$2" "$work/set.rec" | tee "$work/out"
grep -q '^batch 0: 64 images' "$work/out"
[ "$(wc -l <"$work/out")" -eq 1 ]
! "$2" "$work/nothing.rec" 2>"$work/err" || { echo "a missing shard must fail" && exit 1; }
grep -q 'nothing.rec' "$work/err"
