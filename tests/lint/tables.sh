#!/usr/bin/env bash
# tables.sh PARAM_ROWS - a guide's table of parameters is the one that the library reads.
set -euo pipefail
table() { sed -n '/<!-- table -->/,/<!-- end -->/p' "$1" | sed '1d;$d'; }
for group in detection segmentation; do
    diff -u <(table docs/guide/$group.md) <("$1" $group)
done
