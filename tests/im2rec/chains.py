#!/usr/bin/env python3
"""One bit flips in a packed set, then two commands that copy sets run one after the other: the damage is
still found at the end, or a command refuses, or the record is gone and was named.

chains.py IM2REC IMREC: exit status 0, or 1 with the first chain that launders. Bits flip in the head, the
header, the label, the image, its padding, its mask, the mask's trailer, and the checksums.
"""
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

RECORDS = 12
TARGET = 5  # whose bits flip
MAGIC = 0xCED7230A
MASK_TRAILER = 16
FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where making files durable takes no time


def bmp(seed):
    """7 x 5 px of noise: any flipped bit of them is an image all the same."""
    noise = random.Random(seed)
    rows = b"".join(bytes(noise.randrange(1, 200) for _ in range(21)) + bytes(3) for _ in range(5))
    return b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) + struct.pack(
        "<IiiHHIIiiII", 40, 7, 5, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows


def png(seed):
    """A mask of 7 x 5 px."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes((seed + x + y) % 3 for x in range(7)) for y in range(5))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 7, 5, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Failed(Exception):
    pass


class Tools:
    """The two programs, and what they said so far."""

    def __init__(self, im2rec, imrec):
        self.paths = {"im2rec": im2rec, "imrec": imrec}
        self.said = ""

    def run(self, program, *args):
        done = subprocess.run([self.paths[program], *map(str, args)], capture_output=True, text=True, check=False)
        self.said += done.stderr + done.stdout
        return done.returncode


def make_set(tools, folder):
    images, masks = folder / "images", folder / "masks"
    for i in range(RECORDS + 2):
        name = f"{'abc'[i % 3]}/{i:02}"
        root = folder / "more" if i >= RECORDS else images
        for path, data in ((root / f"{name}.bmp", bmp(i)), (masks / f"{name}.png", png(i))):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    packed = tools.run("im2rec", "--quiet", "--pass-through", "--masks", masks, images, folder / "set.rec")
    if packed != 0:
        raise Failed(f"im2rec ended with {packed}: {tools.said}")


def records(path):
    """(offset, framed bytes, record) of a shard without damage."""
    data, at, found = path.read_bytes(), 0, []
    while at + 8 <= len(data):
        magic, word = struct.unpack_from("<II", data, at)
        length = word & (1 << 29) - 1
        if magic != MAGIC or word >> 29:
            raise Failed(f"{path}: no whole record at {at}")
        found.append((at, data[at:at + 8 + (length + 3) // 4 * 4], data[at + 8:at + 8 + length]))
        at += 8 + (length + 3) // 4 * 4
    return found


def contents(paths):
    """{id: [(labels, what stands behind the header), ...]} of all shards."""
    found = {}
    for path in paths:
        for _, _, record in records(path):
            flag, label, key, _ = struct.unpack_from("<IfQQ", record)
            labels = struct.unpack_from(f"<{flag}f", record, 24) if flag else (label,)
            found.setdefault(key, []).append((labels, record[24 + 4 * flag:]))
    return found


def flips(folder):
    """{name: (file, byte, bit)}: where one bit flips."""
    at, framed, record = records(folder / "set.rec")[TARGET]
    mask = len(png(0))
    entry = 16 + 8 * TARGET
    places = {
        "magic": (at, 2), "length": (at + 4, 3), "longer": (at + 5, 1), "flag": (at + 7, 6), "header flag": (at + 8, 0),
        "label": (at + 12 + 3, 4), "id": (at + 16, 1), "id2": (at + 24, 0), "image": (at + 8 + 24 + 70, 5),
        "mask": (at + 8 + len(record) - MASK_TRAILER - mask // 2, 2), "trailer": (at + 8 + len(record) - 3, 1),
    }
    if len(framed) > 8 + len(record):
        places["padding"] = (at + len(framed) - 1, 7)
    found = {name: ("set.rec", *place) for name, place in places.items()}
    found["checksum"] = ("set.crc", entry + 5, 4)
    found["checksum's length"] = ("set.crc", entry, 2)
    found["checksums' end"] = ("set.crc", 16 + 8 * RECORDS + 20, 0)
    return found


def shards(folder):
    return sorted(folder.glob("set*.rec"))


# Each takes the folders of its input and its output, sets called set.rec, one with images, and flags; it
# returns the exit status.

def split(tools, source, out, made, flags):
    return tools.run("imrec", "split", "--quiet", *flags, "--shards", 2, *shards(source), out / "set.rec")


def merge(tools, source, out, made, flags):
    return tools.run("imrec", "merge", "--quiet", *flags, *shards(source), out / "set.rec")


def sample(tools, source, out, made, flags):
    return tools.run("imrec", "sample", "--quiet", *flags, "--fraction", 1, *shards(source), out / "set.rec")


def relabel(tools, source, out, made, flags):
    status = tools.run("imrec", "relabel", "--quiet", *flags, "--unlisted", "keep", *shards(source),
                       made / "set.lst", out / "set.rec")  # the labels that the records have
    return 0 if status == 3 and not flags else status  # appended records have no line


def append(tools, source, out, made, flags):
    if flags or not (source / "set.classes.txt").exists():
        return None  # damage of the old set always ends it; and classes without names are others
    for path in source.glob("set[.-]*"):
        shutil.copy(path, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    status = tools.run("im2rec", "--quiet", "--append", "--pass-through", "--masks", made / "masks",
                       made / "more", out / "set.rec")
    if status == 1:
        if before != {path.name: path.read_bytes() for path in out.iterdir()}:
            raise Failed("append failed and did not leave the set as it was")
        shutil.rmtree(out)
    return status


def repair(tools, source, out, made, flags):
    if flags:
        return None
    return tools.run("imrec", "repair", "--quiet", *shards(source), out / "set.rec")


def export(tools, source, out, made, flags):
    to = out / "files"
    status = tools.run("imrec", "export", "--quiet", *flags, ";".join(map(str, shards(source))), to)
    if status not in (0, 3):
        return status
    packed = tools.run("im2rec", "--quiet", "--pass-through", "--pack-label", "--masks", to / "masks",
                       to / "export.lst", to, out / "set.rec")
    return max(status, packed) if packed in (0, 3) else packed


COMMANDS = [split, merge, sample, relabel, append, repair, export]


def is_named(said, key):
    return re.search(rf"\bids?\b[ 0-9,]*\b{key}\b", said) is not None


def check_end(tools, folder, original):
    """Every record that is not what was packed is found by verify, and every one that is gone was named."""
    said = tools.said
    if tools.run("imrec", "verify", "--quiet", *shards(folder)) != 0:
        return
    found = contents(shards(folder))
    for key, packed in original.items():
        if key not in found:
            if not is_named(said, key):
                raise Failed(f"record {key} is gone and nobody said so")
        elif found.pop(key) != [packed]:
            raise Failed(f"record {key} is not what was packed, and verify finds nothing")
    if any(key < RECORDS for key in found):
        raise Failed("a record is there that was never packed")


def run_chain(tools, made, chain, flags, original):
    """True when it came to its end."""
    tools.said, source = "", made
    for number, command in enumerate(chain):
        out = made / f"after{number}"
        out.mkdir()
        status = command(tools, source, out, made, flags)
        if status is None:
            return False
        if status not in (0, 3):
            if status != 1 or shards(out):
                raise Failed(f"{command.__name__} ended with {status} and left {shards(out)}")
            return False
        source = out
    check_end(tools, source, original)
    return True


def flipped(folder, where):
    name, at, bit = where
    data = bytearray((folder / name).read_bytes())
    data[at] ^= 1 << bit
    (folder / name).write_bytes(data)


def check(tools, base, original, where, name):
    ended = 0
    for first in COMMANDS:
        for second in COMMANDS:
            for flags in ([], ["--on-error", "skip"]):
                with tempfile.TemporaryDirectory(dir=FAST) as work:
                    folder = pathlib.Path(work, "set")
                    shutil.copytree(base, folder)
                    if where is not None:
                        flipped(folder, where)
                    try:
                        ended += run_chain(tools, folder, [first, second], flags, original)
                    except Failed as why:
                        raise Failed(f"{name}: {first.__name__}, {second.__name__} {' '.join(flags)}: {why}\n"
                                     f"{tools.said}") from None
    return ended


def main():
    tools = Tools(*sys.argv[1:3])
    with tempfile.TemporaryDirectory(dir=FAST) as work:
        base = pathlib.Path(work)
        make_set(tools, base)
        original = contents([base / "set.rec"])
        original = {key: found[0] for key, found in original.items()}
        whole = check(tools, base, original, None, "nothing flipped")
        if whole != 7 * 7 - 2 + 5 * 5:  # append cannot follow repair or export, and has no flag, as repair has none
            raise Failed(f"of a whole set {whole} chains came to their end")
        for name, where in flips(base).items():
            ended = check(tools, base, original, where, name)
            print(f"{name}: {ended} chains came to their end, nothing is laundered")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        print(error)
        sys.exit(1)
