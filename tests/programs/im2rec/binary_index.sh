#!/usr/bin/env bash
# --binary-index: .idxb as imrec index --binary writes it; whoever replaces a shard leaves no old one.
make_images .
pack() { im2rec --quiet --no-shuffle --resize 16 "$@" 2>/dev/null; }
indexes() { find . -name '*idxb*' -printf '%f ' | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/^ //'; echo; }
pack --shards 3 --binary-index yes source set; indexes
for i in 0 1 2; do mv set-0000$i-of-00003.idxb was$i; done
imrec index --binary set-*.rec >/dev/null
for i in 0 1 2; do cmp set-0000$i-of-00003.idxb was$i && echo same; rm was$i; done
imrec verify set-*.rec | grep -o 'nothing wrong'
echo "fewer shards, and none wanted"
pack --shards 2 --force source set; indexes
pack --shards 2 --force --binary-index yes source set; indexes
pack --shards 2 --force source set; indexes
echo "append"
pack --shards 2 --force --binary-index yes source set
pack --append source set; indexes
echo "merge, repair, index"
imrec merge set-*.rec all.rec >/dev/null 2>&1; echo "exit $?"
imrec index --binary all.rec >/dev/null; indexes
imrec merge --force set-00001-of-*.rec all.rec >/dev/null 2>&1; indexes
imrec index --binary all.rec >/dev/null
imrec index --force all.rec >/dev/null; indexes
imrec index --force --keys counter all.rec >/dev/null; indexes
imrec index --binary all.rec >/dev/null
imrec repair --force set-00000-of-*.rec all.rec >/dev/null 2>&1; echo "exit $?"; indexes
im2rec --binary-index maybe source other; echo "exit $?"
echo "auto: one record more than a million, and a million"
rm -f ./*.idxb
echo iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg== | base64 -d >one.png
seq 0 1000000 | sed 's/$/\t0\tone.png/' >more.lst
head -n 1000000 more.lst >million.lst
im2rec --quiet --pass-through more.lst . more.rec; indexes
im2rec --quiet --pass-through million.lst . million.rec; indexes
rm -f more.* million.*
