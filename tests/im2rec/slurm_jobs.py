#!/usr/bin/env python3
"""The lines of docs/guide/slurm.md on a real Slurm cluster, then with workers and drivers that are killed: the bytes of one process's.

slurm_jobs.py SOURCE IM2REC IM2REC_OF_MPICH RENDERED: exit status 0, 77 where there can be no cluster, or 1 with what
differs. IM2REC is built with Open MPI. Packs the shared photographs, or where they are missing those in RENDERED; into
files, and into the S3 server of tests/servers where it is installed.
"""
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import slurm_cluster
from kill_pack import files_of

SLOW = ["--resize", "1200", "--quality", "80", "--tasks", "8"]  # so that a task takes long enough to be killed
QUICK = ["--resize", "256", "--shards", "12"]
WORKERS = 4
FORMS = ("array", "srun", "openmpi", "mpich")


# ---- what is packed, by what -------------------------------------------------------------------

class Place:
    """Where a set and its plan are: files, or a bucket."""

    def __init__(self, folder, uri, variables):
        self.folder, self.uri, self.variables = folder, uri, variables

    def inner(self, name):
        return Place(self.folder / name, f"{self.uri}/{name}", self.variables)


class Bench:
    """The cluster, the programs, the images."""

    def __init__(self, source, programs, cluster, work):
        self.source, self.programs, self.cluster, self.work = source, programs, cluster, work

    def env(self, mpi, more):
        return {**self.cluster.env, **more, "PATH": f"{self.programs[mpi].parent}:{os.environ['PATH']}",
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def start(self, words, folder, mpi="openmpi", more=None):
        return subprocess.Popen(words, cwd=folder, env=self.env(mpi, more or {}), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def calm(self, options, out):
        """The same set by one process."""
        out.parent.mkdir()
        words = [w for i, w in enumerate(options) if w != "--tasks" and options[i - 1] != "--tasks"]
        subprocess.run([self.programs["openmpi"], "--quiet", *words, self.work / "photos", out], check=False,
                       stderr=subprocess.DEVNULL)
        return files_of(out.parent)


def command(form, bench, options, place):
    """The words of a form of the guide, with a plan of its own."""
    plan, names = f"{place.uri}/plan", [str(bench.work / "photos"), f"{place.uri}/set/t.rec"]
    if form == "array":
        return [str(bench.source / "examples/slurm/pack.sh"), str(WORKERS), "--", plan, *options, *names]
    if form == "srun":
        line = f'im2rec --plan "$0" "$@" && {{ srun -n {WORKERS} im2rec --work "$0" --threads 1; im2rec --finish "$0"; }}'
        return ["bash", "-c", line, plan, *options, *names]
    plugin = {"openmpi": "pmix", "mpich": "pmi2"}[form]
    return ["srun", f"--mpi={plugin}", "-K", "-n", str(WORKERS), "im2rec", "--mpi", "--threads", "1", "--plan", plan,
            *options, *names]


def difference(left, right):
    if left.keys() != right.keys():
        return f"files differ: {sorted(left)} and {sorted(right)}"
    different = [name for name in left if left[name] != right[name]]
    return f"bytes differ: {different}" if different else None


# ---- who is killed -----------------------------------------------------------------------------

def at_work(plan):
    """(task, process) of those in mid-task, the latest last: heartbeats say who they are. Tasks of two are left away."""
    found = []
    for beat in plan.glob("task-*.running-*[0-9a-f]"):  # not those that are being written
        try:
            since, who = beat.stat().st_mtime, re.match(r"process (\d+) on ", beat.read_text())
        except OSError:
            continue  # the task has ended
        if who and pathlib.Path(f"/proc/{who[1]}").exists():
            found.append((since, beat.name.partition(".")[0], int(who[1])))
    tasks = [task for _, task, _ in found]
    return [(task, pid) for _, task, pid in sorted(found) if tasks.count(task) == 1]


def wait_for_work(plan, job, count=1):
    end = time.monotonic() + 120
    while len(found := at_work(plan)) < count:
        if job.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"nobody was in mid-task: {job.communicate()[0]}")
        time.sleep(0.01)
    return found


def kill_in_mid_task(plan, job):
    """Kills a process whose task is not done then, nor by what it had sent already."""
    for _ in range(WORKERS - 1):
        task, pid = wait_for_work(plan, job)[-1]
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.3)
        if not (plan / f"{task}.done").exists():
            return
    raise RuntimeError("each task was done before its process was killed")


def ended(job, seconds=400):
    """Status and words of a command."""
    said = job.communicate(timeout=seconds)[0]
    return job.returncode, said


def lose_worker(form, bench, place, job):
    """One of the workers: the others do its task, but for MPI, which ends the job."""
    kill_in_mid_task(place.folder / "plan", job)
    status, said = ended(job)
    if form in ("openmpi", "mpich"):
        return None if status != 0 else "a job that has lost a rank ended with status 0"
    return None if status == 3 else f"the others did not do the task of the lost one: status {status}, {said}"


