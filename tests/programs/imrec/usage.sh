#!/usr/bin/env bash
# Wrong usage ends with 2 and one line; help and version with 0, on stdout.
check() { imrec "$@" </dev/null; echo "exit $?"; }
check
check inof
check frobnicate-the-shards
check info
check info --jsn a.rec
check ls a.rec --limit
check ls a.rec --limit=many
check cat a.rec 1 2
check info missing.rec
check info 'none-*.rec'
check --version
check info --version
imrec --help | head -1
imrec help verify | head -1
imrec verify -h | head -1
for command in $(imrec --help | sed -n '/^Commands/,/^$/p' | awk 'NR > 1 {print $1}'); do
    imrec "$command" --help >help.txt || echo "$command: exit $?"
    grep -q '^Usage: imrec '"$command" help.txt || echo "$command: no usage"
    [ "$command" = minibatches ] || grep -q -e '--json' help.txt || echo "$command: no --json"
    awk -v c="$command" 'length > 100 {print c ": " $0}' help.txt
done
imrec info --help >/dev/full; echo "exit $?"
