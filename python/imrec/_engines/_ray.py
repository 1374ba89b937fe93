"""Tasks of Ray."""
from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from . import Answer, Job, module
from ._pool import attempt


class Engine:
    def __init__(self, job: Job) -> None:
        self.ray = module("ray", "ray")
        self.plan, self.threads = job.plan, job.threads or 1
        self.is_own = not self.ray.is_initialized()
        if self.is_own:
            self.ray.init(address=job.cluster)
        # Who is lost is given out again by the pool, which counts.
        self.attempt = self.ray.remote(num_cpus=self.threads, max_retries=0)(attempt)
        self.refs: dict[Future[Answer], Any] = {}

    def room(self) -> int:
        return int(self.ray.cluster_resources().get("CPU", 0)) // self.threads

    def start(self, task: int) -> Future[Answer]:
        ref = self.attempt.remote(self.plan, task, self.threads)
        future: Future[Answer] = ref.future()
        self.refs[future] = ref
        return future

    def close(self) -> None:
        for future, ref in self.refs.items():
            if not future.done():
                self.ray.cancel(ref)  # as Ctrl-C in the worker
        if self.is_own:
            self.ray.shutdown()
