#!/usr/bin/env bash
# Several images of each sample: their files, their sheet, their measurements; what is refused.
make_set a.rec 12
cat >npy.py <<'PY'
import ast, sys
def load(path):
    raw = open(path, "rb").read()
    n = 10 + raw[8] + 256 * raw[9]
    head, body = ast.literal_eval(raw[10:n].decode()), raw[n:]
    row = len(body) // head["shape"][0]
    return head["shape"], [body[i:i + row] for i in range(0, len(body), row)]
PY
plain=("data_shape=3,24,24" dtype=uint8 shuffle=1 rand_crop=1 rand_mirror=1 seed=3)
crops=("data_shape=3,24,24" dtype=uint8 random_resized_crop=1 "multi_crop=2x24,3x10x8"
    "multi_crop_area=0.4:1,0.05:0.4")
imrec batches a.rec "${plain[@]}" batch_size=4 --count 3 --out one
imrec batches a.rec "${plain[@]}" batch_size=12 num_views=3 --count 3 --out three
python3 -c '
from npy import load
(s, one), (t, three) = load("one/data.npy"), load("three/data.npy")
print(s, t, "the first view is the plain iterator'\''s:", one == three[::3],
      "others are not:", sum(a == b for a, b in zip(one, three[1::3])) < 3)
ids = [load(d + "/ids.npy")[1] for d in ("one", "three")]
print("ids are repeated:", [i for i in ids[0] for _ in range(3)] == ids[1])'
imrec batches a.rec "${crops[@]}" batch_size=4 --count 3 --out crops
ls crops
python3 -c '
from npy import load
for i in range(5):
    shape, rows = load("crops/data%s.npy" % ("_%d" % i if i else ""))
    print(shape, len(set(rows)))'
steps=("data_shape=3,24,24" dtype=uint8 batch_size=6 "data_shape_schedule=1:3,10,12")
imrec batches a.rec "${steps[@]}" --count 3 --out steps; echo "exit $?"
imrec batches a.rec "${steps[@]}" --count 2 --out steps0
imrec batches a.rec "${steps[@]}" --count 2 --out steps1 --from steps0/position.json
python3 -c '
from npy import load
print(load("steps0/data.npy")[0], load("steps1/data.npy")[0])'
imrec view --augmented a.rec sheet.html --count 10 "${crops[@]}"
grep -o 'sweep 0, view [0-9]*' sheet.html | tr '\n' ';'; echo
imrec view --augmented a.rec sheet.html --count 7 "${plain[@]}" num_views=3
grep -o 'view [0-9]' sheet.html | tr '\n' ';'; echo
for way in num_views=4 "multi_crop=1x24,2x9 multi_crop_augment=hue=0.1;gaussian_blur=1,hue=0"; do
    read -ra words <<<"$way"
    imrec bench a.rec data_shape=3,24,24 rand_crop=1 batch_size=8 "${words[@]}" --seconds 0.01 --repeat 1 --threads 1 \
        --quiet --json | python3 -c '
import json, sys
b = json.load(sys.stdin)
print(b["views"], all(r["views_per_s"] > 0 and r["views_per_s_decoded_apart"] > 0 for r in b["runs"]))'
done
imrec bench a.rec data_shape=3,24,24 batch_size=8 num_views=2 --seconds 0.01 --repeat 1 --threads 1 --quiet |
    grep -A1 'views of'
imrec batches a.rec "${plain[@]}" batch_size=10 num_views=3 --count 1 --out no; echo "exit $?"
imrec batches a.rec "${plain[@]}" multi_crop=2x20 --count 1 --out no; echo "exit $?"
imrec batches a.rec "${plain[@]}" data_shape_schedule=1:160 --count 1 --out no; echo "exit $?"
[ ! -e no ] && echo "nothing was written"
