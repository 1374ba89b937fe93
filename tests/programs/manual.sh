#!/usr/bin/env bash
# manual.sh FOLDER-OF-MANUALS FOLDER-OF-PROGRAMS... - the pages are well-formed and say every flag.
set -uo pipefail
manuals=$1
shift
for folder; do
    PATH=$folder:$PATH
done
export LC_ALL=C
failed=0
flags() { sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' | grep -vxE 'help|version'; }
keys() { sed -n 's/^  \([a-z_]*\)=.*/\1/p'; }
want() { # want PAGE NAME...: each stands in the page, '-' written as troff wants it
    local page=$manuals/$1 name
    shift
    for name; do
        grep -qF -- "\\fB${name//-/\\-}\\fR" "$page" || { echo "$page lacks $name"; failed=1; }
    done
}
told() { # told PAGE PROGRAM [COMMAND]: the usage and the text of its help stand in the page
    local page=$manuals/$1 help line ways=0
    shift
    help=$("$@" --help | sed '/^[a-z ]*:$/,$d')
    while IFS= read -r line; do
        line=${line#Usage:} line=${line#"${line%%[! ]*}"}
        if [ "$line" != "${line#"$* "}" ]; then
            line=${line#"$* "} ways=$((ways + 1))
        fi
        [ -z "$line" ] || grep -qxF -- "${line//-/\\-}" "$page" || { echo "$page lacks: $line"; failed=1; }
    done <<<"$help"
    [ "$(grep -cxF ".B $*" "$page")" = "$ways" ] || { echo "$page has not the $ways ways to call $*"; failed=1; }
}
mapfile -t names < <(im2rec --help | flags)
[ "${#names[@]}" -ge 20 ] || { echo "im2rec --help lists ${#names[@]} flags"; failed=1; }
want im2rec.1 "${names[@]/#/--}"
told im2rec.1 im2rec
for command in $(imrec --help | sed -n '/^Commands/,/^$/p' | awk 'NR > 1 {print $1}'); do
    mapfile -t names < <(imrec "$command" --help | flags)
    want imrec.1 "${names[@]/#/--}"
    told imrec.1 imrec "$command"
    grep -qx "\.SS $command" "$manuals/imrec.1" || { echo "imrec.1 lacks $command"; failed=1; }
done
mapfile -t names < <(imrec bench --help | keys)
[ "${#names[@]}" -ge 30 ] || { echo "imrec bench --help lists ${#names[@]} parameters"; failed=1; }
want imrec.1 "${names[@]}"
if command -v groff >/dev/null; then
    for page in im2rec imrec; do
        said=$(groff -ww -man -Tutf8 "$manuals/$page.1" 2>&1 >/dev/null)
        [ -z "$said" ] || { echo "$said"; failed=1; }
    done
fi
exit $failed
