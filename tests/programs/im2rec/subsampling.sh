#!/usr/bin/env bash
# --subsampling: chroma of JPEGs that are encoded; the manifest names it where it is not 4:2:0.
make_images .
pack() { im2rec --quiet --no-shuffle --resize 32 "$@" 2>/dev/null; }
# records of a shard whose JPEG is in colour with as many samples of luma as of chroma, and with four times as many
samplings() {
    rm -rf out
    imrec export "$1" out >/dev/null 2>&1
    for h in 11 22; do
        find out -name '*.jpg' -exec grep -laP "\xFF\xC0\x00\x11\x08....\x03\x01\x$h" {} + | wc -l
    done | tr '\n' ' '
    find out -name '*.jpg' | wc -l
}
pack source usual.rec; samplings usual.rec; grep -c subsampling usual.manifest.json
pack --subsampling 420 source again.rec; cmp usual.rec again.rec && echo "the same as by default"
pack --subsampling 444 source full.rec; samplings full.rec; grep -o '"subsampling", "[0-9]*"' full.manifest.json
pack --subsampling 444 --threads 1 source one.rec; cmp full.rec one.rec && echo "the same with one thread"
im2rec --quiet --subsampling 444 --pass-through source other.rec; echo "exit $?"
im2rec --quiet --subsampling 444 --encoding png source other.rec; echo "exit $?"
im2rec --quiet --subsampling 422 source other.rec; echo "exit $?"
