#!/usr/bin/env bash
# What the iterator delivers, as NumPy files, over the ends of sweeps, and going on from a position.
make_set a.rec 10
cat >npy.py <<'PY'
import ast, array, sys
def load(path):
    raw = open(path, "rb").read()
    assert raw[:8] == b"\x93NUMPY\x01\x00" and (10 + raw[8] + 256 * raw[9]) % 64 == 0
    n = 10 + raw[8] + 256 * raw[9]
    head, body = ast.literal_eval(raw[10:n].decode()), raw[n:]
    size = int(head["descr"][2:])
    for side in head["shape"]:
        size *= side
    assert size == len(body) and not head["fortran_order"], path
    kind = {"<f4": "f", "<u8": "Q", "|u1": "B", "|i1": "b", "<f2": "H"}[head["descr"]]
    return head["descr"], head["shape"], array.array(kind, body).tolist()
PY
small=("data_shape=3,24,24" batch_size=4)
show() { python3 -c '
from npy import load
import sys
print(*load(sys.argv[1] + "/data.npy")[:2])
print(*load(sys.argv[1] + "/labels.npy"))
print(*load(sys.argv[1] + "/ids.npy"))
print(*load(sys.argv[1] + "/valid.npy"))' "$1"; }
imrec batches a.rec "${small[@]}" --count 4 --out pad
show pad
imrec batches a.rec "${small[@]}" --count 3 --out partial last_batch=partial dtype=uint8 layout=NHWC --json
show partial
imrec batches a.rec "${small[@]}" --count 2 --out half dtype=float16 shuffle=1 rand_crop=1 seed=3
imrec batches a.rec "${small[@]}" --count 9 --out all dtype=float16 shuffle=1 rand_crop=1 seed=3
imrec batches a.rec "${small[@]}" --count 7 --out rest dtype=float16 shuffle=1 rand_crop=1 seed=3 \
    --from half/position.json
python3 -c '
from npy import load
for name in "data", "labels", "ids", "valid":
    whole = load("all/" + name + ".npy")[2]
    parts = load("half/" + name + ".npy")[2] + load("rest/" + name + ".npy")[2]
    print(name, "goes on as if it had not stopped:", parts == whole)'
cmp all/position.json rest/position.json && ls rest
imrec batches a.rec "${small[@]}" --count 3 --out drawn dtype=uint8 layout=NHWC rand_crop=1 rand_mirror=1 record_draws=1
imrec batches a.rec "${small[@]}" --count 3 --out whole dtype=uint8 layout=NHWC data_shape=3,30,40
ls drawn
python3 -c '
import json
from npy import load
draws = [json.loads(line) for line in open("drawn/draws.jsonl")]
_, shape, data = load("drawn/data.npy")
_, _, whole = load("whole/data.npy")
print(len(draws), sum(d is None for d in draws), "mirrored", sum(d is not None and d["mirror"] for d in draws) > 0)
# Image 0 is 40 x 30: its crop is where the draw says.
d = draws[0]
for y in range(24):
    row = [whole[((d["y"] + y) * 40 + d["x"] + x) * 3:][:3] for x in range(24)]
    row = row[::-1] if d["mirror"] else row
    assert data[y * 72:][:72] == [v for px in row for v in px], y'
imrec batches a.rec "${small[@]}" --count 1 --out auto path_imgidx=auto --json | grep '"index'
imrec batches a.rec "${small[@]}" --count 1 --out no path_imgidx=none --from auto/position.json; echo "exit $?"
imrec batches a.rec "${small[@]}" --count 1 --out no path_imgidx=auto --from pad/position.json; echo "exit $?"
mv a.idx away.idx
imrec batches a.rec "${small[@]}" --count 1 --out no path_imgidx=auto --from auto/position.json; echo "exit $?"
imrec batches a.rec "${small[@]}" --count 1 --out away path_imgidx=away.idx --from auto/position.json; echo "exit $?"
head -9 away.idx >a.idx
imrec batches a.rec "${small[@]}" --count 1 --out no path_imgidx=auto; echo "exit $?"
imrec batches a.rec "${small[@]}" --count 1 --out nine path_imgidx=a.idx; echo "exit $?"
mv away.idx a.idx
echo '{' >broken.json
imrec batches a.rec "${small[@]}" --count 1 --out no --from broken.json; echo "exit $?"
imrec batches a.rec "${small[@]}" --count 1 --out no --from missing.json; echo "exit $?"
imrec batches a.rec data_shape=3,24 --count 1 --out no; echo "exit $?"
imrec batches a.rec shufle=1 --count 1 --out no; echo "exit $?"
imrec batches a.rec dtype=uint8 mean_r=3 --count 1 --out no; echo "exit $?"
imrec batches a.rec shuffle --count 1 --out no; echo "exit $?"
imrec batches --count 1 --out no missing.rec; echo "exit $?"
imrec batches a.rec "${small[@]}" num_parts=200 part_index=199 --count 1 --out no; echo "exit $?"
[ ! -e no ] && echo "nothing was written"
imrec batches a.rec count=2; echo "exit $?"
