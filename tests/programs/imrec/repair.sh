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
# The class list of the shards is the new one's, where they agree.
make_set first.rec 3
make_set second.rec 3
printf 'ant\nbee\n' >first.classes.txt
imrec repair first.rec named.rec >/dev/null; cmp first.classes.txt named.classes.txt; echo "copied $?"
imrec repair 'first.rec;second.rec' both.rec 2>&1 | grep 'class list'; ls both.*
cp first.classes.txt second.classes.txt
imrec repair 'first.rec;second.rec' both.rec --force >/dev/null; cmp first.classes.txt both.classes.txt; echo "copied $?"
for i in 0 1; do imrec repair first.rec "of-0000$i-of-00002.rec" >/dev/null; done; ls of*classes* of*rec
printf 'cat\n' >both.classes.txt
rm both.rec both.idx both.crc
imrec repair first.rec both.rec; echo "exit $?"; ls both.*
imrec repair --force first.rec both.rec >/dev/null; cmp first.classes.txt both.classes.txt; echo "copied $?"
printf 'ant\nant\n' >first.classes.txt
imrec repair first.rec plain.rec 2>&1 | sed 's/, .* kept.*//'; ls plain.*
