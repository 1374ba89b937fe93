#!/usr/bin/env python3
"""Kill packing at random moments, resume, and compare with a run that nobody disturbed.

kill_pack.py IM2REC RENDERED [KILLS [SEED]]: exit status 0, or 1 with what differs. Packs the shared
photographs, or where they are missing those that make_photos has rendered into RENDERED.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CASES = [  # every way in which files are cut
    ["--resize", "256"],
    ["--resize", "128", "--shards", "3"],
    ["--pass-through", "--shard-size", "3M"],
    ["--resize", "96", "--part", "1/2", "--threads", "3"],
]
PICTURES = 500  # at least: a run takes long enough to be killed


def build_folder(photos, root):
    """The photographs several times over, with some that cannot be packed in between."""
    paths = sorted(photos.glob("*/*.jpg"))
    for copy in range(-(-PICTURES // len(paths))):
        for path in paths:
            to = root / path.parent.name / f"{copy}_{path.name}"
            to.parent.mkdir(parents=True, exist_ok=True)
            to.symlink_to(path.resolve())
        first, last = root / paths[0].parent.name, root / paths[-1].parent.name
        (first / f"{copy}_empty.jpg").touch()
        whole = paths[0].read_bytes()
        (first / f"{copy}_torn.jpg").write_bytes(whole[: len(whole) // 2])
        (last / f"{copy}_text.jpg").write_text("no picture\n")


def files_of(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def command(im2rec, case, source, folder, *more):
    return [im2rec, "--quiet", "--report", str(folder / "report"), *case, *more, str(source), str(folder / "set.rec")]


def is_published(folder):
    """The manifest is there and the journal is gone: killed after the set's last file and before the exit."""
    return (folder / "set.manifest.json").exists() and not (folder / "set.journal.part").exists()


def disturb(run, seconds, rng):
    """Starts it and kills it somewhere; True when it had ended by itself."""
    process = subprocess.Popen(run, stderr=subprocess.PIPE)
    time.sleep(rng.random() * seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode != -signal.SIGKILL


def check_case(im2rec, case, source, work, kills, rng):
    calm, torn = work / "calm", work / "torn"
    for folder in (calm, torn):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    begin = time.monotonic()
    if subprocess.run(command(im2rec, case, source, calm)).returncode != 3:
        return "the calm run did not end with status 3"
    seconds = time.monotonic() - begin
    done = False
    for kill in range(kills):
        ended = disturb(command(im2rec, case, source, torn, "--resume"), 2.5 * seconds / kills, rng)
        done = ended or is_published(torn)  # then it has to be whole, which the comparison below asks
        if done:
            break
    if not done:
        status = subprocess.run(command(im2rec, case, source, torn, "--resume")).returncode
        if status != 3:
            return f"the resumed run ended with status {status}"
    left, right = files_of(calm), files_of(torn)
    if left.keys() != right.keys():
        return f"files differ: {sorted(left)} and {sorted(right)}"
    different = [name for name in left if left[name] != right[name]]
    return f"bytes differ: {different}" if different else None


def main(im2rec, rendered, kills=20, seed=1):  # kills: of all cases together
    here = pathlib.Path(__file__).resolve().parent
    shared = os.environ.get("IMREC_SHARED") or here.parent.parent.parent / "shared"
    photos, rng = pathlib.Path(shared) / "data" / "photos", random.Random(int(seed))
    if not photos.is_dir():
        print(f"{photos} is not there: rendered pictures instead")
        photos = pathlib.Path(rendered)
    work = pathlib.Path(tempfile.mkdtemp(prefix="imrec-kill-"))
    try:
        build_folder(photos, work / "source")
        for case in CASES:
            fault = check_case(os.path.abspath(im2rec), case, work / "source", work, int(kills) // len(CASES), rng)
            print(" ".join(case), "-", fault or "fine")
            if fault:
                return 1
    finally:
        shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
