#!/usr/bin/env bash
# Records one a line, from anywhere, at most so many; damage between them is said on stderr.
make_set a.rec 9 2
fields() { awk -F'\t' '{print $1, ($2 % 4), $3, $4, $6, $7}'; }
imrec ls 'a-*.rec' | fields
echo --
imrec ls 'a-*.rec' --from 7 | fields
echo --
imrec ls a-00000-of-00002.rec --from=1 --limit=2 | fields
echo --
imrec ls a-00000-of-00002.rec --limit=0
imrec ls a-00001-of-00002.rec --json --limit 1 | python3 -c '
import json, sys
r = json.load(sys.stdin)["records"][0]
print(r["shard"], r["offset"], r["id"], r["labels"], r["width"], r["height"], r["format"], r["kind"])'
printf 'xxxxxxxx' | dd of=a-00000-of-00002.rec bs=1 seek=0 conv=notrunc status=none
imrec ls a-00000-of-00002.rec | fields
exit "${PIPESTATUS[0]}"
