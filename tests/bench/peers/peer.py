"""What the scripts of the peers share: the two workloads, the protocol of turns, the check of a batch.

A peer is a module with
    NAMES          the rows that it fills ("ffcv" and "ffcv-raw")
    prepare(run)   makes its own files of the images in run.data, once; may be missing
    open(run)      a generator of (images, labels), endless, of whole batches
    numpy(x)       the array behind what open() yields; numpy.asarray if missing
    versions()     what is measured
It runs in the peer's own environment: nothing but the standard library and numpy is imported here.
"""
import argparse
import json
import os
import pathlib
import sys
import time
import traceback

BATCH = 128
SIDE = 224
BUFFER = 1024  # samples that trade places, where a peer shuffles by a buffer
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)
AREA = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)


class Run:
    def __init__(self, arguments):
        self.name = arguments.name
        self.workload = arguments.workload
        self.threads = arguments.threads
        self.data = pathlib.Path(arguments.data)
        self.resized_crop = self.workload == "w2"  # w1: a plain random crop

    @property
    def rec(self):
        return self.data / f"{self.workload}.rec"

    @property
    def idx(self):
        return self.data / f"{self.workload}.idx"

    @property
    def folder(self):
        """A folder a class."""
        return self.data / self.workload

    def files(self):
        """Paths and labels, as torchvision's ImageFolder numbers them."""
        classes = sorted(p for p in self.folder.iterdir() if p.is_dir())
        return [(p, k) for k, c in enumerate(classes) for p in sorted(c.iterdir())]

    def made(self, suffix):
        """Where prepare() puts a file of its own, and whether it must."""
        path = self.data / f"{self.name}-{self.workload}{suffix}"
        return path, not path.exists()


def check(data, labels, reference):
    """What is wrong with a batch, in words; an empty list if nothing is."""
    import numpy as np

    wrong = []
    if data.shape != (BATCH, 3, SIDE, SIDE) or data.dtype != np.float32:
        return [f"a batch is {data.dtype}{data.shape}, not float32({BATCH}, 3, {SIDE}, {SIDE})"]
    if not data.flags.c_contiguous:
        wrong.append("a batch is not NCHW in memory")
    low = [-m / s for m, s in zip(MEAN, STD)]
    high = [(255 - m) / s for m, s in zip(MEAN, STD)]
    for c in range(3):
        part = data[:, c]
        if part.min() < low[c] - 1e-3 or part.max() > high[c] + 1e-3 or part.max() - part.min() < 2:
            wrong.append(f"channel {c} is in {part.min():.2f}..{part.max():.2f}, not {low[c]:.2f}..{high[c]:.2f}")
        if reference and abs(float(part.mean()) - reference["mean"][c]) > 0.25:
            wrong.append(f"channel {c} has the mean {part.mean():.2f}, the images {reference['mean'][c]:.2f}")
    labels = np.asarray(labels).reshape(-1)
    if labels.shape != (BATCH,) or (labels != labels.astype(int)).any() or labels.min() < 0:
        wrong.append(f"labels are {labels.dtype}{labels.shape}")
    elif reference and (labels.max() >= reference["classes"] or len(set(labels)) < reference["classes"] / 2):
        wrong.append(f"{len(set(labels))} classes in a batch of a shuffled set of {reference['classes']}")
    return wrong


def say(**what):
    print("peer:" + json.dumps(what), flush=True)


def turn(batches, seconds, threads):
    """Takes batches for some seconds, from one's arrival to another's; the first ones were ready before."""
    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.2 * seconds:
        next(batches)
    say(state="begin")
    count, begin = 0, time.perf_counter()
    while True:
        next(batches)
        count += 1
        passed = time.perf_counter() - begin
        if passed >= seconds and count % threads == 0:
            break
    say(state="end", images=count * BATCH, seconds=passed)


def measure(module, run):
    begin = time.perf_counter()
    batches = module.open(run)
    data, labels = next(batches)
    first = time.perf_counter() - begin
    numpy = getattr(module, "numpy", None)
    if numpy is None:
        from numpy import asarray as numpy
    reference = run.data / f"{run.workload}.reference.json"
    reference = json.loads(reference.read_text()) if reference.exists() else None
    wrong = check(numpy(data), numpy(labels), reference)
    del data, labels
    say(state="ready", first_batch_s=first, wrong=wrong, versions=module.versions())
    for line in sys.stdin:
        word, _, value = line.strip().partition(" ")
        if word != "go":
            break
        turn(batches, float(value), run.threads)
    sys.stdout.flush()
    os._exit(0)  # some peers hang in their destructors


def main(module):
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("prepare", "measure", "pack"))
    parser.add_argument("--name", default=module.NAMES[0], choices=module.NAMES)
    parser.add_argument("--workload", choices=("w1", "w2"), default="w1")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", required=True)
    run = Run(parser.parse_args())
    what = parser.parse_args().what
    try:
        if what == "measure":
            measure(module, run)
        elif what == "pack":
            pack(module, run)
        else:
            getattr(module, "prepare", lambda run: None)(run)
    except Exception as error:  # whatever a peer raises is what the table says of it
        traceback.print_exc()
        say(state="failed", reason=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200])
        sys.stdout.flush()
        os._exit(1)


def pack(module, run):
    begin = time.perf_counter()
    count = module.pack(run)
    say(state="packed", images=count, seconds=time.perf_counter() - begin)


def resized(path, side=256, quality=95):
    """An image at a shorter side of 256 as JPEG, by Pillow: what packers without a resizer of their own need."""
    import io

    from PIL import Image

    image = Image.open(path).convert("RGB")
    scale = side / min(image.size)
    image = image.resize([round(scale * s) for s in image.size], Image.BILINEAR)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()
