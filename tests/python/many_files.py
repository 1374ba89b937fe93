"""many_files.py IM2REC MAKE_PHOTOS COUNT: packs COUNT small files from a folder, then from a tar, and reads both sets over 8
partitions and over 8 ranks of order=global. Every file must be delivered exactly once, with its own bytes. Prints a row of
seconds and memory each; exits with 1 if something is wrong."""
import io
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np

import imrec

IM2REC, MAKE_PHOTOS, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
CLASSES, PARTS = 1000, 8
COMMENT = b"\xff\xd8\xff\xfe\x00\x0a"  # a comment of 8 bytes at the beginning of a JPEG


def small_images(work):
    """Photo-like images of 32 px."""
    subprocess.run([MAKE_PHOTOS, work / "photos", "--count", "500", "--size", "small"], check=True)
    subprocess.run([IM2REC, "--quiet", "--resize", "32", "--quality", "80", work / "photos", work / "small.rec"], check=True)
    images = [bytes(r.image) for r in imrec.open(work / "small.rec")]
    assert len(images) == 500 and all(i[:2] == b"\xff\xd8" for i in images)
    return images


def image(images, i):
    """File i: no two are equal."""
    return COMMENT + struct.pack("<Q", i) + images[i % len(images)][2:]


def write_folder(folder, images):
    for c in range(CLASSES):
        (folder / f"{c:04d}").mkdir(parents=True)
    for i in range(COUNT):
        with open(f"{folder}/{i % CLASSES:04d}/{i:08d}.jpg", "wb") as f:
            f.write(image(images, i))


def write_tar(path, images):
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for i in range(COUNT):
            for suffix, data in (("jpg", image(images, i)), ("cls", b"%d" % (i % CLASSES))):
                info = tarfile.TarInfo(f"{i:08d}.{suffix}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))


def check_records(rec, images):
    """Every file is one record, with its own bytes and label; the id of each file, by its number."""
    ids = np.full(COUNT, -1, np.int64)
    for r in imrec.open(rec):
        i = struct.unpack_from("<Q", r.image, len(COMMENT))[0]
        assert ids[i] == -1 and r.image == image(images, i) and int(r.label) == i % CLASSES, i
        ids[i] = r.id
    assert len(set(ids.tolist())) == COUNT and (ids >= 0).all()
    return ids


def read_partitions(rec, ids, **order):
    """Decoded, as ranks do."""
    seen = []
    for k in range(PARTS):
        with imrec.ImageRecordIter(rec, data_shape=(3, 32, 32), batch_size=256, num_parts=PARTS, part_index=k, dtype="uint8",
                                   last_batch="partial", **order) as it:
            seen += [(b.ids[b.valid], b.labels[b.valid]) for b in it.sweep()]
    got = np.concatenate([i for i, _ in seen])
    assert len(got) == COUNT and (np.sort(got) == np.sort(ids)).all()
    number = np.empty(ids.max() + 1, np.int64)
    number[ids] = np.arange(COUNT)
    assert (np.concatenate([label for _, label in seen]).ravel() == number[got] % CLASSES).all()


class Timer:
    def __init__(self, what):
        self.what, self.begin = what, time.monotonic()

    def end(self, memory=""):
        seconds = time.monotonic() - self.begin
        print(f"| {self.what} | {seconds:.0f} s | {COUNT / seconds:.0f} | {memory} |", flush=True)


def pack(*words):
    """The peak memory of im2rec, from a process of its own: what is inherited from this one would count."""
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", code, IM2REC, "--quiet", "--pass-through", *words], check=True,
                          stdout=subprocess.PIPE, text=True)
    return f"{int(done.stdout) >> 10} MiB"


def read_all(what, rec, images):
    timer = Timer(f"{what}: every record compared with its file")
    ids = check_records(rec, images)
    timer.end()
    for order in ({"shuffle": False}, {"shuffle": True}, {"shuffle": True, "order": "global"},
                  {"shuffle": True, "order": "global", "locality": "chunk"}):
        words = " ".join(f"{name}={int(value) if value in (False, True) else value}" for name, value in order.items())
        timer = Timer(f"{what}: decoded over {PARTS} ranks, {words}")
        read_partitions(rec, ids, **order)
        timer.end()


def main(work):
    images = small_images(work)
    print(f"| {COUNT} files, {sum(map(len, images)) / len(images) + 12:.0f} bytes on average | | images/s | peak memory |", flush=True)
    timer = Timer("folder: files written")
    write_folder(work / "files", images)
    timer.end()
    timer = Timer("folder: packed by im2rec into 8 shards")
    timer.end(pack("--shards", "8", work / "files", work / "folder.rec"))
    shutil.rmtree(work / "files")
    read_all("folder", work / "folder.manifest.json", images)
    timer = Timer("tar: written")
    write_tar(work / "all.tar", images)
    timer.end()
    timer = Timer("tar: packed by im2rec")
    timer.end(pack(work / "all.tar", work / "tar.rec"))
    (work / "all.tar").unlink()
    read_all("tar", work / "tar.rec", images)


with tempfile.TemporaryDirectory(prefix="imrec-many-") as folder:
    main(Path(folder))
