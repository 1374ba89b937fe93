#!/usr/bin/env python3
"""Breaks ring, ordered map and prefetcher in one place at a time; the model must find each break.

model_mutants.py CC SOURCE [STEP]: exit status 0, or 1 with what was not found. Compiles the model with each broken copy, or
with each STEP-th.
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

FILES = ("ring", "ordered", "prefetch")
BREAKS = [  # file, the scenario that finds it, what stands there once, what stands there then
    ("ring", "ring_closed", "while (must_wait(r))\n        cond_wait", "if (must_wait(r))\n        cond_wait"),
    ("ring", "ring_closed", "while (!has_next(r))\n        cond_wait", "if (!has_next(r))\n        cond_wait"),
    ("ring", "ring_closed", "if (number == r->taken) /*", "if (number == r->reserved) /*"),
    ("ring", "ring_of_one", ">= room)\n        cond_wake_all(&r->room);", "> room)\n        cond_wake_all(&r->room);"),
    ("ring", "ring_closed", "&r->cancelled, &r->room, &r->ready);", "&r->cancelled, &r->room, NULL);"),
    ("ring", "ring_cancelled", "&r->cancelled, &r->room, &r->ready);", "&r->cancelled, &r->ready, NULL);"),
    ("ring", "ring_cancelled", "return !r->cancelled && !r->paused &&", "return !r->paused &&"),
    ("ring", "ordered_in_a_pause", "return !r->cancelled && !r->paused &&", "return !r->cancelled &&"),
    ("ring", "ordered_in_a_pause", "&r->paused, &r->room, NULL);", "&r->paused, &r->ready, NULL);"),
    ("ring", "ring_closed", "== r->depth;", "== r->depth + 1;"),
    ("ring", "ring_closed", "    r->full[r->taken % r->depth] = false;\n", ""),
    ("ring", "ring_closed", "return r->cancelled || r->full", "return r->full"),
    ("ring", "ring_closed", "    r->recycled++;\n", ""),
    ("ordered", "ordered_drained", "while (!t->draining && ring_try_take", "while (ring_try_take"),
    ("ordered", "ordered_drained", "    if (++t->left == size)\n        cond_wake_all(&t->sized);\n", "    ++t->left;\n"),
    ("ordered", "ordered_drained", "never_given + 1);", "never_given);"),
    ("ordered", "ordered_paused", "    while (t->active != 0 || t->feeding)\n", "    if (t->active != 0 || t->feeding)\n"),
    ("ordered", "ordered_paused", "    while (t->active != 0 || t->feeding)\n", "    while (t->active != 0)\n"),
    ("ordered", "ordered_several", "        if (!may_wait && t->waits)\n            return false;\n", ""),
    ("ordered", "ordered_several", "    t->waits = true;\n    cond_wake_all(&t->turn);\n", "    t->waits = true;\n"),
    ("ordered", "ordered_taken", "    cond_wake_one(&t->turn);\n", ""),
    ("ordered", "ordered_taken", "    while (t->feeding) {\n", "    if (t->feeding) {\n"),
    ("ordered", "ordered_in_a_pause", "        if (--t->active == 0)\n            cond_wake_all(&t->idle);\n", "        --t->active;\n"),
    ("ordered", "ordered_stopped", "    ring_cancel(&t->ring); /* not under the lock: a worker takes it while it has the ring's */\n", ""),
    ("ordered", "ordered_in_a_pause", "takes it while it has the ring's */\n    mutex_lock(&t->lock);\n    cond_wake_all(&t->resumed);",
     "takes it while it has the ring's */\n    mutex_lock(&t->lock);"),
    ("ordered", "ordered_paused", "    ring_reset(&t->ring);\n    cond_wake_all(&t->resumed);\n", "    ring_reset(&t->ring);\n"),
    ("ordered", "ordered_failing", "        t->error = err;\n        ring_cancel(&t->ring);\n", "        t->error = err;\n"),
    ("ordered", "ordered_taken", "    while (t->size == 0)\n", "    if (t->size == 0)\n"),
    ("ordered", "ordered_paused", "    t->open = false;\n    mutex_unlock(&t->lock);\n", "    mutex_unlock(&t->lock);\n"),
    ("ordered", "ordered_drained", "        t->draining = true;\n        mutex_unlock(&t->drain_lock);\n        drain_place(t, (uint32_t)(number % t->o.places));\n"
     "        mutex_lock(&t->drain_lock);\n",
     "        mutex_unlock(&t->drain_lock);\n        drain_place(t, (uint32_t)(number % t->o.places));\n        mutex_lock(&t->drain_lock);\n"),
    ("prefetch", "prefetch_closed", "    if (p->threads != NULL)\n        ring_cancel(&p->ring);\n", ""),
    ("prefetch", "prefetched", "p->count = p->o.depth + 1;\n", "p->count = p->o.depth + 1;\n    p->o.depth++;\n    p->held = true;\n"),
]


def build(cc, source, folder, broken, text):
    """Compiles the model with `text` in place of the file `broken`."""
    copy = os.path.join(folder, broken + ".c")
    program = os.path.join(folder, "model")
    with open(copy, "w", encoding="utf-8") as f:
        f.write(text)
    here = os.path.join(source, "tests/parallel/model")
    files = [os.path.join(source, "parallel", name + ".c") for name in FILES if name != broken]
    files += [copy, os.path.join(source, "base/sized.c"), os.path.join(here, "model.c"), os.path.join(here, "scenarios.c")]
    subprocess.run([cc, "-std=c11", "-O1", "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", "-I" + here, "-I" + source,
                    "-I" + os.path.join(source, "include"), "-w", "-o", program] + files, check=True)
    return program


def look_for(cc, source, number):
    """What the model says of a break: None if it finds nothing."""
    broken, scenario, old, new = BREAKS[number]
    with open(os.path.join(source, "parallel", broken + ".c"), encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        sys.exit(f"model_mutants.py: {broken}.c has {text.count(old)} times: {old}")
    with tempfile.TemporaryDirectory() as folder:
        program = build(cc, source, folder, broken, text.replace(old, new))
        run = subprocess.run([program, scenario], stdout=subprocess.PIPE, check=False, timeout=300)
    lines = run.stdout.decode().splitlines()
    said = [line for line in lines if line.endswith(", after:")]
    points = sum(line.startswith("  thread") and "is at:" not in line for line in lines)
    return f"{said[0][:-8]} after {points} points" if run.returncode == 1 and said else None


def main():
    cc, source = sys.argv[1:3]
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    missed, numbers = 0, range(0, len(BREAKS), step)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, said in zip(numbers, pool.map(lambda n: look_for(cc, source, n), numbers)):
            broken, _, old, new = BREAKS[number]
            missed += said is None
            what = " ".join(old.split()) + " -> " + (" ".join(new.split()) or "nothing")
            print(f"{'MISSED' if said is None else 'found '} {broken}.c: {what}\n         {said}")
    print(f"{len(numbers) - missed} of {len(numbers)} broken copies are found")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
