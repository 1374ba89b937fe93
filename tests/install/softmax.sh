#!/usr/bin/env bash
# softmax.sh EXAMPLE IM2REC CTF2BIN SOURCE - the example that trains reaches its accuracy: on its toy set
# as text and as binary file, on dense labels, and on pixels of photographs.
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/imrec-softmax-XXXXXX")
trap 'rm -rf "$work"' EXIT
example=$1 im2rec=$2 ctf2bin=$3 shared=${IMREC_SHARED:-$4/../shared}
cd "$work"
reaches() { # reaches LEAST ARGUMENT...
    local least=$1 said
    shift
    said=$("$example" "$@")
    echo "$said, of $least ($*)"
    awk -v least="$least" '{ exit !($2 >= least) }' <<<"$said"
}
reaches 0.95
text=$("$example" softmax-train.ctf softmax-test.ctf)
printf 'features x dense 20\nlabels y sparse 10\n' >header
for part in train test; do
    "$ctf2bin" --quiet --input softmax-$part.ctf --header header --output $part.cbf
done
[ "$("$example" train.cbf test.cbf)" = "$text" ] || { echo "the binary file must give the same" && exit 1; }

for part in train test; do # dense labels
    awk '{ split($2, pair, ":"); $2 = ""
           for (i = 0; i < 10; i++) $2 = $2 " " (i == pair[1]); print }' \
        softmax-$part.ctf | sed 's/  */ /g' >$part.ctf
    sed -i 's/sparse/dense/' header
    "$ctf2bin" --quiet --input $part.ctf --header header --output $part.cbf
done
reaches 0.95 train.cbf test.cbf

photographs=$shared/data/trainset
[ -d "$photographs" ] || { echo "no photographs at $photographs" && exit 0; }
for set in flowers5:0.42 clothing10:0.27; do # a class at random: 0.2 and 0.1
    rm -f ./*.cbf ./*.lst ./*.classes.txt ./*.manifest.json
    for part in train val; do
        "$im2rec" --quiet --format cbf --pixels --resize 24 --center-crop \
            "$photographs/${set%:*}/$part" $part.cbf
    done
    reaches "${set#*:}" train.cbf val.cbf 60 0.001
done
