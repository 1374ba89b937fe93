"""Hands out the missing tasks of a plan to an engine: again where a worker is lost, a task fails, or takes far longer than the
others. The rules are the same for all engines."""
from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Callable

from .. import _plan
from .._running import Watch
from ..errors import Error
from . import Answer, Engine, Job, sentence

_SLOW = 3.0  # times the mean of the tasks before: such a task is given out again


def attempt(plan: str, task: int, threads: int, goes_on: Any = False, work: Callable[..., Any] = _plan.work) -> Answer:
    """Packs a task, in a worker. The errors of imrec are answers: what is raised is about the worker, or its rows."""
    begin = time.monotonic()
    try:
        card = work(plan, task, threads=threads, progress=goes_on)
    except Error as error:
        return Answer(time.monotonic() - begin, error=error)
    return Answer(time.monotonic() - begin, card["packed"], card["skipped"])


class Pool:
    def __init__(self, engine: Engine, job: Job, bar: Watch) -> None:
        self.engine, self.workers, self.retries, self.bar = engine, job.workers, job.retries, bar
        states = _plan.tasks(job.plan)
        self.count, self.waiting = len(states), [k for k, state in enumerate(states) if state != "done"]
        self.done = {k for k, state in enumerate(states) if state == "done"}
        self.running: dict[Future[Answer], tuple[int, float]] = {}  # task, and when it began
        self.tries: dict[int, int] = {}
        self.report: list[dict[str, Any]] = []

    def run(self) -> list[dict[str, Any]]:
        while len(self.done) < self.count:
            self._give()
            for future in wait(self.running, timeout=0.5, return_when=FIRST_COMPLETED).done:
                self._take(future)
            if not self.bar.step(len(self.done), self.count, {"done": len(self.done), "total": self.count}):
                raise self.bar.error or KeyboardInterrupt
        return self.report

    def _give(self) -> None:
        room = max(1, self.workers or self.engine.room())
        while len(self.running) < room and (task := self._next()) is not None:
            self.running[self.engine.start(task)] = task, time.monotonic()

    def _next(self) -> int | None:
        if self.waiting:
            return self.waiting.pop(0)
        ended = [entry["seconds"] for entry in self.report if entry["error"] is None]
        if not ended:
            return None
        limit = time.monotonic() - _SLOW * sum(ended) / len(ended) - 1
        tasks = [task for task, _ in self.running.values()]
        slow = [(since, task) for task, since in self.running.values()
                if since < limit and task not in self.done and tasks.count(task) == 1]
        return min(slow)[1] if slow else None

    def _take(self, future: Future[Answer]) -> None:
        task, since = self.running.pop(future)
        lost = future.exception()
        if lost is None:
            answer = future.result()
        else:
            answer = Answer(time.monotonic() - since, error=Error(f"the worker of task {task} was lost: {sentence(lost)}"))
        error = answer.error
        self.report.append({"task": task, "seconds": answer.seconds, "packed": answer.packed, "skipped": answer.skipped,
                            "error": None if error is None else str(error)})
        if error is None:
            self.done.add(task)
        elif task not in self.done:
            self.tries[task] = self.tries.get(task, 0) + 1
            if self.tries[task] > self.retries:
                raise error from lost
            if all(other != task for other, _ in self.running.values()):
                self.waiting.append(task)
