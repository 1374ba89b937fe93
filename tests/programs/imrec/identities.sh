#!/usr/bin/env bash
# insightface's files: a header and identities that name ranges of keys, and are no images.
make_set photos.rec 9
imrec export --quiet photos.rec photos >/dev/null
python3 - <<'PY'
import glob, struct

def record(f, idx, key, labels, image=b""):
    idx.append(f"{key}\t{f.tell()}\n")
    flag = len(labels) if len(labels) > 1 else 0
    body = struct.pack("<IfQQ", flag, 0 if flag else labels[0], key, 0)
    body += struct.pack(f"<{flag}f", *labels[:flag]) + image
    f.write(struct.pack("<II", 0xced7230a, len(body)) + body + b"\0" * (-len(body) % 4))

photos, idx, sizes, key = sorted(glob.glob("photos/*/*.jpg")), [], [4, 2, 3], 1
with open("train.rec", "wb") as f:
    for identity, size in enumerate(sizes):
        for photo in photos[key - 1:key - 1 + size]:
            record(f, idx, key, [identity, 1], open(photo, "rb").read())
            key += 1
    record(f, idx, 0, [key, key + len(sizes)])
    for i, size in enumerate(sizes):
        first = 1 + sum(sizes[:i])
        record(f, idx, key + i, [first, first + size])
open("train.idx", "w").writelines(idx)
PY
imrec info train.rec | grep -v -E '^(size|width|height)' | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec info --json train.rec | python3 -c '
import json, sys
c = json.load(sys.stdin)
print(c["records"], c["images"], c["metadata"], c["identities"], c["images_per_identity"], c["unreadable"])'
imrec ls train.rec | cut -f 3,4,7
imrec ls --json --from 9 --limit 1 train.rec | grep metadata
imrec verify train.rec | sed -E 's/, [0-9.]+ KiB//'
imrec verify --json train.rec | grep -E '"(images|metadata|fine)"'
for words in "" "path_imgidx=train.idx" "shuffle=1" "path_imgidx=train.idx shuffle=1"; do
    # shellcheck disable=SC2086 # words
    imrec batches --count 3 --out batches train.rec batch_size=3 data_shape=3,16,16 label_width=2 $words
    python3 -c '
raw = open("batches/ids.npy", "rb").read()[-72:]
print(sorted(int.from_bytes(raw[i:i + 8], "little") for i in range(0, 72, 8)))'
done
imrec cat train.rec 0
echo "cat: $?"
imrec cat --json train.rec 10 | grep -A 3 -E 'labels|metadata' | tr -d ' \n'
echo
imrec cat train.rec 3 | cmp - "$(find photos -name '*.jpg' | sort | sed -n 3p)" && echo same
imrec export --quiet train.rec again | sed -E 's/, [0-9.]+ KiB//'
imrec view --count 20 train.rec page.html
imrec repair --quiet train.rec whole.rec && cmp train.rec whole.rec && sort train.idx | diff - <(sort whole.idx) && echo repaired
imrec split --shards 2 train.rec cut.rec | cut -d, -f 1
echo "split: ${PIPESTATUS[0]}"
imrec verify --quiet 'cut-*.rec' | sed -E 's/, [0-9.]+ KiB//'
imrec sample --quiet --records 4 train.rec four.rec && wc -l <four.lst

echo "== a damaged one among them"
cp train.rec bad.rec
printf '\0\0\200?' | dd of=bad.rec bs=1 seek=$(($(stat -c %s bad.rec) - 8)) conv=notrunc status=none # [1, ..
printf '\0\0\220A' | dd of=bad.rec bs=1 seek=$(($(stat -c %s bad.rec) - 4)) conv=notrunc status=none # .. 18)
imrec info bad.rec | grep -E 'identities|images'
imrec verify bad.rec | sed -E 's/, [0-9.]+ KiB//; s/bytes [0-9]+ to [0-9]+/RANGE/'
