"""Tasks of Dask (distributed)."""
from __future__ import annotations

import os
import time
import uuid
from concurrent.futures import Future
from typing import Any

from . import Answer, Job, module
from ._pool import attempt

_LOOK = 1.0  # seconds


def _attempt(plan: str, task: int, threads: int, stop: str) -> Answer:
    """Dask never ends a task that runs, so that it asks whether it must stop."""
    dask = module("distributed", "distributed")
    event, looked = dask.Event(stop, client=dask.get_client()), -_LOOK

    def goes_on(told: Any) -> bool:
        nonlocal looked
        if time.monotonic() < looked + _LOOK:
            return True
        looked = time.monotonic()
        return not event.is_set()

    return attempt(plan, task, threads, goes_on)


class Engine:
    def __init__(self, job: Job) -> None:
        dask = module("distributed", "distributed")
        self.plan, self.threads = job.plan, job.threads or 1
        self.own: list[Any] = []  # closed at the end
        self.client = job.cluster
        if job.cluster is None:
            try:
                self.client = dask.get_client()
            except ValueError:  # there is none
                cpus = len(os.sched_getaffinity(0)) // self.threads
                self.own.append(dask.LocalCluster(n_workers=job.workers or max(1, cpus), threads_per_worker=1,
                                                  dashboard_address=None))
        if not isinstance(self.client, dask.Client):
            self.client = dask.Client(self.own[0] if self.own else job.cluster, set_as_default=False)
            self.own.insert(0, self.client)
        self.executor = self.client.get_executor(pure=False)
        self.stop = f"imrec-{uuid.uuid4()}"
        self.event = dask.Event(self.stop, client=self.client)

    def room(self) -> int:
        cpus: int = sum(self.client.nthreads().values())
        return cpus // self.threads

    def start(self, task: int) -> Future[Answer]:
        future: Future[Answer] = self.executor.submit(_attempt, self.plan, task, self.threads, self.stop)
        return future

    def close(self) -> None:
        self.event.set()
        self.executor.shutdown(wait=False)
        for thing in self.own:
            thing.close()
