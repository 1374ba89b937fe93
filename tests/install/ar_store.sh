#!/usr/bin/env bash
# ar_store.sh IM2REC AR_STORE PHOTOS - a store of one's own gives what the same file gives: shards and index in an
# archive of ar(1). A missing file and a damaged archive are named.
set -euo pipefail
command -v ar >/dev/null || {
    echo "skipped: no ar"
    exit 77
}
im2rec=$1 store=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/imrec-ar-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$im2rec" --quiet --resize 32 "$3" "$work/train.rec"
cd "$work"
ar rc sets.a train.rec train.idx
want=$("$store" sets.a "$work/train.rec")
case $want in "64 samples, their pixels add up to "*) ;; *) echo "of the file: $want" && exit 1 ;; esac
for uri in '' ar://train.rec 'ar://*.rec'; do
    got=$("$store" sets.a ${uri:+"$uri"})
    [ "$got" = "$want" ] || { echo "$uri: $got, not $want" && exit 1; }
done
refused() { # WORDS ARCHIVE URI
    if "$store" "$2" "$3" >out 2>&1; then echo "$3: is not refused" && exit 1; fi
    grep -q "$1" out || { cat out && exit 1; }
}
refused 'ar://none.rec: there is no such object' sets.a ar://none.rec
head -c 3000 sets.a >cut.a
refused 'ar://train.rec: the archive is damaged' cut.a ar://train.rec
