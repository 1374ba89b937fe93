#!/usr/bin/env python3
"""sources.py SET.rec [CPU]: the same images read from records, and from what Python has, in turns, on one CPU.

SET.rec has an index. Of its images are made: a table of Arrow in memory, a Parquet file, a data set of Hugging Face if `datasets` is there,
and an object of Python whose fetch() gives 256 KB a call. Prints, for W1 (random crop) and W2 (random resized crop), medians and ranges of
images/s, CPU time an image, and the medians of ratios to the records of the same turn.
"""
import sys
import tempfile

import pyarrow
import pyarrow.parquet

import imrec
from turns import COMMON, compare, stay_on

TURNS, FETCHED = 11, 256 << 10
WORK = {"W1": {"rand_crop": True}, "W2": {"random_resized_crop": True, "min_random_area": 0.08}}


class Fetched:
    """Samples of a list, by one call for several."""

    def __init__(self, images, labels):
        self._images, self._labels = images, labels
        self.record_bytes = sum(map(len, images)) // len(images)

    def __len__(self):
        return len(self._images)

    def fetch(self, indices):
        return [(self._images[i], self._labels[i]) for i in indices]


def make(path, folder):
    """Name, data and own parameters of each."""
    records = [(bytes(r.image), float(r.label)) for r in imrec.Records(path)]
    images, labels = map(list, zip(*records))
    table = pyarrow.table({"image": pyarrow.array(images, pyarrow.binary()), "label": labels})
    pyarrow.parquet.write_table(table, f"{folder}/a.parquet", row_group_size=256)
    mine = Fetched(images, labels)
    made = {"records": (path, {}), "Arrow": (table, {}), "Parquet": (f"{folder}/a.parquet", {}),
            "Python": (mine, {"fetch_records": max(1, FETCHED // mine.record_bytes)})}
    try:
        import datasets
        made["Hugging Face"] = (datasets.Dataset(table), {})
    except ImportError:
        print("without datasets of Hugging Face: it is not installed")
    return made


def measure(name, sets):
    opened = {kind: imrec.ImageRecordIter(data, **COMMON, **WORK[name], **own) for kind, (data, own) in sets.items()}
    compare(name, opened, TURNS)


if __name__ == "__main__":
    stay_on(sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        made = make(sys.argv[1], scratch)
        for work in WORK:
            measure(work, made)
