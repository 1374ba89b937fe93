#!/usr/bin/env bash
# --tile, --no-tile: restart markers in JPEGs that are encoded; the manifest names it, append and resume follow the set.
make_images .
pack() { im2rec --quiet --no-shuffle --resize 32 "$@" 2>/dev/null; }
# records of a shard whose JPEG defines a restart interval (DRI, of 4 bytes), and all
tiles() {
    rm -rf out
    imrec export "$1" out >/dev/null 2>&1
    find out -name '*.jpg' -exec grep -laP '\xFF\xDD\x00\x04' {} + | wc -l | tr '\n' ' '
    find out -name '*.jpg' | wc -l
}
named() { grep -o '"tile", "[a-z]*"' "$1"; }
pack source set.rec; tiles set.rec; named set.manifest.json
pack --no-tile source plain.rec; tiles plain.rec; named plain.manifest.json
pack --tile source again.rec; cmp set.rec again.rec && echo "the same as by default"
pack --tile=no source again2.rec; cmp plain.rec again2.rec && echo "the same as --no-tile"
pack --tile yes source again3.rec; cmp set.rec again3.rec && echo "the same as by default"
echo "append"
pack --append source plain.rec; tiles plain.rec
pack --append source set.rec; tiles set.rec
pack --append --tile source plain.rec; tiles plain.rec
echo "as they are"
im2rec --quiet --no-shuffle --pass-through source pass.rec 2>/dev/null; tiles pass.rec
grep -c '"tile"' pass.manifest.json
im2rec --encoding png --tile source other.rec; echo "exit $?"
echo "a finished set of the other kind"
im2rec --quiet --no-shuffle --resize 32 --no-tile --resume source again.rec; echo "exit $?"
