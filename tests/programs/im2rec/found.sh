#!/usr/bin/env bash
# From annotations to batches: boxes painted into images, told as COCO's JSON and as Pascal VOC's
# XML, packed, augmented, and found again where the batch's labels say.
cat >paint.py <<'PY'
import json, os, random, struct
dice = random.Random(5)
names = ["red", "green", "blue"]
os.makedirs("photos"), os.makedirs("voc")
coco = {"images": [], "annotations": [], "categories": [{"id": 10 + c, "name": n} for c, n in enumerate(names)]}
for i in range(12):
    w, h = dice.randrange(70, 130), dice.randrange(70, 130)
    rows = [[(60, 60, 60)] * w for _ in range(h)]
    objects = []
    for c in range(1 + i % 3):  # each in a column of its own
        x0 = c * (w // 3) + dice.randrange(1, 6)
        x1 = x0 + dice.randrange(9, w // 3 - 7)
        y0 = dice.randrange(0, h - 20)
        y1 = y0 + dice.randrange(10, h - y0)
        for y in range(y0, y1):
            rows[y][x0:x1] = [tuple(230 if k == c else 20 for k in range(3))] * (x1 - x0)
        objects.append((c, x0, y0, x1, y1))
    pad = b"\0" * (-3 * w % 4)
    pixels = b"".join(b"".join(bytes((b, g, r)) for r, g, b in row) + pad for row in reversed(rows))
    with open(f"photos/{i:02}.bmp", "wb") as f:
        f.write(b"BM" + struct.pack("<IIIIiiHHIIiiII", 54 + len(pixels), 0, 54, 40, w, h, 1, 24, 0, len(pixels), 0, 0, 0, 0))
        f.write(pixels)
    coco["images"].append({"id": 500 + i, "file_name": f"{i:02}.bmp", "width": w, "height": h})
    xml = f"<annotation><filename>{i:02}.bmp</filename><size><width>{w}</width><height>{h}</height></size>"
    for c, x0, y0, x1, y1 in objects:
        coco["annotations"].append({"id": len(coco["annotations"]), "image_id": 500 + i, "category_id": 10 + c,
                                    "bbox": [x0, y0, x1 - x0, y1 - y0], "iscrowd": 0})
        xml += (f"<object><name>{names[c]}</name><difficult>{c % 2}</difficult><bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin>"
                f"<xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox></object>")
    open(f"voc/{i:02}.xml", "w").write(xml + "</annotation>\n")
json.dump(coco, open("coco.json", "w"))
open("names", "w").write("\n".join(names) + "\n")
PY
cat >look.py <<'PY'
import ast, array, sys
def load(path):
    raw = open(path, "rb").read()
    n = 10 + raw[8] + 256 * raw[9]
    head = ast.literal_eval(raw[10:n].decode())
    return head["shape"], array.array({"|u1": "B", "<f4": "f"}[head["descr"]], raw[n:])
(count, height, width, _), data = load(sys.argv[1] + "/data.npy")
(_, wide), labels = load(sys.argv[1] + "/labels.npy")
slack = float(sys.argv[2])
found = lost = 0
for s in range(count):
    label = labels[s * wide:(s + 1) * wide]
    rows, columns = int(label[1]), int(label[2])
    for at in range(6, 4 + int(label[3]), 6):
        c = int(label[at])
        box = [label[at + 1] * columns, label[at + 2] * rows, label[at + 3] * columns, label[at + 4] * rows]
        if box[2] - box[0] < 4 or box[3] - box[1] < 4:
            continue
        xs, ys = set(), set()
        for y in range(rows):
            at_row = (s * height + y) * width * 3
            row = data[at_row:at_row + columns * 3]
            for x, (p, q, r) in enumerate(zip(row[c::3], row[(c + 1) % 3::3], row[(c + 2) % 3::3])):
                if p - q > 105 and p - r > 105:
                    xs.add(x), ys.add(y)
        assert xs, (s, c, box)
        there = [min(xs), min(ys), 1 + max(xs), 1 + max(ys)]
        assert all(abs(a - b) <= slack for a, b in zip(box, there)), (s, c, box, there)
        found += 1
print("found", found > 10)
PY
python3 paint.py
im2rec --quiet --pass-through --classes names --annotations coco.json photos coco.rec
im2rec --quiet --pass-through --classes names --annotations voc photos voc.rec
# Images and boxes are those of both, whoever told of them; ids and the difficult mark are not.
cat >boxes.awk <<'AWK'
{ printf "%s", $NF; for (i = 4; i < NF; i++) if (i % 6 != 3) printf " %s", $i; print "" }
AWK
cmp <(awk -f boxes.awk coco.lst | sort) <(awk -f boxes.awk voc.lst | sort) && echo equal
det=(preset=ImageDetRecordIter "data_shape=3,72,96" batch_size=12 dtype=uint8 layout=NHWC verbose=0 shuffle=1)
far=(rand_crop_prob=0.8 num_crop_sampler=2 "min_crop_scales=0.4,0.7" min_crop_aspect_ratios=0.5
    max_crop_aspect_ratios=2 "min_crop_object_coverages=0.3,0.9" rand_pad_prob=0.5 max_pad_scale=1.5
    rand_mirror_prob=0.5)
for set in coco voc; do
    for mode in force fit; do
        imrec batches $set.rec "${det[@]}" "${far[@]}" resize_mode=$mode --count 1 --out $set.$mode
        python3 look.py $set.$mode 1.01
    done
done
# Shares of the sides stay what they are when the packer makes images smaller.
im2rec --quiet --resize 64 --quality 100 --classes names --annotations coco.json photos small.rec
imrec batches small.rec "${det[@]}" --count 1 --out small
python3 look.py small 3.5
# CNTK's binary format holds labels of one width: shorter ones get objects without area, which readers drop.
im2rec --quiet --pass-through --format cbf --classes names --annotations coco.json photos ascbf.cbf
for set in coco.rec ascbf.cbf; do
    imrec batches $set "${det[@]}" shuffle=0 --count 1 --out same.$set
done
for file in data labels ids; do
    cmp same.coco.rec/$file.npy same.ascbf.cbf/$file.npy
done
imrec batches ascbf.cbf "${det[@]}" "${far[@]}" --count 1 --out ascbf
python3 look.py ascbf 1.01
im2rec --quiet --format cbf --resize 64 --center-crop --pixels --class-from flat photos pixels.cbf
imrec batches pixels.cbf "${det[@]}" --count 1 --out none; echo "status $?"
# Shares of a list agree on that width: together they are a set.
{ awk "NF < 16" coco.lst; awk "NF >= 16" coco.lst; } >ordered.lst
for k in 0 1 2; do
    im2rec --quiet --pass-through --pack-label --format cbf --part $k/3 ordered.lst photos share$k.cbf
done
imrec batches 'share0.cbf;share1.cbf;share2.cbf' "${det[@]}" --count 1 --out shares
python3 look.py shares 1.01
