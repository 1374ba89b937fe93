#!/usr/bin/env bash
# --pass-through --tile, --pass-through --baseline: JPEGs are written again without loss, all else keeps its bytes.
make_images . mixed
pack() { im2rec --quiet --no-shuffle --pass-through "$@"; }
same() { imrec verify --same-pixels --quiet "$@"; }
named() { grep -oE '"(tile|baseline)", "[a-z0-9]*"' "$1"; }
rewritten() { grep -oE '"rewritten": [0-9]*' "$1"; }
pack source plain.rec; named plain.manifest.json
echo "== tile"
im2rec --no-shuffle --pass-through --tile source tile.rec 2>/dev/null | grep -E '^(packed|kinds|rewritten|  )' | sed 's/  in .*//'
same tile.rec plain.rec; named tile.manifest.json
imrec tile --quiet plain.rec again.rec; cmp tile.rec again.rec && echo "the bytes of imrec tile"
imrec info tile.rec | grep -E "^(kinds|of these|restarts)"
echo "== baseline"
im2rec --no-shuffle --pass-through --baseline --json source base.rec >card 2>/dev/null; rewritten card
same base.rec plain.rec; named base.manifest.json
imrec info base.rec | grep -E "^(kinds|of these|restarts)"
imrec tile --quiet base.rec again2.rec; cmp tile.rec again2.rec && echo "from there imrec tile gives the same"
echo "== by tasks"
im2rec --quiet --no-shuffle --pass-through --tile --plan job --tasks 3 source plan.rec
for k in 0 1 2; do im2rec --quiet --work job "$k"; done
im2rec --json --finish job >card 2>/dev/null; rewritten card; cmp tile.rec plan.rec && echo "the same"
im2rec --quiet --no-shuffle --pass-through --baseline --plan job2 --tasks 2 source plan2.rec
im2rec --quiet --work job2; im2rec --quiet --finish job2; cmp base.rec plan2.rec && echo "the same"
echo "== append, resume"
pack --append source tile.rec; imrec info tile.rec | grep "^restarts"
pack --append source base.rec; imrec info base.rec | grep '^kinds'
pack --append source plain.rec; imrec info plain.rec | grep '^kinds'
pack --tile --resume source again3.rec && pack --tile --resume source again3.rec; echo "exit $?"
pack --resume source again3.rec; echo "exit $?"
echo "== what else it can go with"
im2rec --quiet --no-shuffle --baseline source encoded.rec && im2rec --quiet --no-shuffle source encoded2.rec
cmp encoded.rec encoded2.rec && echo "JPEGs that are encoded are baseline"
im2rec --quiet --encoding png --baseline source other.rec; echo "exit $?"
pack --tile --resize 30 source other.rec; echo "exit $?"
pack --tile --no-tile source off.rec; imrec info off.rec | grep '^kinds'
pack --tile --format cbf source box.cbf; same box.cbf again.rec
