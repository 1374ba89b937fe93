"""Tasks of Spark, each a job of its own: a result is here when its task ends, and a task that fails ends no other. The rows of a
DataFrame are read by Spark's Python workers, which imrec runs in."""
from __future__ import annotations

import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Iterable, Iterator

from ..errors import ArgumentError, Error
from . import Answer, Job, _rows, module, sentence
from ._pool import attempt


def _dicts(rows: Iterable[Any]) -> Iterator[Any]:
    """All columns: without some of them Spark may read the rows in another order."""
    return (row.asDict(recursive=True) for row in rows)


class Engine:
    def __init__(self, job: Job) -> None:
        sql = module("pyspark.sql", "pyspark")
        self.rows = job.rows
        found = job.cluster or (job.rows.source.sparkSession if job.rows is not None else sql.SparkSession.getActiveSession())
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
        self._name(f"task {task} of {self.plan}")
        plan, threads = self.plan, self.threads  # of the executor: the engine stays here
        if self.rows is None:
            rdd, partition, work = self.context.parallelize([task], 1), 0, lambda tasks: [attempt(plan, k, threads) for k in tasks]
        else:
            columns, first = self.rows.columns, self.rows.first[task]
            rdd, partition = self.rdd, task

            def work(rows: Iterable[Any]) -> list[Answer]:
                return [_rows.attempt(plan, task, threads, _dicts(rows), columns, first)]

        answers: list[Answer] = self.context.runJob(rdd, work, [partition])
        return answers[0]

    def _name(self, what: str) -> None:
        self.context.setJobGroup(self.group, what, interruptOnCancel=True)

    # ---- rows ---------------------------------------------------------------------------------------------------------

    def plan_rows(self) -> None:
        assert self.rows is not None
        self.rows.chosen(self.rows.source.columns)
        try:
            counted = self.jobs.submit(self._count).result()  # so that this thread receives Ctrl-C
        except ArgumentError:
            raise
        except Exception as error:
            raise Error(f"the rows of the DataFrame cannot be read: {sentence(error)}") from error
        self.rows.plan(counted, "partition")

    def _count(self) -> list[_rows.Counted]:
        """All partitions in one job: what Spark computes again for it is the same, or Spark ends it. Later jobs have the same RDD,
        so that what was shuffled for this one is not shuffled again."""
        assert self.rows is not None
        self._name(f"counts the rows for {self.plan}")
        columns = self.rows.columns
        self.rdd = self.rows.source.rdd
        partitions = self.rdd.getNumPartitions()
        if self.rows.tasks not in (0, partitions):
            raise ArgumentError(f"tasks={self.rows.tasks}: the DataFrame has a task for each of its {partitions} partitions; "
                                "repartition() changes their number")
        counts: Callable[[Iterable[Any]], list[_rows.Counted]] = lambda rows: [_rows.count(_dicts(rows), columns)]
        counted: list[_rows.Counted] = self.rdd.mapPartitions(counts).collect()
        return counted

    def close(self) -> None:
        self.context.cancelJobGroup(self.group)
        self.jobs.shutdown(cancel_futures=True)
        if self.is_own:
            self.session.stop()
