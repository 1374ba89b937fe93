"""Readers that are measured in turns on one CPU: what bench scripts of the package share."""
import os
import resource
import statistics
import time

BATCH, BATCHES = 128, 8
#: of every reader
COMMON = {"data_shape": (3, 224, 224), "batch_size": BATCH, "shuffle": True, "rand_mirror": True, "verbose": False, "preprocess_threads": 1,
          "last_batch": "wrap"}


def stay_on(words):
    """On the CPU that is the second word, or CPU 0."""
    os.sched_setaffinity(0, {int(words[1]) if len(words) > 1 else 0})


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def turn(batches):
    """The next batches of a reader: images/s, and microseconds of CPU time an image."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    for _ in range(BATCHES):
        next(batches)
    images = BATCH * BATCHES
    return images / (time.perf_counter() - wall), (cpu_seconds() - cpu) / images * 1e6


def summary(turns):
    """Medians and the range of a reader's turns."""
    speeds, times = zip(*turns)
    return (f"{statistics.median(speeds):6.0f} images/s ({min(speeds):.0f} to {max(speeds):.0f}), {statistics.median(times):4.0f} us CPU an "
            "image")


def ratios(turns, first):
    """Medians of a reader's speed in parts of the first one's in the same turn: by time, by CPU time."""
    return (statistics.median(a / b for (a, _), (b, _) in zip(turns, first)),
            statistics.median(b / a for (_, a), (_, b) in zip(turns, first)))


def compare(title, opened, turns):
    """Readers by name, one turn of each after the other, the first ones being records: prints what came of it, and closes them."""
    for batches in opened.values():
        turn(batches)
    seen = {kind: [] for kind in opened}
    for _ in range(turns):
        for kind, batches in opened.items():
            seen[kind].append(turn(batches))
    for kind, done in seen.items():
        by_time, by_cpu = ratios(done, seen["records"])
        print(f"{title} {kind:12} {summary(done)}, {by_time:.3f} of records, {by_cpu:.3f} by CPU time", flush=True)
    for batches in opened.values():
        batches.close()
