"""Packs one set in many processes, on this machine or others: a plan, its tasks, and a finish.

    imrec.distributed.pack("photos/", "train.rec", resize=256, shards=16)                # processes of this machine

or step by step, each step on any machine that reaches the plan, the images and the output:

    imrec.distributed.make("photos/", "train.rec", plan="job", resize=256, shards=16)    # once
    imrec.distributed.work("job", k)                                                     # for each task k, anywhere
    imrec.distributed.finish("job")                                                      # once

The bytes of the set are those of `imrec.pack()`. docs/guide/distributed.md says what a plan is."""
from __future__ import annotations

import multiprocessing
import os
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Callable

from ._ffi import check, ffi, lib, new_error, to_dict
from ._pack import _Job, _no_source
from ._pack_items import c_text
from ._running import Watch
from .errors import ArgumentError, Error

__all__ = ["finish", "make", "pack", "status", "tasks", "work"]

_STATES = ("missing", "running", "done")
_SLOW = 3.0  # times the mean of the tasks before: such a task is given out again
_SPAWN = multiprocessing.get_context("spawn")


def make(source: Any, out: Any, plan: Any, *, root: Any = None, tasks: int = 0, again: bool = False,
         progress: bool | Callable[[Any], None] = False, **parameters: Any) -> dict[str, Any]:
    """Reads a folder or LIST.lst (paths relative to `root`) once and writes the plan into the folder `plan`; packs nothing.

    tasks: how many; 0: one for each shard with shards=N, otherwise one for about 2048 images. Parameters are those of
    `imrec.pack()`. again=True takes a plan of the same call that is there already. Returns the plan's status."""
    source = Path(source)
    is_list = source.suffix == ".lst"
    if not is_list and not source.is_dir():
        raise _no_source(source)
    if is_list and root is None:
        root = source.parent
    job = _Job(out, source if is_list else None, root if is_list else source)
    job.set_options({name: value for name, value in parameters.items() if value is not None})
    watch, name, err = Watch(progress, "img"), c_text(plan, "plan"), new_error()
    job.task.progress, job.task.user = lib.on_progress, watch.handle
    if again:
        check(watch.run(lambda: lib.imrec_plan_continue(name, job.task, job.options, tasks, err)), err)
    else:
        check(watch.run(lambda: lib.imrec_plan_make(name, job.task, job.options, tasks, ffi.NULL, err)), err)
    return status(plan)


def work(plan: Any, task: int, *, threads: int = 0, memory: int = 0, progress: bool | Callable[[Any], None] = False) -> dict[str, Any]:
    """Packs a task of the plan, from 0. A task that is done is left alone (`was_complete`). Returns the card of the task."""
    return _run(plan, progress, threads, memory, lambda name, run, result, err: lib.imrec_plan_work(name, task, run, result, err))


def finish(plan: Any, *, progress: bool | Callable[[Any], None] = False) -> dict[str, Any]:
    """Makes the set of what the tasks have left. Returns the card that `imrec.pack()` would return."""
    return _run(plan, progress, 0, 0, lib.imrec_plan_finish)


def status(plan: Any) -> dict[str, Any]:
    """How many tasks are done, running and missing, and how long the others may take (`seconds_left`, None: unknown)."""
    found, err = ffi.new("struct imrec_plan_status *"), new_error()
    check(lib.imrec_plan_status(c_text(plan, "plan"), found, err), err)
    card = to_dict(found[0])
    card["seconds_left"] = card["seconds_left"] if card["seconds_left"] >= 0 else None
    return card


def tasks(plan: Any) -> list[str]:
    """The state of each task: "missing", "running" or "done"."""
    count, err = status(plan)["tasks"], new_error()
    states = ffi.new("enum imrec_task_state[]", count)
    check(lib.imrec_plan_tasks(c_text(plan, "plan"), count, states, err), err)
    return [_STATES[state] for state in states]


def _run(plan: Any, progress: Any, threads: int, memory: int, call: Callable[..., int]) -> dict[str, Any]:
    job, name, run = _Job(plan, None, None), c_text(plan, "plan"), ffi.new("struct imrec_plan_run *")
    lib.imrec_plan_run_init(run)
    watch = Watch(progress, "img")
    run.threads, run.memory, run.progress, run.user = threads, memory, lib.on_progress, watch.handle
    return job.run(watch, lambda err: call(name, run, job.result, err))


# ---- processes of this machine ----------------------------------------------------------------------------------------

def _serve(plan: str, threads: int, pipe: Connection) -> None:
    """A process: works on the tasks that come, until None does."""
    try:
        while (task := pipe.recv()) is not None:
            begin = time.monotonic()
            try:
                card = work(plan, task, threads=threads)
                pipe.send((task, time.monotonic() - begin, card["packed"], card["skipped"], None))
            except Error as error:
                pipe.send((task, time.monotonic() - begin, 0, 0, error))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass  # the one who gave the tasks is gone; the task is as it was


