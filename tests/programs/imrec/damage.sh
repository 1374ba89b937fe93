#!/usr/bin/env bash
# Copies look at checksums: damage ends them, or is left out by name; what has none says so once.
make_set a.rec 30 2
flip() { # FILE BYTE
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf '%b' "\\x$(printf '%02x' $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
one=a-00000-of-00002.rec two=a-00001-of-00002.rec
mapfile -t at < <(imrec ls $one | cut -f2)
flip $one $((at[4] + 300))
tidy() { sed -E 's/[0-9.]+ (KiB|B)/SIZE/; s/0x[0-9a-f]{8}/HEX/g; s/bytes [0-9]+ to [0-9]+/RANGE/'; }

echo "== it ends the command"
for command in "split --shards 2" merge "sample --fraction 0.5" relabel; do
    list=()
    [ "$command" = relabel ] && list=(a.lst)
    # shellcheck disable=SC2086 # words are wanted
    imrec $command --quiet $one $two "${list[@]}" out.rec
    echo "$command: status $?"
done
ls out* 2>/dev/null

echo "== or is left out"
imrec merge --on-error skip $one $two out.rec | tidy
echo "status ${PIPESTATUS[0]}"
grep skipped out.manifest.json
imrec verify --quiet out.rec | tidy
printf 'xxxx' | dd of=$two bs=1 seek=0 conv=notrunc status=none
imrec split --on-error skip --shards 2 --json $one $two cut.rec | grep -E '"(kind|id|reason|read|written|unchecked)"' | tidy
imrec sample --quiet --on-error skip --fraction 0.5 $one $two half.rec 2>/dev/null
echo "status $?"
imrec sample --quiet --on-error skip --rest --fraction 0.5 $one $two rest.rec 2>/dev/null
cut -f1 half.lst rest.lst | sort | tr '\n' ' '; echo

echo "== what was carried is compared again"
cp a.lst whole.lst
make_set whole.rec 10
imrec split --quiet --shards 3 whole.rec part.rec && imrec merge --quiet part-*.rec joined.rec
for file in rec idx crc lst; do cmp whole.$file joined.$file && echo "$file is equal"; done

echo "== records that are gone, or more than there were"
mapfile -t at < <(imrec ls whole.rec | cut -f2)
cp whole.crc gone.crc
{ head -c "${at[3]}" whole.rec; tail -c +$((at[4] + 1)) whole.rec; } >gone.rec
imrec merge gone.rec out2.rec
echo "status $?"

echo "== broken checksums say nothing, and nothing is copied on their word"
cp whole.rec broken.rec && cp whole.crc broken.crc && flip broken.crc 20
imrec merge --on-error skip broken.rec out2.rec
echo "status $?"

echo "== none at all"
cp whole.rec bare.rec && cp whole.rec bare2.rec
imrec merge --renumber bare.rec bare2.rec bared.rec | tidy
imrec verify --quiet bared.rec | tidy
make_set kept.rec 10 # its manifest tells of the shard as a whole
rm kept.crc
imrec merge --quiet kept.rec kept2.rec
echo "status $?"
flip kept.rec 300
imrec merge --quiet kept.rec kept3.rec
echo "status $?"
flip kept2.lst 3
imrec merge --quiet kept2.rec kept4.rec
echo "status $?"

echo "== images in a CBF file are compared as a whole"
make_images .
rm source/bee/{empty,text,torn}.jpg
im2rec --quiet --pass-through --format cbf source set.cbf
im2rec --quiet --format cbf --pixels --resize 8 --center-crop source pixels.cbf
imrec merge --quiet set.cbf fromcbf.rec && imrec convert --quiet pixels.cbf pixels.ctf && ls fromcbf.rec pixels.ctf
flip set.cbf 3000
flip pixels.cbf 3000
imrec merge --quiet --on-error skip set.cbf fromcbf2.rec
echo "status $?"
imrec convert --quiet pixels.cbf pixels2.ctf
echo "status $?"
imrec export --quiet set.cbf files
echo "status $?"
rm set.*
imrec merge --quiet fromcbf.rec again.rec && imrec verify --quiet again.rec | tidy

echo "== append"
im2rec --quiet --pass-through source set.rec
flip set.rec 700
im2rec --quiet --append source set.rec
echo "status $?"
ls set*
