#!/usr/bin/env bash
# The programs that README.md and the quick start show are those of examples/, word for word: what is shown is tested.
# The chart shows the figures of docs/performance.md.
set -euo pipefail
block() { awk -v fence="^\`\`\`$2\$" '$0 ~ fence {on = 1; next} on && /^```/ {exit} on' "$1"; }
marked() { sed -n "/$2: begin/,/$2: end/p" "$1" | grep -vE '(README|quickstart): (begin|end)'; }
tour() { marked examples/tour.sh "$1" | sed 's,"[$]photos",photos/,'; }
diff <(marked examples/read.c README | sed 's/^    //') <(block README.md c)
diff <(tour README) <(block README.md sh)
diff <(tour quickstart) <(block docs/guide/quickstart.md sh)
diff <(block README.md python) <(block docs/guide/quickstart.md python)
diff <(python3 tests/bench/peers/chart.py docs/performance.md) docs/peers.svg
for command in tools/demo tools/test; do
    [ -x "$command" ] && grep -q "$command" docs/guide/install.md
done
