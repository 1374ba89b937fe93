#!/usr/bin/env bash
# The page of draws: every augmenter, every parameter of augmentation, one image.
make_set a.rec 5
view() { imrec view --augmented "$@" preprocess_threads=1; }
view --grid 3 a.rec grid.html data_shape=3,24,24 resize=26 >grid.txt
# A row of the table that stands nowhere on the page has no image: give it one in tools/view/augmenters.c.
for group in augmentation segmentation audio; do
    param_rows $group | awk 'NR > 2 {print $2}'
done | tr -cd 'a-z_\n' | sort >listed
[ "$(wc -l <listed)" -gt 50 ] || echo 'too few parameters'
grep -o '<tr><td><code>[a-z_]*' grid.html | sed 's/.*>//' | sort -u >shown
comm -23 listed shown
diff <(grep -o '<a href="#[a-z-]*' grid.html | sed 's/.*#//') \
    <(grep -o '<h2 id="[a-z-]*' grid.html | sed 's/.*"//; /not-shown/d')
grep -o '<h2 id="boxes[^"]*' grid.html
sed -n '/<h2 id="brightness"/,/<h2 id="contrast"/p' grid.html >one.html
grep -c '<img ' one.html
sed -n 's/.*<br>\(brightness\) [0-9.]*, .*/\1/p' one.html
echo "alone: $(sed -n '/<h2 id="mirror"/,/<h2 id="order"/p' grid.html | grep -c '<img ')"
view --grid 3 a.rec again.html data_shape=3,24,24 resize=26 >again.txt
cmp grid.html again.html
# Another image: of another partition.
view --grid 2 a.rec other.html data_shape=3,24,24 num_parts=5 part_index=2 >other.txt
grep -o 'id 10[0-9], sweep' other.html | sort -u
# Boxes: only where the label is one.
printf '0\t2\t5\t1\t0.2\t0.2\t0.7\t0.7\tcat/p102.jpg\n' >b.lst
imrec export --quiet a.rec files >/dev/null
im2rec --quiet --pack-label b.lst files b.rec
view --grid 2 b.rec boxes.html data_shape=3,24,24 resize=26 >boxes.txt
param_rows detection | awk 'NR > 2 {print $2}' | tr -cd 'a-z_\n' | sort >listed
grep -o '<tr><td><code>[a-z_]*' boxes.html | sed 's/.*>//' | sort -u >shown
comm -23 listed shown
grep -q '<b>1 box</b>' boxes.html || echo 'no box'
view --grid 2 b.rec only.html data_shape=3,24,24 preset=ImageDetRecordIter >only.txt
grep '^<h2 id=' only.html | grep -vc boxes
# Masks and keypoints.
cat >marked.py <<'PY'
import struct, sys, zlib
def png(w, h, channels, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    raw = b"".join(b"\0" + bytes(r) for r in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, {1: 0, 3: 2}[channels], 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff
w, h = 48, 40
objects = [(0, 4, 6, 20, 30, 12, 18), (2, 26, 10, 44, 36, 30, 20)]  # class, corners, keypoint
image = [[60] * (3 * w) for _ in range(h)]
mask = [[0] * w for _ in range(h)]
label = [2, 8]
for c, x0, y0, x1, y1, kx, ky in objects:
    for y in range(y0, y1):
        image[y][3 * x0:3 * x1] = [230 if k == c else 20 for k in range(3)] * (x1 - x0)
        mask[y][x0:x1] = [c + 1] * (x1 - x0)
    label += [c, x0 / w, y0 / h, x1 / w, y1 / h, (kx + .5) / w, (ky + .5) / h, 2]
m = png(w, h, 1, mask)
body = struct.pack("<IfQQ", len(label), 0, 7, 0) + struct.pack(f"<{len(label)}f", *label) + png(w, h, 3, image)
if len(sys.argv) > 2:
    body += m + struct.pack("<II", len(m), crc32c(m)) + b"\x8bmask1\r\n"
open(sys.argv[1], "wb").write(struct.pack("<II", 0xced7230a, len(body)) + body + b"\0" * (-len(body) % 4))
PY
python3 marked.py plain.rec
python3 marked.py masked.rec with_mask
for set in plain masked; do
    view --grid 2 $set.rec $set.html data_shape=3,40,40 resize=44 keypoints=1 | sed 's/.*: //'
    sed -n '/<h2 id="rotate"/,/<h2 id="rotate-fixed"/p' $set.html >$set.rotated
    grep -c 'keypoints: 2 visible' $set.rotated
    grep -o 'data:image[^"]*' $set.rotated >$set.images
done
diff -q plain.images masked.images
grep -c 'class="bad"' masked.html
imrec batches masked.rec data_shape=3,40,48 batch_size=1 masks=uint16 label_width=18 --count 1 --out masks
python3 -c '
raw = open("masks/masks.npy", "rb").read()
print(raw[10:-2 * 40 * 48].split(b"}")[0].decode(), sorted(set(raw[-2 * 40 * 48::2])))'
view --grid 2 a.rec grey.html data_shape=1,24,24 >grey.txt; echo "exit $?"
sed -n '/<h2 id="hue"/,/<h2 id="gray/s/.*class="bad">\([^<]*\).*/\1/p' grey.html
imrec view --grid 2 a.rec no.html; echo "exit $?"
view --grid 2 missing.rec no.html; echo "exit $?"
view --grid 2 a.rec no.html data_shape=3; echo "exit $?"
[ ! -e no.html ]
