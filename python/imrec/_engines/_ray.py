"""Tasks of Ray. The rows of a Dataset are its blocks, which are arguments of the tasks: Ray starts a task where its blocks are, and
makes blocks again that were lost."""
from __future__ import annotations

import bisect
import contextlib
import itertools
from concurrent.futures import Future
from typing import Any, Iterator

from .._pack_items import Columns
from ..errors import Error
from . import Answer, Job, _rows, module, sentence
from ._pool import attempt

_IMAGES_A_TASK = 2048  # as a plan of files has
_GONE = 10.0  # seconds


def _rows_of(spans: list[tuple[int, int]], blocks: tuple[Any, ...]) -> Iterator[Any]:
    """Rows from a first to an end, of each block."""
    access = module("ray.data.block", "ray[data]").BlockAccessor
    for (begin, end), block in zip(spans, blocks):
        yield from access.for_block(access.for_block(block).slice(begin, end)).iter_rows(True)


def _size(block: Any) -> int:
    return int(module("ray.data.block", "ray[data]").BlockAccessor.for_block(block).num_rows())


def _count(columns: Columns, spans: list[tuple[int, int]], *blocks: Any) -> _rows.Counted:
    return _rows.count(_rows_of(spans, blocks), columns)


def _attempt_rows(plan: str, task: int, threads: int, columns: Columns, first: int, spans: list[tuple[int, int]],
                  *blocks: Any) -> Answer:
    return _rows.attempt(plan, task, threads, _rows_of(spans, blocks), columns, first)


class Engine:
    def __init__(self, job: Job) -> None:
        self.ray = module("ray", "ray")
        self.plan, self.threads, self.rows, self.retries = job.plan, job.threads or 1, job.rows, job.retries
        self.is_own = not self.ray.is_initialized()
        if self.is_own:
            self.ray.init(address=job.cluster)
        self.parts: list[tuple[list[tuple[int, int]], list[Any]]] = []  #: of each task, spans and blocks
        # Who is lost is given out again by the pool, which counts.
        self.attempt = self._remote(attempt if job.rows is None else _attempt_rows, 0)
        self.refs: dict[Future[Answer], Any] = {}
        self.counts: list[Any] = []  #: references of what counts rows, while it does

    def _remote(self, function: Any, retries: int) -> Any:
        return self.ray.remote(num_cpus=self.threads, max_retries=retries)(function)

    def room(self) -> int:
        return int(self.ray.cluster_resources().get("CPU", 0)) // self.threads

    def start(self, task: int) -> Future[Answer]:
        more: tuple[Any, ...] = ()
        if self.rows is not None:
            spans, blocks = self.parts[task]
            more = (self.rows.columns, self.rows.first[task], spans, *blocks)
        ref = self.attempt.remote(self.plan, task, self.threads, *more)
        future: Future[Answer] = ref.future()
        self.refs[future] = ref
        return future

    # ---- rows ---------------------------------------------------------------------------------------------------------

    def plan_rows(self) -> None:
        assert self.rows is not None
        try:
            self._cut(self._blocks())
            count = self._remote(_count, self.retries)
            self.counts = [count.remote(self.rows.columns, spans, *blocks) for spans, blocks in self.parts]
            counted = self.ray.get(self.counts)
            self.counts = []
        except self.ray.exceptions.RayError as error:
            raise Error(f"the rows of the Dataset cannot be read: {sentence(error)}") from error
        self.rows.plan(counted, "")

    def _blocks(self) -> list[Any]:
        """The blocks of the Dataset, in its order, which Ray keeps only on request."""
        assert self.rows is not None
        data = self.rows.source
        names = data.columns() or []
        chosen = self.rows.chosen(names)
        data = data if chosen == names else data.select_columns(chosen)
        with _order_kept(data):
            self.materialized = data.materialize()
        return [ref for bundle in self.materialized.iter_internal_ref_bundles() for ref in bundle.block_refs]

    def _cut(self, blocks: list[Any]) -> None:
        """Equal tasks, which need not begin where blocks do: a task may be a whole shard."""
        assert self.rows is not None
        size = self._remote(_size, self.retries)
        ends = list(itertools.accumulate(self.ray.get([size.remote(block) for block in blocks])))
        total = ends[-1] if ends else 0
        shards = self.rows.shards if self.rows.shards > 1 else 0
        tasks = self.rows.tasks or shards or -(-total // _IMAGES_A_TASK)
        tasks = max(1, tasks if tasks == shards else min(tasks, total))
        for k in range(tasks):
            begin, end = total * k // tasks, total * (k + 1) // tasks
            spans, chosen = [], []
            at = bisect.bisect_right(ends, begin)  # the block that has row `begin`
            while begin < end:
                first, stop = ends[at - 1] if at else 0, min(end, ends[at])
                spans.append((begin - first, stop - first))
                chosen.append(blocks[at])
                begin, at = stop, at + 1
            self.parts.append((spans, chosen))

    def close(self) -> None:
        """Ends the processes of tasks that still run. Ray's other way is Ctrl-C in the worker, which may be at an import then, and
        keeps half of a module for the next task."""
        left = self.counts + [ref for future, ref in self.refs.items() if not future.done()]
        for ref in left:
            self.ray.cancel(ref, force=True)
        if left:
            self.ray.wait(left, num_returns=len(left), timeout=_GONE)
        if self.is_own:
            self.ray.shutdown()


@contextlib.contextmanager
def _order_kept(data: Any) -> Iterator[None]:
    """Versions of Ray ask the context of the Dataset, or the current one."""
    current = module("ray.data", "ray[data]").DataContext.get_current()
    kept = [(context.execution_options, context.execution_options.preserve_order) for context in (data.context, current)]
    for options, _ in kept:
        options.preserve_order = True
    try:
        yield
    finally:
        for options, before in kept:
            options.preserve_order = before
