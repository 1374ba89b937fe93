#!/usr/bin/env bash
# tests/lint/limits.sh - tools/dev/check_layers.py refuses what is longer than the house allows.
set -euo pipefail
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/base"
echo 'imrec_layer(base SOURCES long.c)' >"$tree/base/CMakeLists.txt"

# write FUNCTION_LINES FILE_LINES
write() {
    {
        printf '/* base/long.c - lines. */\nint lines(int *p)\n{\n'
        yes '    *p += 1;' | head -n "$(($1 - 4))" || true
        printf '    return *p;\n}\n'
        yes 'extern int one;' | head -n "$(($2 - $1 - 1))" || true
    } >"$tree/base/long.c"
}
check() { python3 tools/dev/check_layers.py "$tree"; }
refused() {
    if said=$(check) || [[ $said != *"$1"* ]]; then
        echo "not refused: $1; said: $said" >&2
        exit 1
    fi
}

write 50 700
check
write 51 700
refused 'base/long.c:2: a function of 51 lines, the limit is 50'
write 50 701
refused 'base/long.c: 701 lines, the limit is 700'
