#!/usr/bin/env bash
# --shared-tables: all JPEGs of a set have the same Huffman tables; the manifest has them, append, resume and plans follow.
make_images . mixed
pack() { im2rec --quiet --no-shuffle --resize 48 "$@"; }
same() { imrec verify --same-pixels --quiet "$@"; }
# the options that the manifest names, of the tables their number of digits
named() { grep -oE '"(shared_tables|huffman_tables)", "[0-9a-f]*"' "$1" | sed -E 's/[0-9a-f]{100,}/tables/'; }
tables() { grep -o '"huffman_tables", "[0-9a-f]*"' "$1"; }
pack --tile=no source plain.rec; named plain.manifest.json
pack --tile=no --shared-tables source shared.rec; named shared.manifest.json
same shared.rec plain.rec && echo "the same pixels"
pack --tile=no --shared-tables --threads 1 source one.rec; cmp shared.rec one.rec && echo "the same with one thread"
pack source tiled.rec
pack --shared-tables source shared_tiles.rec
same shared_tiles.rec tiled.rec && echo "the same pixels in tiles"
echo "== without loss"
im2rec --quiet --no-shuffle --pass-through source pass.rec
im2rec --quiet --no-shuffle --pass-through --tile --shared-tables source rewritten.rec; named rewritten.manifest.json
same rewritten.rec pass.rec && echo "the same pixels"
imrec tile --quiet --shared-tables pass.rec again.rec; cmp rewritten.rec again.rec && echo "the bytes of imrec tile"
named again.manifest.json
[ "$(tables again.manifest.json)" = "$(tables rewritten.manifest.json)" ] && echo "the same tables"
echo "== a plan"
pack --shared-tables --tile=no --plan tasks --tasks 3 source planned.rec
for k in 2 0 1; do im2rec --quiet --work tasks "$k"; done
im2rec --quiet --finish tasks; cmp shared.rec planned.rec && echo "the same"
[ "$(tables shared.manifest.json)" = "$(tables planned.manifest.json)" ] && echo "the same tables"
echo "== append, resume"
pack --append source again.rec; named again.manifest.json
[ "$(tables again.manifest.json)" = "$(tables rewritten.manifest.json)" ] && echo "the same tables"
pack --append --shared-tables source tiled.rec; echo "exit $?"
pack --tile=no --shared-tables --resume source shared.rec; echo "exit $?"
pack --tile=no --resume source shared.rec; echo "exit $?"
pack --tile=no --shared-tables --resume source plain.rec; echo "exit $?"
echo "== what it cannot go with"
pack --shared-tables --encoding png source other.rec; echo "exit $?"
im2rec --quiet --pass-through --shared-tables source other.rec; echo "exit $?"
