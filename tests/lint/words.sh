#!/usr/bin/env bash
# The tree speaks of itself alone: no path of one machine, no unfinished work, no loose ends.
set -euo pipefail
found=0
search() { # search <what it is> <extended regex> [grep options ...]
    local what=$1 regex=$2
    shift 2
    if find . -name build -prune -o -path ./.git -prune -o -path ./tests/lint/words.sh -prune -o \
        -type f \( -name '*.[ch]' -o -name '*.md' -o -name '*.py' -o -name '*.sh' -o -name '*.txt' \
        -o -name '*.cmake' -o -name '*.go' -o -name '*.yaml' -o -name '*.in' -o -name '*.json' -o -path './tools/*' -o -path './.ci/*' \) -print0 |
        xargs -0 grep -nIE "$@" -e "$regex"; then
        echo "^ $what"
        found=1
    fi
}
search "a path of one machine" '(^|[^[:alnum:]_.$}~-])/(home|root|work|Users|mnt)/[[:alnum:]_-]'
search "unfinished work: finish it, or write what is missing into docs/" '\b(TODO|FIXME|XXX|HACK)\b'
search "a conflict mark" '^(<<<<<<<|>>>>>>>) '
search "white space at the end of a line" '[[:blank:]]+$' --include='*.[ch]' --include='*.sh' --include='*.cmake'
exit "$found"
