#!/usr/bin/env bash
# One image by id (with and without an index) and by offset, byte for byte.
make_set a.rec 12
imrec export --quiet a.rec out >/dev/null
imrec cat a.rec 107 | cmp - out/bee/p107.jpg && echo same
rm a.idx
imrec cat a.rec 107 | cmp - out/bee/p107.jpg && echo same
offset=$(imrec ls a.rec | awk -F'\t' '$3 == 104 {print $2}')
imrec cat a.rec --offset "$offset" | cmp - out/bee/p104.jpg && echo same
imrec cat a.rec 104 --record | tail -c +25 | cmp - out/bee/p104.jpg && echo same
imrec cat a.rec 104 --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["id"], r["labels"], r["width"], r["height"], r["kind"])'
imrec cat a.rec 99999; echo "exit $?"
imrec cat a.rec --offset 4; echo "exit $?"
imrec cat a.rec x; echo "exit $?"
imrec cat a.rec; echo "exit $?"
# An index that lies is not believed.
imrec index a.rec
sed -i 's/^107\t.*/107\t0/' a.idx
imrec cat a.rec 107 | cmp - out/bee/p107.jpg && echo same
sed -i "s/^107\t.*/107\t$(($(imrec ls a.rec | awk -F'\t' '$3 == 107 {print $2}') - 4))/" a.idx
imrec cat a.rec 107 | cmp - out/bee/p107.jpg && echo same