def lose_driver(form, bench, place, job):
    """The command itself, once more while jobs of the first run; then all jobs, too."""
    wait_for_work(place.folder / "plan", job, 2)
    job.kill()
    job.wait()
    again = bench.start(command(form, bench, SLOW, place), bench.work, mpi_of(form), place.variables)
    wait_for_work(place.folder / "plan", again)
    again.kill()
    again.wait()
    bench.cluster.drain()
    return None


def cancel_all(form, bench, place, job):
    """The jobs that work: what comes after them says that tasks are missing."""
    wait_for_work(place.folder / "plan", job, 2)
    bench.cluster.cancel(*(bench.cluster.jobs("im2rec --work") if form == "array" else bench.cluster.jobs()))
    status, said = ended(job)
    if status == 1 and "tasks are not done" in said:
        return None
    return None if form in ("openmpi", "mpich") and status != 0 else f"after scancel: status {status}, {said}"


def requeue(form, bench, place, job):
    """An element of the array that Slurm starts again."""
    wait_for_work(place.folder / "plan", job, 2)
    elements = bench.cluster.jobs("im2rec --work")
    done = subprocess.run(["scontrol", "requeue", elements[0]], env=bench.cluster.env, check=False, capture_output=True,
                          text=True)
    if done.returncode != 0:
        return f"no requeue of {elements}: {done.stderr}"
    status, said = ended(job)
    logs = [p.read_text() for p in bench.work.glob(f"slurm-{elements[0].partition('_')[0]}_*.out")]
    return None if status == 3 else f"after a requeue: status {status}, {said}, {logs}"


def mpi_of(form):
    return "mpich" if form == "mpich" else "openmpi"


def check_killed(form, what, bench, place, want):
    """Disturbs a command, gives it again, compares."""
    (place.folder / "set").mkdir(parents=True)
    fault = what(form, bench, place, bench.start(command(form, bench, SLOW, place), bench.work, mpi_of(form),
                                                 place.variables))
    if fault:
        return fault
    if what in (lose_worker, requeue) and form in ("array", "srun"):
        return difference(want, files_of(place.folder / "set"))
    status, said = ended(bench.start(command(form, bench, SLOW, place), bench.work, mpi_of(form), place.variables))
    if status != (0 if form in ("openmpi", "mpich") else 3):
        return f"the command that continues ended with status {status}: {said}"
    fault = difference(want, files_of(place.folder / "set"))
    left = {path.name for path in (place.folder / "plan").iterdir()}
    return fault or (None if left == {"plan", "finished"} else f"the plan keeps {sorted(left)}")


# ---- the guide ---------------------------------------------------------------------------------

def blocks_of_guide(source):
    """(block, MPI) of its indented lines, each of which packs the set; the sentence before says for which MPI it is."""
    text = (source / "docs/guide/slurm.md").read_text()
    for before, block in re.findall(r"([^\n]*)\n\n((?:    [^\n]*\n)+)", text):
        yield re.sub(r"(?m)^    ", "", block).rstrip(), "mpich" if "MPICH" in before else "openmpi"


def check_guide(bench, block, mpi, number):
    """The lines as they are, in a folder with photos/ and the tree's examples/."""
    folder = bench.work / f"guide-{number}"
    (folder / "one").mkdir(parents=True)
    (folder / "photos").symlink_to(bench.photos)
    (folder / "examples").symlink_to(bench.source / "examples")
    options = re.search(r"(--resize \d+ --shards \d+) photos/ train.rec", block)[1]
    bench.start(["bash", "-c", f"im2rec --quiet {options} photos/ one/train.rec"], folder).wait()
    status, said = ended(bench.start(["bash", "-c", block], folder, mpi))
    if status != 0:
        return f"status {status}: {said}"
    want = files_of(folder / "one")
    return difference(want, {p.name: p.read_bytes() for p in folder.glob("train*") if p.is_file()})


def check_refused(bench, mpi, plugin, words):
    """A plugin that the MPI does not speak to: nothing is packed, and it is said why."""
    out = bench.work / f"refused-{mpi}-{plugin}.rec"
    status, said = ended(bench.start(["srun", f"--mpi={plugin}", "-K", "-n", "3", "im2rec", "--mpi", str(bench.work / "photos"),
                                      str(out)], bench.work, mpi))
    left = list(bench.work.glob(f"{out.stem}*"))
    return None if status != 0 and words in said and not left else f"status {status}, {left}: {said}"


# ---- all of it ---------------------------------------------------------------------------------

