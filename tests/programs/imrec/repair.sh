#!/usr/bin/env bash
# All intact records go into a new shard, byte for byte; the rest is listed.
make_set a.rec 20
mapfile -t at < <(imrec ls a.rec | cut -f2)
printf 'xxxxxxxx' | dd of=a.rec bs=1 seek="${at[3]}" conv=notrunc status=none
printf 'xxxx' | dd of=a.rec bs=1 seek=$((at[7] + 300)) conv=notrunc status=none
cp a.rec n.rec
kib() { sed -E 's/[0-9.]+ KiB/SIZE/; s/[0-9]+ B /SIZE /; s/0x[0-9a-f]{8}/HEX/g; s/bytes [0-9]+ to [0-9]+/RANGE/'; }
imrec repair a.rec whole.rec | kib
echo "exit ${PIPESTATUS[0]}"
imrec verify whole.rec | kib
cut -f1 whole.idx | tr '\n' ' '; echo
imrec repair a.rec whole.rec; echo "exit $?"
imrec repair --force --keys counter n.rec whole.rec | kib
cut -f1 whole.idx | tr '\n' ' '; echo
imrec repair --force a.rec a.rec; echo "exit $?"
imrec repair --json whole.rec again.rec | grep -v bytes
cmp whole.rec again.rec && ls again.*
