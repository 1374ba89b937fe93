#!/usr/bin/env bash
# tour.sh SOURCE FOLDER_OF_IM2REC FOLDER_OF_IMREC PHOTOS - the README's shell lines, in a folder of
# their own; what they promise to write is there.
set -euo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/imrec-tour-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$2:$3:$PATH "$1/examples/tour.sh" "$4"
for file in train.rec train.idx train.lst train.crc train.classes.txt train.manifest.json train.html \
    seen.html batches/data.npy batches/position.json files healed.rec; do
    [ -s "$file" ] || { echo "not written: $file" && exit 1; }
done
[ "$(find files -name '*.jpg' | wc -l)" -eq "$(find "$4" -name '*.jpg' | wc -l)" ]
