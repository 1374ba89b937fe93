#!/usr/bin/env bash
# symbols.sh LIBIMREC.so|LIBIMREC.a - exports what the public headers declare with IMREC_API, all of it and
# nothing else.
set -euo pipefail
case $1 in
*.a) which=-g ;;
*) which=-D ;;
esac
exported=$(nm "$which" --defined-only "$1" | awk 'NF == 3 && $2 != "A" { sub("@@IMREC_[0-9]+$", "", $3); print $3 }' | sort -u)
declared=$(cat include/imrec/*.h | tr '\n' ' ' | sed 's@/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/@ @g' | sed 's/[;{]/\n/g' |
    sed -n 's/.*IMREC_API[^(]*[ *]\(imrec_[a-z0-9_]*\) *(.*/\1/p' | sort -u)
strangers=$(comm -23 <(echo "$exported") <(echo "$declared"))
missing=$(comm -13 <(echo "$exported") <(echo "$declared"))
[ -z "$strangers" ] || printf 'exported, but no public header declares it: %s\n' "$strangers"
[ -z "$missing" ] || printf 'declared, but not in the library: %s\n' "$missing"
[ -z "$strangers$missing" ]