class _Worker:
    """A process and the task that it has."""

    def __init__(self, plan: str, threads: int) -> None:
        self.pipe, other = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_serve, args=(plan, threads, other), daemon=True)
        self.process.start()
        other.close()
        self.task: int | None = None
        self.since = 0.0

    def give(self, task: int) -> None:
        self.task, self.since = task, time.monotonic()
        try:
            self.pipe.send(task)
        except (BrokenPipeError, OSError):
            pass  # it is dead, as its end will say

    def end(self, kill: bool) -> None:
        try:
            self.pipe.send(None)
        except (BrokenPipeError, OSError):
            pass
        if kill:
            self.process.kill()
        self.process.join()
        self.pipe.close()


class _Pool:
    """Hands out the missing tasks of a plan: again where a process dies, a task fails, or takes far longer than the others."""

    def __init__(self, plan: str, workers: int, threads: int, retries: int, bar: Watch) -> None:
        self.plan, self.threads, self.retries, self.bar = plan, threads, retries, bar
        states = tasks(plan)
        self.count, self.waiting = len(states), [k for k, state in enumerate(states) if state != "done"]
        self.done = {k for k, state in enumerate(states) if state == "done"}
        self.tries: dict[int, int] = {}
        self.report: list[dict[str, Any]] = []
        self.workers = [_Worker(plan, threads) for _ in range(min(workers, len(self.waiting)))]

    def run(self) -> None:
        clean = False
        try:
            while len(self.done) < self.count:
                self._give()
                self._hear()
                if not self.bar.step(len(self.done), self.count, {"done": len(self.done), "total": self.count}):
                    raise self.bar.error or KeyboardInterrupt
            clean = True
        finally:
            for worker in self.workers:
                worker.end(kill=not clean or worker.task is not None)

    def _give(self) -> None:
        for worker in self.workers:
            if worker.task is None and (task := self._next()) is not None:
                worker.give(task)

    def _next(self) -> int | None:
        if self.waiting:
            return self.waiting.pop(0)
        running = [w for w in self.workers if w.task is not None]
        ended = [entry["seconds"] for entry in self.report if entry["error"] is None]
        if not ended:
            return None
        limit = time.monotonic() - _SLOW * sum(ended) / len(ended) - 1
        slow = [w for w in running if w.since < limit and sum(o.task == w.task for o in running) == 1]
        return min(slow, key=lambda w: w.since).task if slow else None

    def _hear(self) -> None:
        ready = wait([w.pipe for w in self.workers] + [w.process.sentinel for w in self.workers], timeout=0.5)
        for i, worker in enumerate(self.workers):
            if worker.pipe in ready:
                try:
                    answer = worker.pipe.recv()
                except (EOFError, OSError):
                    pass  # it is dead
                else:
                    worker.task = None
                    self._take(*answer)
                    continue
            if worker.process.sentinel in ready:
                worker.end(kill=True)
                self.workers[i] = _Worker(self.plan, self.threads)
                if worker.task is not None:
                    self._take(worker.task, time.monotonic() - worker.since, 0, 0,
                               Error(f"a worker process died in task {worker.task}, with exit code {worker.process.exitcode}"))

    def _take(self, task: int, seconds: float, packed: int, skipped: int, error: Error | None) -> None:
        self.report.append({"task": task, "seconds": seconds, "packed": packed, "skipped": skipped,
                            "error": None if error is None else str(error)})
        if error is None:
            self.done.add(task)
        elif task not in self.done and all(worker.task != task for worker in self.workers):
            self.tries[task] = self.tries.get(task, 0) + 1
            if self.tries[task] > self.retries:
                raise error
            self.waiting.append(task)


def _processes(plan: str, workers: int | None, retries: int, bar: Watch) -> list[dict[str, Any]]:
    cpus = len(os.sched_getaffinity(0))
    count = workers or cpus
    pool = _Pool(plan, count, max(1, cpus // count), retries, bar)
    pool.run()
    return pool.report


_ENGINES: dict[str, Callable[..., list[dict[str, Any]]]] = {"processes": _processes}


def pack(source: Any, out: Any, engine: str = "processes", *, plan: Any = None, tasks: int = 0, workers: int | None = None,
         retries: int = 3, root: Any = None, progress: bool | Callable[[Any], None] = False, **parameters: Any) -> dict[str, Any]:
    """Packs a folder or LIST.lst as `imrec.pack()` does, with the tasks of a plan spread by an engine.

    engine    "processes": of this machine.
    plan      folder of the plan; by default OUT.plan, which is removed at the end. One that an interrupted call has left is
              continued: it must be of the same call.
    workers   how many at a time; by default one for each CPU.
    retries   how often a task may fail or lose its worker before the call fails.
    progress  True: a bar of tqdm, in tasks; or a function that is called with a dict of counts.

    Returns the card of `imrec.pack()` with `tasks`: for each try its task, seconds, packed, skipped and error.
    Raises what a task raised at last. After that, or Ctrl-C, the same call continues with what is done."""
    if engine not in _ENGINES:
        raise ArgumentError(f"engine={engine!r}: it must be one of {', '.join(_ENGINES)}")
    own = plan is None
    name = os.fspath(out) + ".plan" if own else os.fspath(plan)
    make(source, out, name, root=root, tasks=tasks, again=True, **parameters)
    bar = Watch(progress, "task")
    report = _ENGINES[engine](name, workers, retries, bar)
    card = finish(name)
    card["tasks"] = report
    if own:
        err = new_error()
        check(lib.imrec_plan_forget(c_text(name, "plan"), err), err)
    return card
