#!/usr/bin/env python3
"""Kill plan, workers and finish at random moments, and compare with a run that nobody disturbed.

kill_plan.py IM2REC RENDERED [KILLS [SEED]]: exit status 0, or 1 with what differs. Images as kill_pack.py. Several
workers share the tasks, some do one task at a time together; then workers without a share do what is left.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from kill_pack import build_folder, files_of

CASES = [  # options of the plan
    ["--resize", "128", "--shards", "12"],
    ["--resize", "128", "--tasks", "9"],
    ["--pass-through", "--shard-size", "3M", "--tasks", "7"],
    ["--pass-through", "--format", "cbf", "--shards", "9"],
    ["--pass-through", "--check", "none", "--shards", "150"],  # most of it is publishing
]


def outputs(case, folder):
    return [*case, "--report", str(folder / "report")], str(folder / ("set.cbf" if "cbf" in case else "set.rec"))


def calm_run(im2rec, case, source, folder):
    """The same set without a plan, and the seconds that it took."""
    options, out = outputs([w for w in case if w != "--tasks" and case[case.index(w) - 1] != "--tasks"], folder)
    begin = time.monotonic()
    status = subprocess.run([im2rec, "--quiet", *options, str(source), out], check=False).returncode
    return status, time.monotonic() - begin


def start(im2rec, *words):
    return subprocess.Popen([im2rec, "--quiet", *map(str, words)], stderr=subprocess.PIPE)


def kill_some(processes, seconds, rng):
    """Kills some of them somewhere; the others end by themselves. What a survivor said, if it failed."""
    said = ""
    for process in processes:
        time.sleep(rng.random() * seconds)
        if rng.random() < 0.7:
            process.kill()
    for process in processes:
        message = process.communicate()[1].decode()
        if process.returncode not in (0, 3, -9):
            said = message
    return said


def make_plan(im2rec, plan, command, kills, seconds, rng):
    """The plan of a command that is killed and given again; it stays as it is where it is there."""
    for _ in range(kills):
        fault = kill_some([start(im2rec, "--plan", plan, *command)], seconds / 50, rng)
        if fault:
            return fault
    status = subprocess.run([im2rec, "--quiet", "--plan", str(plan), *command], check=False).returncode
    return f"plan ended with status {status}" if status != 0 else None


def work(im2rec, plan, kills, seconds, rng):
    for _ in range(kills):
        n = rng.choice((2, 3))
        fault = kill_some([start(im2rec, "--work", plan, f"{k}/{n}", "--threads", "1") for k in (0, n - 1, n - 1)],
                          seconds, rng)
        if fault:
            return fault
    last = [start(im2rec, "--work", plan, *words) for words in (["0/1"], [])]
    for process in last:
        said = process.communicate()[1].decode()
        if process.returncode != 0:
            return f"a worker that nobody disturbed ended with status {process.returncode}: {said}"
    return None


def check_spread(im2rec, source, work_in):
    """Workers without a share that begin together do hardly a task twice, though each looks for itself."""
    plan, tasks = work_in / "spread", 40
    subprocess.run([im2rec, "--quiet", "--plan", str(plan), "--tasks", str(tasks), "--resize", "900", str(source),
                    str(work_in / "spread.rec")], check=True)
    workers = [subprocess.Popen([im2rec, "--json", "--threads", "1", "--work", str(plan)], stdout=subprocess.PIPE)
               for _ in range(4)]
    done = sum(len(worker.communicate()[0].splitlines()) for worker in workers)
    if any(worker.returncode for worker in workers) or not tasks <= done <= tasks + tasks // 2:
        return f"{tasks} tasks were done {done} times"
    return None


def finish(im2rec, plan, kills, seconds, rng):
    for _ in range(kills):
        processes = [start(im2rec, "--finish", plan) for _ in range(2)]
        fault = kill_some(processes, seconds / 4, rng)
        if fault and "set.lock.part is held by" not in fault:
            return fault
    for wanted in ((0, 3), (0,)):
        status = subprocess.run([im2rec, "--quiet", "--finish", str(plan)], check=False).returncode
        if status not in wanted:
            return f"finish ended with status {status}"
    left = sorted(path.name for path in plan.iterdir())
    return None if left == ["finished", "plan"] else f"the plan keeps {left}"


def check_case(im2rec, case, source, work_in, kills, rng):
    calm, torn, plan = work_in / "calm", work_in / "torn", work_in / "plan"
    for folder in (calm, torn, plan):
        shutil.rmtree(folder, ignore_errors=True)
    calm.mkdir()
    torn.mkdir()
    status, seconds = calm_run(im2rec, case, source, calm)
    if status != 3:
        return f"the calm run ended with status {status}"
    options, out = outputs(case, torn)
    command = [*options, str(source), out]
    fault = make_plan(im2rec, plan, command, kills, seconds, rng)
    if fault:
        return fault
    early = subprocess.run([im2rec, "--finish", str(plan)], check=False, capture_output=True)
    if early.returncode != 1 or b"are not done" not in early.stderr:
        return f"finish without work: status {early.returncode}, {early.stderr.decode()}"
    fault = (work(im2rec, plan, kills, seconds / 2, rng) or make_plan(im2rec, plan, command, 0, 0, rng) or
             finish(im2rec, plan, kills, seconds, rng) or make_plan(im2rec, plan, command, 0, 0, rng))
    if fault:
        return fault
    left, right = files_of(calm), files_of(torn)
    if left.keys() != right.keys():
        return f"files differ: {sorted(left)} and {sorted(right)}"
    different = [name for name in left if left[name] != right[name]]
    return f"bytes differ: {different}" if different else None


def main(im2rec, rendered, kills=20, seed=1):  # kills: of all cases together
    here = pathlib.Path(__file__).resolve().parent
    shared = os.environ.get("IMREC_SHARED") or here.parent.parent.parent / "shared"
    photos, rng = pathlib.Path(shared) / "data" / "photos", random.Random(int(seed))
    photos = photos if photos.is_dir() else pathlib.Path(rendered)
    work_in = pathlib.Path(tempfile.mkdtemp(prefix="imrec-kill-"))
    try:
        build_folder(photos, work_in / "source")
        fault = check_spread(os.path.abspath(im2rec), work_in / "source", work_in)
        print("four workers at once -", fault or "fine", flush=True)
        if fault:
            return 1
        for case in CASES:
            fault = check_case(os.path.abspath(im2rec), case, work_in / "source", work_in, int(kills) // len(CASES),
                               rng)
            print(" ".join(case), "-", fault or "fine", flush=True)
            if fault:
                return 1
    finally:
        shutil.rmtree(work_in)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
