#!/usr/bin/env bash
# tables.sh PARAM_ROWS - a guide's table of parameters is the one that the library reads.
set -euo pipefail
table() { sed -n '/<!-- table -->/,/<!-- end -->/p' "$1" | sed '1d;$d'; }
for guide in detection:detection segmentation:segmentation toolbox:reading; do
    diff -u <(table "docs/guide/${guide%:*}.md") <("$1" "${guide#*:}")
done
