#!/usr/bin/env bash
# An index made anew is the one that was written; the keys are ids or a counter.
make_set a.rec 10
cp a.idx was.idx
imrec index a.rec; echo "exit $?"
imrec index --force a.rec && cmp a.idx was.idx && echo same
imrec index --keys=counter --out c.idx a.rec
cut -f1 c.idx | tr '\n' ' '; echo
cut -f2 c.idx | cmp - <(cut -f2 a.idx) && echo same
cat a.rec a.rec >twice.rec
imrec index --json twice.rec
wc -l <twice.idx
imrec index --out x.idx a.rec twice.rec; echo "exit $?"
imrec index --keys=name a.rec; echo "exit $?"
imrec index --binary a.rec; imrec index --binary a.rec; echo "exit $?"
imrec verify a.rec >/dev/null && echo "verified"
cp a.idxb twice.idxb
imrec verify twice.rec >verify.txt; echo "exit $?"; grep -o 'twice.idxb is the index of a shard.*' verify.txt
imrec index --binary --out x.idx a.rec; echo "exit $?"
