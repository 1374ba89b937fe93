"""Reads sets for tests/soak/soak.py: a request a line of JSON, an answer a line.

    {"do": "read", "path": ..., "options": {...}, "sweeps": 1}   opens an iterator, reads and closes it
    {"do": "keep", "name": ..., "path": ..., "options": {...}}   opens one that stays open
    {"do": "more", "name": ..., "sweeps": 1}                     reads on with it
    {"do": "turn", ...}                                          as read, but closes in mid-sweep and goes on from the position
    {"do": "gauge"}                                              bytes that malloc() has given and were not freed
    {"do": "limit", "bytes": N}                                  no more address space than it has now, and N

Each sweep is answered by what was delivered (id, label and a checksum of the pixels of every slot that is called a sample),
how many failed, and what was warned of. An error of the library is its name and its sentence.
"""
import ctypes
import gc
import json
import logging
import resource
import sys
import zlib

import imrec

WARNED = []
KEPT = {}


class Listener(logging.Handler):
    def emit(self, record):
        WARNED.append(record.getMessage())


def note(seen, batch):
    """Slots that are samples; what the batch says of the others."""
    good = batch.valid & (batch.status == 0)
    for i in good.nonzero()[0]:
        seen["samples"].append((int(batch.ids[i]), float(batch.labels[i]), zlib.crc32(batch.data[i].tobytes())))
    seen["failed"] += batch.failed
    seen["replaced"] += batch.replaced
    for i in (~good).nonzero()[0]:  # nothing but zeros may be in them
        seen["dirty"] += bool(batch.data[i].any() or batch.labels[i])


def batches_of(it, sweeps):
    """Batches of one sweep, those with failures too."""
    batches = iter(sweeps)
    while True:
        try:
            yield next(batches)
        except StopIteration:
            return
        except imrec.DataError as error:
            if error.batch is None:
                raise
            yield error.batch


def sweep_of(it, stop_after=None):
    """Reads one sweep of an iterator; ends earlier after so many batches."""
    WARNED.clear()
    before = it.stats()
    seen = {"samples": [], "failed": 0, "replaced": 0, "dirty": 0, "error": None, "ended": True}
    try:
        for n, batch in enumerate(batches_of(it, it), 1):
            note(seen, batch)
            if n == stop_after and not batch.sweep_end:
                seen["ended"] = False
                break
    except imrec.Error as error:
        seen["error"] = [type(error).__name__, str(error)]
    after = it.stats()
    seen["damaged_ranges"] = after["damaged_ranges"] - before["damaged_ranges"]
    seen["warned"] = list(WARNED)
    return seen


def opened(ask):
    return imrec.ImageRecordIter(ask["path"], **ask["options"])


def read(ask):
    with opened(ask) as it:
        return [sweep_of(it) for _ in range(ask["sweeps"])]


def turn(ask):
    with opened(ask) as it:
        first = sweep_of(it, ask["after"])
        state = it.state_dict()
    if first["ended"]:
        return [first]
    ask["options"].update(ask["then"])
    with opened(ask) as it:
        it.load_state_dict(state)
        return [first, sweep_of(it)]


def keep(ask):
    KEPT[ask["name"]] = opened(ask)


def more(ask):
    return [sweep_of(KEPT[ask["name"]]) for _ in range(ask["sweeps"])]


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def gauge(ask):
    gc.collect()
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return 0
    libc.mallinfo2.restype = Mallinfo2
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def limit(ask):
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + ask["bytes"], resource.RLIM_INFINITY))


DO = {"read": read, "turn": turn, "keep": keep, "more": more, "gauge": gauge, "limit": limit}


def main():
    logger = logging.getLogger("imrec")
    logger.addHandler(Listener())
    logger.propagate = False
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            answer = {"ok": DO[ask["do"]](ask)}
        except (imrec.Error, MemoryError) as error:
            answer = {"error": [type(error).__name__, str(error)]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
