#!/usr/bin/env bash
# Every shell script, whatever its name, and what such scripts source: shellcheck finds nothing in it.
set -euo pipefail
if ! command -v shellcheck >/dev/null; then
    echo "skipped: no shellcheck"
    exit 77
fi
find . -name build -prune -o -path ./.git -prune -o -type f -print0 |
    xargs -0 grep -lIE '^(#!/(usr/)?bin/(env )?(ba)?sh|# shellcheck shell=bash)' | xargs -d '\n' shellcheck --severity=info
