#!/usr/bin/env python3
"""fields.py SET.rec [CPU]: what fields and further images cost, in turns, on one CPU.

SET.rec has an index and no fields. Of its images are made, in a folder that goes again, records and archives: without fields; with a
caption of 100 bytes and JSON of 1 KB; and records with the same image again and a map of 16 bits. Prints for W1 (random
crop, mirror) medians and ranges of images/s, CPU time an image, and the medians of ratios to the first line of a group in the same turn.
"""
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import numpy as np
from PIL import Image

import imrec
from turns import COMMON, ratios, stay_on, summary, turn

WARM, TURNS = 3, 15
RESIZED = {"rand_crop": False, "random_resized_crop": True, "min_random_area": 0.08}
FIELDS = "%s with fields"
#: Group by group: label, set, parameters
GROUPS = [
    *([("%s without fields" % kind, kind, {}), (FIELDS % kind + ", images only", FIELDS % kind, {}),
       ("fields=txt", FIELDS % kind, {"fields": "txt"}), ("fields=txt,json", FIELDS % kind, {"fields": "txt,json"})]
      for kind in ("records", "tar")),
    [("images only", "pairs", {}), ("images=image,right", "pairs", {"images": "image,right"}),
     ("images=image,depth:uint16", "pairs", {"images": "image,depth:uint16"}),
     ("images only, random resized crop", "pairs", RESIZED),
     ("images=image,depth:uint16, the same", "pairs", {"images": "image,depth:uint16", **RESIZED}),
     ("images=none fields=txt", "pairs", {"images": "none", "fields": "txt"})],
]


def depth_of(image):
    """A smooth map of the image's size."""
    width, height = Image.open(io.BytesIO(image)).size
    y, x = np.mgrid[:height, :width]
    out = io.BytesIO()
    Image.fromarray((20 * y + 13 * x + 500 * np.sin(x / 40)).astype(np.uint16)).save(out, "png")
    return out.getvalue()


def texts(i):
    words = f"sample {i} shows something that a person has described in about a hundred bytes of plain text, for training"
    meta = json.dumps({"id": i, "tags": [f"tag{(i + k) % 97}" for k in range(100)]})
    return {"txt": words.encode()[:100], "json": meta.encode()[:1024]}


def write(folder, name, records, more):
    """An archive and records of it, with an index."""
    with tarfile.open(f"{folder}/{name}.tar", "w", format=tarfile.USTAR_FORMAT) as out:
        for i, record in enumerate(records):
            for extension, content in {"jpg": record.image, "cls": b"%d" % int(record.label), **more(i, record)}.items():
                head = tarfile.TarInfo(f"{i:08d}.{extension}")
                head.size = len(content)
                out.addfile(head, io.BytesIO(content))
    subprocess.run([sys.executable, "-m", "imrec", "merge", f"{folder}/{name}.tar", "--renumber", f"{folder}/{name}.rec"], check=True,
                   capture_output=True)


def make(path, folder):
    records = list(imrec.Records(path))
    write(folder, "plain", records, lambda i, record: {})
    write(folder, "fields", records, lambda i, record: texts(i))
    write(folder, "pairs", records[:len(records) // 3],
          lambda i, record: {**texts(i), "right": record.image, "depth": depth_of(record.image)})
    os.unlink(f"{folder}/pairs.tar")
    return {"records": path, "tar": f"{folder}/plain.tar", FIELDS % "records": f"{folder}/fields.rec",
            FIELDS % "tar": f"{folder}/fields.tar", "pairs": f"{folder}/pairs.rec"}


def opened_turn(path, how):
    """Opens anew: where its memory lies makes an iterator some percent faster or slower for as long as it lives."""
    with imrec.ImageRecordIter(path, **{**COMMON, "rand_crop": True, **how}) as batches:
        for _ in range(WARM):
            next(batches)
        return turn(batches)


def measure(group, sets):
    seen = [[] for _ in group]
    for _ in range(TURNS):
        for (_, kind, how), turns in zip(group, seen):
            turns.append(opened_turn(sets[kind], how))
    for (label, _, _), turns in zip(group, seen):
        speed, spent = ratios(turns, seen[0])
        print(f"{label:48} {summary(turns)}; {speed:.3f} of the first by time, {spent:.3f} by CPU time", flush=True)
    print()


if __name__ == "__main__":
    stay_on(sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        made = make(sys.argv[1], scratch)
        for rows in GROUPS:
            measure(rows, made)
