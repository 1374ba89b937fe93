#!/usr/bin/env python3
"""Kill `imrec export` at random moments and call it again, until it has ended: the folder is that of a run
that nobody disturbed, no file was ever torn under its name, and files of others are as they were.

kill_export.py IM2REC IMREC [KILLS [SEED]]: exit status 0, or 1 with what differs.
"""
import fcntl
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

IMAGES = 800
WIDTH = 120
FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where making files durable takes no time


def bmp(seed):
    rows = random.Random(seed).randbytes(3 * WIDTH * WIDTH)
    return b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) + struct.pack(
        "<IiiHHIIiiII", 40, WIDTH, WIDTH, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows


def png(seed):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes([seed % 7]) * WIDTH for _ in range(WIDTH))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, WIDTH, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make_set(im2rec, folder):
    for i in range(IMAGES):
        name = f"{'abc'[i % 3]}/{i:04}"
        for path, data in ((folder / "images" / f"{name}.bmp", bmp(i)), (folder / "masks" / f"{name}.png", png(i))):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    subprocess.run([im2rec, "--quiet", "--pass-through", "--masks", folder / "masks", folder / "images",
                    folder / "set.rec"], check=True)
    lines = [line.split("\t") for line in (folder / "set.lst").read_text().splitlines()]
    for i, line in enumerate(lines):  # names that no file can have, or that others have, too
        line[2] = {0: "\u00e4" * 130 + line[2], 1: "x" * 252 + ".bm", 2: "d" * 300 + "/" + line[2],
                   3: "deep/" * 900 + line[2], 4: "same.bmp"}.get(i % 60, line[2])
    (folder / "set.lst").write_text("".join("\t".join(line) + "\n" for line in lines))


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def torn(folder, calm):
    """Files under their own names that are not what a calm run wrote."""
    if not folder.exists():
        return []
    return [name for name, data in files_of(folder).items()
            if not name.startswith("export.") and calm.get(name, data) != data]


def time_writing(run, folder):
    """How long a run takes until all images are there: making them durable may take longer."""
    begin = time.monotonic()
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL)
    seconds = None
    while process.poll() is None:
        if seconds is None and len(list(folder.rglob("*.bmp"))) == IMAGES:
            seconds = time.monotonic() - begin
        time.sleep(0.01)
    if process.returncode != 0:
        raise RuntimeError(f"a calm run ended with {process.returncode}")
    return seconds or time.monotonic() - begin


def packs_again(im2rec, work, folder):
    """The list that an export writes gives back the set, bytes and masks and all."""
    subprocess.run([im2rec, "--quiet", "--pass-through", "--masks", folder / "masks", folder / "export.lst", folder,
                    work / "again.rec"], check=True)
    return (work / "again.rec").read_bytes() == (work / "set.rec").read_bytes()


def check(im2rec, imrec, work, kills, rng):
    calm, folder = work / "calm", work / "torn"
    run = [imrec, "export", "--quiet", work / "set.rec"]
    seconds = time_writing([*run, calm], calm)
    whole = files_of(calm)
    if not packs_again(im2rec, work, calm):
        return "what was exported packs into another set"
    stopped = 0
    for _ in range(kills):
        process = subprocess.Popen([*run, folder], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(rng.random() * seconds * 2 / kills)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[1]
        wrong = torn(folder, whole)
        if wrong:
            return f"torn files under their names: {wrong}"
        if process.returncode != -signal.SIGKILL:
            if process.returncode != 0:
                return f"a call ended with {process.returncode}: {said!r}"
            break
        stopped += 1
        if (folder / "export.part").exists() and (folder / "export.lst").exists():
            continue  # killed between the last two steps
        if (folder / "export.lst").exists():
            break
    else:
        last = subprocess.run([*run, folder], capture_output=True)
        if last.returncode != 0:
            return f"the last call ended with {last.returncode}: {last.stderr!r}"
    if files_of(folder) != whole:
        return f"the folder differs: {sorted(files_of(folder).keys() ^ whole.keys())}"
    print(f"killed {stopped} times, then as if nothing had been")
    return check_others(imrec, work, run, whole)


def check_others(imrec, work, run, whole):
    """A file of somebody else where an image belongs, in a folder that was begun."""
    folder = work / "others"
    process = subprocess.Popen([*run, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list(folder.glob("*/*.bmp")):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if not (folder / "export.part").exists():
        return "nothing was begun"
    with open(folder / "export.part", "r+b") as marker:
        fcntl.lockf(marker, fcntl.LOCK_EX)
        second = subprocess.run([*run, folder], capture_output=True)
        if second.returncode != 1 or b"is being written by another export" not in second.stderr:
            return f"two exports at once: {second.stderr!r}"
    missing = sorted(name for name in whole if name.endswith(".bmp") and not (folder / name).exists())[0]
    (folder / missing).parent.mkdir(parents=True, exist_ok=True)
    (folder / missing).write_bytes(b"mine")
    (folder / "notes.txt").write_bytes(b"mine too")
    if subprocess.run([*run, folder], stdout=subprocess.DEVNULL).returncode != 0:
        return "a file of somebody else ended the export"
    found = files_of(folder)
    if found.pop(missing) != b"mine" or found.pop("notes.txt") != b"mine too":
        return "a file of somebody else was overwritten"
    if sorted(found.pop(name) for name in list(found) if name.endswith(".bmp")) != sorted(
            data for name, data in whole.items() if name.endswith(".bmp")):
        return "an image is missing beside a file of somebody else"
    again = subprocess.run([*run, folder], capture_output=True)
    if again.returncode != 1 or b"is not empty" not in again.stderr:
        return "a finished folder was written to again"
    return None


def main():
    im2rec, imrec = sys.argv[1:3]
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    with tempfile.TemporaryDirectory(dir=FAST) as name:
        work = pathlib.Path(name)
        make_set(im2rec, work)
        why = check(im2rec, imrec, work, kills, rng)
    if why is not None:
        print(why)
    return why is not None


if __name__ == "__main__":
    sys.exit(main())
