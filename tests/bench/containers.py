#!/usr/bin/env python3
"""containers.py SET.rec [CPU]: the same images read from records, a tar archive, TFRecord and a folder, in turns, on one CPU.

SET.rec has an index. The others are made of it in a folder that goes again; the archive by webdataset. Prints, for W1 (random crop) and
W2 (random resized crop), medians and ranges of images/s, CPU time an image, and the medians of ratios to the records of the same turn.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import webdataset

import imrec

BATCH, BATCHES, TURNS = 128, 8, 9
WORK = {"W1": {"rand_crop": True}, "W2": {"random_resized_crop": True, "min_random_area": 0.08}}


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make(records, folder):
    def run(*words):
        subprocess.run([sys.executable, "-m", "imrec", *words], check=True, capture_output=True)

    run("export", records, f"{folder}/files")
    run("convert", records, f"{folder}/a.tfrecord")
    with webdataset.TarWriter(f"{folder}/a.tar") as out:
        for i, record in enumerate(imrec.Records(records)):
            out.write({"__key__": f"{i:08d}", "jpg": record.image, "cls": int(record.label)})
    return {"records": records, "tar": f"{folder}/a.tar", "TFRecord": f"{folder}/a.tfrecord", "folder": f"{folder}/files"}


def turn(batches):
    wall, cpu = time.perf_counter(), cpu_seconds()
    for _ in range(BATCHES):
        next(batches)
    images = BATCH * BATCHES
    return images / (time.perf_counter() - wall), (cpu_seconds() - cpu) / images * 1e6


def measure(name, sets):
    opened = {kind: imrec.ImageRecordIter(path, data_shape=(3, 224, 224), batch_size=BATCH, shuffle=True, rand_mirror=True, verbose=False,
                                          preprocess_threads=1, last_batch="wrap", **WORK[name]) for kind, path in sets.items()}
    for batches in opened.values():
        turn(batches)
    seen = {kind: [] for kind in opened}
    for _ in range(TURNS):
        for kind, batches in opened.items():
            seen[kind].append(turn(batches))
    for kind, turns in seen.items():
        speeds, times = zip(*turns)
        ratio = statistics.median(a / b for a, (b, _) in zip(speeds, seen["records"]))
        print(f"{name} {kind:9} {statistics.median(speeds):6.0f} images/s ({min(speeds):.0f} to {max(speeds):.0f}), "
              f"{statistics.median(times):4.0f} us CPU an image, {ratio:.3f} of records", flush=True)
    for batches in opened.values():
        batches.close()


if __name__ == "__main__":
    os.sched_setaffinity(0, {int(sys.argv[2]) if len(sys.argv) > 2 else 0})
    with tempfile.TemporaryDirectory() as scratch:
        made = make(sys.argv[1], scratch)
        for work in WORK:
            measure(work, made)
