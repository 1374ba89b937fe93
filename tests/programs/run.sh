#!/usr/bin/env bash
# run.sh CASE.sh FOLDER... - runs a case in an empty folder, with FOLDERs in front of PATH.
#
# Beside CASE.sh stand CASE.stdout (exact; none: must be empty), CASE.stderr (one glob a line;
# none: must be empty) and CASE.exit (none: 0). The case prints what it wants compared.
set -uo pipefail
case=$(realpath "$1")
shift
for folder; do
    PATH=$(realpath "$folder"):$PATH
done
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/work"
cd "$here/work" || exit 99
export LC_ALL=C
bash "$case" >"$here/stdout" 2>"$here/stderr" </dev/null
status=$?
stem=${case%.sh}
failed=0
expected=0
[ -e "$stem.exit" ] && expected=$(cat "$stem.exit")
if [ "$status" != "$expected" ]; then
    [ "$status" = 77 ] && { cat "$here/stdout"; exit 77; }
    echo "exit status $status, expected $expected"
    failed=1
fi
want=/dev/null
[ -e "$stem.stdout" ] && want=$stem.stdout
diff -u "$want" "$here/stdout" || failed=1

# Every line of stderr matches the glob of its line.
globs=()
[ -e "$stem.stderr" ] && mapfile -t globs <"$stem.stderr"
mapfile -t lines <"$here/stderr"
if [ "${#lines[@]}" != "${#globs[@]}" ]; then
    echo "${#lines[@]} lines on stderr, expected ${#globs[@]}:"
    cat "$here/stderr"
    failed=1
else
    for i in "${!lines[@]}"; do
        # shellcheck disable=SC2053 # a glob is wanted
        if [[ ${lines[$i]} != ${globs[$i]} ]]; then
            printf 'stderr line %d:\n  is   %s\n  want %s\n' $((i + 1)) "${lines[$i]}" "${globs[$i]}"
            failed=1
        fi
    done
fi
exit $failed
