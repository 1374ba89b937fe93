#!/usr/bin/env python3
"""containers.py SET.rec [CPU]: the same images read from records, a tar archive, TFRecord and a folder, in turns, on one CPU.

SET.rec has an index. The others are made of it in a folder that goes again; the archive by webdataset, and by imrec in 20 shards, which are
not listed. Prints, for W1 (random crop) and
W2 (random resized crop), medians and ranges of images/s, CPU time an image, and the medians of ratios to the records of the same turn.
"""
import subprocess
import sys
import tempfile

import webdataset

import imrec
from turns import COMMON, compare, stay_on

TURNS = 9
WORK = {"W1": {"rand_crop": True}, "W2": {"random_resized_crop": True, "min_random_area": 0.08}}


def make(records, folder):
    def run(*words):
        subprocess.run([sys.executable, "-m", "imrec", *words], check=True, capture_output=True)

    run("export", records, f"{folder}/files")
    run("convert", records, f"{folder}/a.tfrecord")
    run("convert", records, "--shards", "20", f"{folder}/s.tar")
    with webdataset.TarWriter(f"{folder}/a.tar") as out:
        for i, record in enumerate(imrec.Records(records)):
            out.write({"__key__": f"{i:08d}", "jpg": record.image, "cls": int(record.label)})
    return {"records": records, "tar": f"{folder}/a.tar", "TFRecord": f"{folder}/a.tfrecord", "folder": f"{folder}/files",
            "20 tars": f"{folder}/s-*.tar"}


def measure(name, sets):
    unlisted = {"list_shards": "never", "shuffle_window": 64 << 20}
    opened = {kind: imrec.ImageRecordIter(path, **COMMON, **WORK[name], **(unlisted if kind == "20 tars" else {}))
              for kind, path in sets.items()}
    compare(name, opened, TURNS)


if __name__ == "__main__":
    stay_on(sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        made = make(sys.argv[1], scratch)
        for work in WORK:
            measure(work, made)