def s3_place(source, work):
    """A server of this run's own; None where it is not installed."""
    server = shlex.quote(str(source / "tests/servers"))
    begun = subprocess.run(["bash", "-c", f'set -e; set="$({server} s3 start)"; eval "$set"; env -0'], capture_output=True,
                           text=True, env={**os.environ, "IMREC_SERVERS_RUN": str(work / "run"), "IMREC_SERVERS_INSTALL": "no"})
    if begun.returncode != 0:
        if begun.returncode == 77:
            print("without s3:", begun.stderr.strip().splitlines()[-1], flush=True)
            return None
        raise RuntimeError(begun.stderr)
    variables = dict(row.split("=", 1) for row in begun.stdout.split("\0") if row)
    aws = {name: value for name, value in variables.items() if name.startswith("AWS_")}
    return Place(work / "run/s3/data/imrec-test", "s3://imrec-test", aws)


def cases(bench, files, bucket):
    """(words, check) of all."""
    for number, (block, mpi) in enumerate(blocks_of_guide(bench.source)):
        yield f"the guide: {block.splitlines()[0]}", lambda b=block, m=mpi, n=number: check_guide(bench, b, m, n)
    for mpi, plugin, words in (("openmpi", "pmi2", "OMPI was not built with SLURM's PMI support"),
                               ("openmpi", "none", "OMPI was not built with SLURM's PMI support"),
                               ("mpich", "pmix", "srun has started 3 processes, each alone in its MPI"),
                               ("mpich", "none", "srun has started 3 processes, each alone in its MPI")):
        yield f"refused: {mpi}, {plugin}", lambda m=mpi, p=plugin, w=words: check_refused(bench, m, p, w)
    want = bench.calm(SLOW, bench.work / "calm/t.rec")
    for form in FORMS:
        for what in (lose_worker, lose_driver, cancel_all, *([requeue] if form == "array" else [])):
            for place in filter(None, (files, bucket if what in (lose_worker, lose_driver) else None)):
                yield (f"{form}, {what.__name__}, {place.uri.partition(':')[0] if place is bucket else 'files'}",
                       lambda f=form, w=what, p=place: check_killed(f, w, bench, p.inner(f"{f}-{w.__name__}"), want))
    quick = bench.calm(QUICK, bench.work / "quick/t.rec")
    yield "array, odd names, files", lambda: check_quick("array", bench, files.inner("it's a $set \"of\" `mine`"), quick)
    for form in FORMS if bucket is not None else ():
        yield f"{form}, whole shards, s3", lambda f=form: check_quick(f, bench, bucket.inner(f"{f}-quick"), quick)


def check_quick(form, bench, place, want):
    (place.folder / "set").mkdir(parents=True)
    status, said = ended(bench.start(command(form, bench, QUICK, place), bench.work, mpi_of(form), place.variables))
    if status != (0 if form in ("openmpi", "mpich") else 3):
        return f"status {status}: {said}"
    return difference(want, files_of(place.folder / "set"))


def fill_photos(photos, to):
    """The photographs, and a file that is skipped: the status of the set is 3."""
    for path in photos.glob("*/*.jpg"):
        (to / path.parent.name).mkdir(parents=True, exist_ok=True)
        (to / path.parent.name / path.name).symlink_to(path.resolve())
    (next(to.iterdir()) / "empty.jpg").touch()


def run_all(source, im2rec, mpich, photos, only, work):
    bucket = s3_place(source, work)
    try:
        with slurm_cluster.Cluster() as cluster:
            bench = Bench(source, {"openmpi": im2rec, "mpich": mpich}, cluster, work)
            bench.photos = photos
            fill_photos(photos, work / "photos")
            failed = 0
            for words, check in cases(bench, Place(work / "files", str(work / "files"), {}), bucket):
                if not re.search(only, words):
                    continue
                begin = time.monotonic()
                try:
                    fault = check()
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    fault = str(error)
                print(f"{words}: {fault or 'fine'} ({time.monotonic() - begin:.0f} s)", flush=True)
                failed += fault is not None
                cluster.drain()
            return 1 if failed else 0
    finally:
        if bucket is not None:
            subprocess.run([source / "tests/servers", "s3", "stop"], check=False,
                           env={**os.environ, "IMREC_SERVERS_RUN": str(work / "run")})


def main(source, im2rec, mpich, rendered, only=""):
    why = slurm_cluster.missing()
    if why is None and b"libmpi.so" not in pathlib.Path(f"{im2rec}-mpi").read_bytes():
        why = f"{im2rec}-mpi is not built with Open MPI"
    if why:
        print(f"skipped: {why}")
        return 77
    shared = os.environ.get("IMREC_SHARED") or pathlib.Path(source).parent / "shared"
    photos = pathlib.Path(shared).resolve() / "data" / "photos"
    photos = photos if photos.is_dir() else pathlib.Path(rendered).resolve()
    with tempfile.TemporaryDirectory(prefix="imrec-slurm-jobs-") as work:
        return run_all(pathlib.Path(source).resolve(), pathlib.Path(im2rec).resolve(), pathlib.Path(mpich).resolve(),
                       photos, only, pathlib.Path(work))


if __name__ == "__main__":
    sys.exit(slurm_cluster.alone(main, *sys.argv[1:]))
