"""Tasks of Spark, each a job of its own: a result is here when its task ends, and a task that fails ends no other."""
from __future__ import annotations

import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..errors import ArgumentError
from . import Answer, Job, module
from ._pool import attempt


class Engine:
    def __init__(self, job: Job) -> None:
        sql = module("pyspark.sql", "pyspark")
        found = job.cluster or sql.SparkSession.getActiveSession()
        self.is_own = found is None
        self.session: Any = found or sql.SparkSession.builder.appName(f"imrec {job.plan}").getOrCreate()
        try:
            self.context = self.session.sparkContext
        except Exception as error:
            raise ArgumentError("the session of Spark has no sparkContext, which starts the tasks: Spark Connect cannot be used; "
                                f"{type(error).__name__}") from error
        cpus = int(self.context.getConf().get("spark.task.cpus", "1"))
        self.plan, self.threads, self.cpus, self.group = job.plan, job.threads or cpus, cpus, f"imrec-{uuid.uuid4()}"
        self.jobs = ThreadPoolExecutor(job.workers or max(64, self.room()), "imrec-spark")

    def room(self) -> int:
        return int(self.context.defaultParallelism) // self.cpus

    def start(self, task: int) -> Future[Answer]:
        return self.jobs.submit(self._run, task)

    def _run(self, task: int) -> Answer:
        self.context.setJobGroup(self.group, f"task {task} of {self.plan}", interruptOnCancel=True)
        plan, threads = self.plan, self.threads  # of the executor: the engine stays here
        answers: list[Answer] = self.context.parallelize([task], 1).map(lambda k: attempt(plan, k, threads)).collect()
        return answers[0]

    def close(self) -> None:
        self.context.cancelJobGroup(self.group)
        self.jobs.shutdown(cancel_futures=True)
        if self.is_own:
            self.session.stop()
