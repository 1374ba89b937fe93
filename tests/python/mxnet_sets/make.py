#!/usr/bin/env python3
"""make.py FOLDER - writes sets into FOLDER, with MXNet: its recordio, its pack_img, its im2rec.py.

Those next to it were made so, by mxnet 1.9.1 with numpy 1.23.5 and opencv-python-headless 4.8.1.78 (README.md).

    payloads.rec    records of any bytes, some with RecordIO's magic in them, under keys without order
    images.rec      images in PNG and JPEG, under headers with one label, several, none, and wide ids
    faces.rec       as insightface's script packs: images, then a header of key 0, then identities
    sorted.rec      the same header first, images and identities without order
    photos.lst      of a folder of images, by im2rec.py --list --recursive
    passed.rec      of that list, by --pass-through; coded.rec by --resize 16 --encoding .png
    labels.rec      of labels.lst, which has three labels a line, by --pack-label --num-thread 2
"""
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kept_images import HEIGHT, WIDTH, png, rows  # noqa: E402

MAGIC = struct.pack("<I", 0xced7230a)
#: key, bytes
PAYLOADS = [(90, b""), (7, b"a"), (2**40, b"four"), (3, MAGIC), (8, b"xy" + MAGIC), (5, b"1234" + MAGIC + b"tail"), (0, MAGIC * 3),
            (6, b"1234" + MAGIC * 2 + b"x"), (1, bytes(range(256)) + MAGIC)]
#: flag, label, id, id2, format; the first is that of image 0
HEADERS = [(0, 3, 10, 0, ".png"), (0, 0.25, 9, 2**40, ".png"), (0, [1, 2.5, -3], 8, 0, ".png"), (7, [4], 2**33, 1, ".png"),
           (0, 5.0, 6, 0, ".jpg"), (0, [6, 6], 5, 0, ".jpg")]
#: images of each identity
FACES = [4, 1, 3]
CLASSES = ["ant", "bee", "cat"]


def records_of_faces():
    """Key, labels, image or None: as the script writes them."""
    images, ranges, key = [], [], 1
    for who, size in enumerate(FACES):
        ranges.append([key, key + size])
        images += [(key + i, [who, 1], key + i) for i in range(size)]
        key += size
    header = (0, [key, key + len(FACES)], None)
    return images, header, [(key + i, labels, None) for i, labels in enumerate(ranges)]


def write_records(mx, path, records):
    out = mx.recordio.MXIndexedRecordIO(f"{path}.idx", f"{path}.rec", "w")
    for key, data in records:
        out.write_idx(key, data)
    out.close()


def pack_image(mx, numpy, header, i, kind):
    pixels = numpy.frombuffer(b"".join(rows(i)), numpy.uint8).reshape(HEIGHT, WIDTH, 3)
    return mx.recordio.pack_img(mx.recordio.IRHeader(*header), pixels[:, :, ::-1], quality=9 if kind == ".png" else 95, img_fmt=kind)


def write_faces(mx, numpy, path, records):
    def packed(key, labels, i):
        header = (2, labels, key, 0)
        return mx.recordio.pack(mx.recordio.IRHeader(*header), b"") if i is None else pack_image(mx, numpy, header, i, ".png")
    write_records(mx, path, [(key, packed(key, labels, i)) for key, labels, i in records])


def write_photos(folder):
    """Nine images in folders of classes."""
    for i in range(9):
        place = folder / CLASSES[i % len(CLASSES)]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.png").write_bytes(png(i))


def im2rec(mx, *words):
    tool = Path(mx.__file__).parent / "tools" / "im2rec.py"
    subprocess.run([sys.executable, str(tool), *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def write_with_im2rec(mx, folder, photos):
    write_photos(photos)
    im2rec(mx, "--list", "--recursive", folder / "photos", photos)
    lines = (folder / "photos.lst").read_text().splitlines()
    for name, words in (("passed", ["--pass-through"]), ("coded", ["--resize", "16", "--encoding", ".png", "--quality", "9"])):
        (folder / f"{name}.lst").write_text("\n".join(lines) + "\n")
        im2rec(mx, *words, folder / name, photos)
        os.unlink(folder / f"{name}.lst")
    wide = ["\t".join([cut[0], cut[1], "0.5", cut[0], cut[2]]) for cut in (line.split("\t") for line in lines)]
    (folder / "labels.lst").write_text("\n".join(wide) + "\n")
    im2rec(mx, "--pack-label", "--pass-through", "--num-thread", "2", folder / "labels", photos)


def write_all(folder, photos):
    import mxnet as mx
    import numpy
    folder, mixed = Path(folder), random.Random(3)
    write_records(mx, folder / "payloads", PAYLOADS)
    write_records(mx, folder / "images", [(header[2], pack_image(mx, numpy, header, i, kind)) for i, (*header, kind) in enumerate(HEADERS)])
    images, header, identities = records_of_faces()
    write_faces(mx, numpy, folder / "faces", [*images, header, *identities])
    write_faces(mx, numpy, folder / "sorted", [header, *mixed.sample(images + identities, len(images) + len(identities))])
    write_with_im2rec(mx, folder, Path(photos))


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as scratch:
        write_all(sys.argv[1], Path(scratch) / "photos")
