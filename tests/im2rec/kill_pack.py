#!/usr/bin/env python3
"""Kill packing at random moments, resume, and compare with a run that nobody disturbed.

kill_pack.py IM2REC RENDERED [KILLS [SEED]]: exit status 0, or 1 with what differs. Packs the shared
photographs, or where they are missing those that make_photos has rendered into RENDERED.

Runs are killed (SIGKILL) or asked to end (SIGTERM), some while a second one wants the same set; one
case has so many shards that most of its time is publishing.
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
    ["--pass-through", "--check", "none", "--shards", "150"],  # most of it is publishing
]
IMAGES = 500  # at least: a run takes long enough to be killed
HEARD_SECONDS = 20  # SIGTERM: two are promised, on a machine that does nothing else
HELD = b"set.lock.part is held by"


def build_folder(photos, root):
    """The photographs several times over, with some that cannot be packed in between."""
    paths = sorted(photos.glob("*/*.jpg"))
    for copy in range(-(-IMAGES // len(paths))):
        for path in paths:
            to = root / path.parent.name / f"{copy}_{path.name}"
            to.parent.mkdir(parents=True, exist_ok=True)
            to.symlink_to(path.resolve())
        first, last = root / paths[0].parent.name, root / paths[-1].parent.name
        (first / f"{copy}_empty.jpg").touch()
        whole = paths[0].read_bytes()
        (first / f"{copy}_torn.jpg").write_bytes(whole[: len(whole) // 2])
        (last / f"{copy}_text.jpg").write_text("no image\n")


def files_of(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def command(im2rec, case, source, folder, *more):
    return [im2rec, "--quiet", "--report", str(folder / "report"), *case, *more, str(source), str(folder / "set.rec")]


def is_published(folder):
    """The manifest is there and the journal is gone: killed after the set's last file and before the exit."""
    return (folder / "set.manifest.json").exists() and not (folder / "set.journal.part").exists()


def start(run):
    return subprocess.Popen(run, stderr=subprocess.PIPE)


def compete(run, rng):
    """A second run of the same set, begun while the first one holds it, or has just ended. None: as it should be."""
    process = start(run)
    if rng.random() < 0.3:
        process.kill()
    said = process.communicate()[1]
    if process.returncode in (0, 3, -signal.SIGKILL) or (process.returncode == 1 and HELD in said):
        return None
    return f"the second run ended with status {process.returncode}: {said.decode()}"


def disturb(run, seconds, rng):
    """Starts it and ends it somewhere. (whether it had ended by itself, what is wrong)"""
    process, fault = start(run), None
    time.sleep(rng.random() * seconds)
    if rng.random() < 0.5:
        fault = compete(run, rng)
    asked = rng.random() < 0.4
    process.send_signal(signal.SIGTERM if asked else signal.SIGKILL)
    begin = time.monotonic()
    said = process.communicate()[1]
    if asked and time.monotonic() - begin > HEARD_SECONDS:
        fault = "SIGTERM was not heard"
    if process.returncode in (-signal.SIGKILL, -signal.SIGTERM):  # the latter before it listens
        return False, fault
    if process.returncode == 1 and (b"interrupted; resume continues" in said or HELD in said):
        return False, fault
    return True, fault


def check_case(im2rec, case, source, work, kills, rng):
    calm, torn = work / "calm", work / "torn"
    for folder in (calm, torn):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    begin = time.monotonic()
    if subprocess.run(command(im2rec, case, source, calm)).returncode != 3:
        return "the calm run did not end with status 3"
    seconds = time.monotonic() - begin
    for _ in range(kills):
        ended, fault = disturb(command(im2rec, case, source, torn, "--resume"), 2.5 * seconds / kills, rng)
        if fault:
            return fault
        if ended or is_published(torn):
            break
    status = subprocess.run(command(im2rec, case, source, torn, "--resume")).returncode
    if status not in (0, 3):  # 0: it was published already, and is complete
        return f"the resumed run ended with status {status}"
    if subprocess.run(command(im2rec, case, source, torn, "--resume")).returncode != 0:
        return "the finished set is not taken for one"
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
        print(f"{photos} is not there: rendered images instead")
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
