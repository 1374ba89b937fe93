#!/usr/bin/env bash
# --quality-target: the quality of each JPEG by its likeness or its bytes; the manifest names it.
make_images .
pack() { im2rec --quiet --no-shuffle --resize 48 "$@" 2>/dev/null; }
# whether no image of a shard has more bytes than this
none_above() {
    rm -rf out
    imrec export "$1" out >/dev/null 2>&1
    find out -name '*.jpg' -size +"$2"c | wc -l
}
pack --quality-target bytes=1100 source small.rec; none_above small.rec 1100
grep -o '"quality[a-z_]*", "[^"]*"' small.manifest.json
pack --quality-target bytes=1100 --threads 1 source one.rec; cmp small.rec one.rec && echo "the same with one thread"
pack --quality-target ssim=0.9 source alike.rec
pack --quality-target ssim=0.9 --threads 1 source one.rec --force; cmp alike.rec one.rec && echo "the same with one thread"
IMREC_CPU=scalar pack --quality-target ssim=0.9 source one.rec --force; cmp alike.rec one.rec && echo "the same without vectors"
pack --quality-target ssim=0.98 source more_alike.rec
pack source usual.rec
[ "$(stat -c %s alike.rec)" -lt "$(stat -c %s more_alike.rec)" ] && echo "more alike takes more bytes"
grep -c quality_target usual.manifest.json
im2rec --quiet --no-shuffle --resize 48 --quality-target bytes=300 --report missed.jsonl source none.rec; echo "exit $?"
grep -o '"code":"[a-z_]*"' missed.jsonl | sort | uniq -c | sed 's/^ *//'
im2rec --quiet --quality-target bytes=1K --pass-through source other.rec; echo "exit $?"
im2rec --quiet --quality-target ssim=0.9 --encoding png source other.rec; echo "exit $?"
im2rec --quiet --quality-target ssim=0.9 --quality 90 source other.rec; echo "exit $?"
im2rec --quiet --quality-target ssim=98 source other.rec; echo "exit $?"
# a finished set has one target; a plan, too
im2rec --quiet --no-shuffle --resize 48 --quality-target ssim=0.9 --resume source alike.rec; echo "exit $?"
im2rec --quiet --no-shuffle --resize 48 --quality-target ssim=0.95 --resume source alike.rec; echo "exit $?"
im2rec --quiet --no-shuffle --resize 48 --resume source alike.rec; echo "exit $?"
im2rec --quiet --no-shuffle --resize 48 --quality-target ssim=0.9 --resume source usual.rec; echo "exit $?"
pack --quality-target ssim=0.9 --plan tasks --tasks 2 source planned.rec
im2rec --quiet --no-shuffle --resize 48 --plan tasks --tasks 2 source planned.rec; echo "exit $?"
im2rec --quiet --work tasks 0 2>/dev/null; im2rec --quiet --work tasks 1 2>/dev/null; im2rec --quiet --finish tasks 2>/dev/null
cmp alike.rec planned.rec && echo "the same by a plan"
