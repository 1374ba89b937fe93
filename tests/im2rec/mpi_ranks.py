#!/usr/bin/env python3
"""im2rec --mpi on several ranks: the bytes of one process's set, also when ranks or the whole job are killed.

mpi_ranks.py IM2REC MPIEXEC RENDERED [SEED]: exit status 0, 77 where no job starts here, or 1 with what differs.
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

from kill_pack import build_folder, files_of

CASES = [["--resize", "128", "--shards", "12"], ["--resize", "128", "--tasks", "9"],
         ["--pass-through", "--shard-size", "3M", "--tasks", "7"], ["--pass-through", "--format", "cbf"]]


def launcher(mpiexec, ranks):
    """mpiexec with what allows more ranks than cores, and root: Open MPI wants words for both."""
    said = subprocess.run([mpiexec, "--version"], check=False, capture_output=True).stdout
    more = ["--oversubscribe", "--allow-run-as-root"] if b"Open" in said else []
    return [mpiexec, *more, "-n", str(ranks)]


def command(im2rec, case, source, folder):
    return [im2rec, "--mpi", "--quiet", "--threads", "1", *case, "--report", str(folder / "report"), str(source),
            str(folder / ("set.cbf" if "cbf" in case else "set.rec"))]


def calm_run(im2rec, case, source, folder):
    words = [w for i, w in enumerate(case) if w != "--tasks" and case[i - 1] != "--tasks"]
    subprocess.run([w for w in command(im2rec, words, source, folder) if w != "--mpi"], check=False)


def processes():
    """(pid, pid of the parent, name) of all."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            before, _, after = (folder / "stat").read_text().rpartition(")")
        except OSError:
            continue # it has ended
        yield int(folder.name), int(after.split()[1]), before.partition("(")[2]


def ranks_of(job):
    """Processes of im2rec-mpi that the job has started."""
    rows, family = list(processes()), {job.pid}
    for _ in range(4):
        family |= {pid for pid, parent, _ in rows if parent in family}
    return [pid for pid, _, name in rows if pid in family and name.startswith("im2rec")]


def disturb(run, seconds, what, rng):
    """Starts the job and kills a rank or all of it somewhere. Its status, None if it was killed."""
    with subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as job:
        time.sleep(rng.random() * seconds)
        ranks = ranks_of(job)
        for pid in ranks if what == "all" else rng.sample(ranks, min(1, len(ranks))):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if what == "all":
            os.killpg(job.pid, signal.SIGKILL)
        try:
            status = job.wait(90)
        except subprocess.TimeoutExpired: # an MPI that lets the others wait for the dead one
            for pid in ranks_of(job):
                os.kill(pid, signal.SIGKILL)
            os.killpg(job.pid, signal.SIGKILL)
            return None
    return status if status >= 0 else None


def check_case(im2rec, mpiexec, case, source, work, rng):
    calm, torn = work / "calm", work / "torn"
    for folder in (calm, torn):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    calm_run(im2rec, case, source, calm)
    ranks = rng.choice((2, 3, 4, 8))
    run = [*launcher(mpiexec, ranks), *command(im2rec, case, source, torn)]
    for what in ("rank", "all"):
        if disturb(run, 2.5, what, rng) == 0:
            break
    if not (torn / "set.manifest.json").exists() or list(torn.glob("*.plan")):
        done = subprocess.run(run, check=False, capture_output=True, timeout=200)
        if done.returncode != 0:
            return f"{ranks} ranks that nobody disturbed ended with status {done.returncode}: {done.stderr.decode()}"
    left, right = files_of(calm), files_of(torn)
    if left.keys() != right.keys():
        return f"{ranks} ranks: files differ: {sorted(left)} and {sorted(right)}"
    different = [name for name in left if left[name] != right[name]]
    return f"{ranks} ranks: bytes differ: {different}" if different else None


def other_options(im2rec, mpiexec, source, work):
    """A plan that another command has left is not taken for this one's."""
    folder = work / "other"
    folder.mkdir()
    out = str(folder / "set.rec")
    subprocess.run([im2rec, "--quiet", "--plan", out + ".plan", "--resize", "64", str(source), out], check=True)
    done = subprocess.run([*launcher(mpiexec, 2), im2rec, "--mpi", "--resize", "32", str(source), out], check=False,
                          capture_output=True, timeout=100)
    said = done.stderr.decode()
    return None if done.returncode != 0 and "its resize differs" in said else f"{done.returncode}, {said}"


def ranks_alone(im2rec, source, work):
    """Processes whose launcher does not start their MPI would each pack the set."""
    for size, rank in (("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
                       ("PMI_SIZE", "PMI_RANK")):
        for number in "01":
            done = subprocess.run([im2rec, "--mpi", str(source), str(work / "alone.rec")], check=False, capture_output=True,
                                  env={**os.environ, size: "2", rank: number}, timeout=100)
            said = "has started 2 processes, each alone in its MPI" in done.stderr.decode()
            if done.returncode != 2 or said != (number == "0") or list(work.glob("alone*")):
                return f"{size}: {done.returncode}, {done.stderr.decode()}"
    return None


def main(im2rec, mpiexec, rendered, seed=1):
    here = pathlib.Path(__file__).resolve().parent
    shared = os.environ.get("IMREC_SHARED") or here.parent.parent.parent / "shared"
    photos, rng = pathlib.Path(shared) / "data" / "photos", random.Random(int(seed))
    photos = photos if photos.is_dir() else pathlib.Path(rendered)
    tried = subprocess.run([*launcher(mpiexec, 2), "true"], check=False, capture_output=True)
    if tried.returncode != 0:
        print(f"skipped: {mpiexec} starts no job here: {tried.stderr.decode()[:300]}")
        return 77
    work, status = pathlib.Path(tempfile.mkdtemp(prefix="imrec-mpi-")), 0
    try:
        build_folder(photos, work / "source")
        for case in CASES:
            fault = check_case(os.path.abspath(im2rec), mpiexec, case, work / "source", work, rng)
            print(" ".join(case), "-", fault or "fine", flush=True)
            status = 1 if fault else status
        fault = other_options(os.path.abspath(im2rec), mpiexec, work / "source", work)
        print("another command's plan -", fault or "refused", flush=True)
        status = 1 if fault else status
        fault = ranks_alone(os.path.abspath(im2rec), work / "source", work)
        print("processes that know of no other -", fault or "refused", flush=True)
    finally:
        shutil.rmtree(work)
    return 1 if fault else status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
