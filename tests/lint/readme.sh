#!/usr/bin/env bash
# The README's C and shell are those of examples/, word for word: what is shown is what is tested.
set -euo pipefail
block() { awk -v fence="^\`\`\`$1\$" '$0 ~ fence {on = 1; next} on && /^```/ {exit} on' README.md; }
marked() { sed -n '/README: begin/,/README: end/p' "$1" | sed '1d;$d'; }
diff <(marked examples/read.c | sed 's/^    //') <(block c)
diff <(marked examples/tour.sh | sed 's,"[$]photos",photos/,') <(block sh)
for command in tools/demo tools/test; do
    [ -x "$command" ] && grep -q "$command" README.md
done
