"""Tasks in processes of this machine."""
from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, wait

from ..errors import ArgumentError, Error
from . import Answer, Job
from ._pool import attempt

_SPAWN = multiprocessing.get_context("spawn")


def _serve(plan: str, threads: int, pipe: Connection) -> None:
    """A process: works on the tasks that come, until None does."""
    try:
        while (task := pipe.recv()) is not None:
            pipe.send(attempt(plan, task, threads))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass  # the one who gave the tasks is gone; the task is as it was


class _Worker:
    def __init__(self, plan: str, threads: int) -> None:
        self.pipe, other = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_serve, args=(plan, threads, other), daemon=True)
        self.process.start()
        other.close()
        self.busy = False

    def ask(self, task: int) -> Answer:
        try:
            self.pipe.send(task)
            wait([self.pipe, self.process.sentinel])
            answer: Answer = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            raise Error(f"process {self.process.pid} ended with exit code {self.process.exitcode}") from None
        self.busy = False
        return answer

    def end(self) -> None:
        if self.busy:
            self.process.kill()
        else:
            try:
                self.pipe.send(None)
            except OSError:
                pass
        self.process.join()


class Engine:
    def __init__(self, job: Job) -> None:
        if job.cluster is not None:
            raise ArgumentError("cluster= is for other engines: engine='processes' uses processes of this machine")
        cpus = len(os.sched_getaffinity(0))
        self.plan, self.count = job.plan, job.workers or cpus
        self.threads = job.threads or max(1, cpus // self.count)
        self.workers: list[_Worker] = []
        self.waiters = ThreadPoolExecutor(self.count, "imrec-worker")

    def room(self) -> int:
        return self.count

    def start(self, task: int) -> Future[Answer]:
        self.workers = [worker for worker in self.workers if worker.process.is_alive()]
        worker = next((worker for worker in self.workers if not worker.busy), None)
        if worker is None:
            worker = _Worker(self.plan, self.threads)
            self.workers.append(worker)
        worker.busy = True
        return self.waiters.submit(worker.ask, task)

    def close(self) -> None:
        for worker in self.workers:
            worker.end()
        self.waiters.shutdown()
