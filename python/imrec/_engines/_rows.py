"""Rows of the data sets of engines as the items of a plan. The functions of workers run where the rows are: counting them, which
finds what is wrong with one before anything is packed, and packing them."""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterable, Iterator, NamedTuple

from .._ffi import ffi, lib, new_error, raise_error
from .._pack import _Job
from .._pack_items import ANY_ID, Columns, Feeder, Giver, Item, Taker, c_text, missing
from .._unpacked import Unpacked
from ..errors import ArgumentError
from . import Answer, _pool

NO_COUNT = 0, 0, 0, False, False


class Counted(NamedTuple):
    """The rows of a task."""

    items: tuple[int, int, int, bool, bool]  #: struct imrec_plan_items
    numbered: bool | None = None  #: they have no ids; None: there are no rows
    error: tuple[int, str] | None = None  #: the row, from 0, that cannot be packed, and why


# ---- workers ---------------------------------------------------------------------------------------------------------

def _items(rows: Iterable[Any], taker: Taker, first: int) -> Iterator[Item]:
    """Ids of rows that are numbered are given by the plan."""
    for n, row in enumerate(rows, first):
        item = taker(n, row)
        yield item._replace(id=0) if taker.numbered else item


def count(rows: Iterable[Any], columns: Columns) -> Counted:
    taker = Taker(columns, Unpacked())
    giver = Giver(_items(rows, taker, 0))
    job, counted, err = _Job(None, None, None), ffi.new("struct imrec_plan_items *"), new_error()
    lib.imrec_pack_source_init(job.source)
    job.set_classes(columns.classes or [])
    job.source.next, job.source.user = lib.on_pack_item, giver.handle
    try:
        status = lib.imrec_plan_count_items(job.source, counted, err)
        if giver.error is not None:
            raise giver.error
        if status != lib.IMREC_OK:
            raise_error(status, err)
    except ArgumentError as error:
        return Counted(NO_COUNT, error=(giver.number, str(error)))
    return Counted((counted.count, counted.check, counted.label_count, counted.boxes, counted.labelled), taker.numbered)


def work(plan: str, task: int, *, threads: int, progress: Any, rows: Iterable[Any], columns: Columns, first: int) -> dict[str, Any]:
    """distributed.work() with the rows of the task, the first of which has this number in the data set."""
    feeder = Feeder(_items(rows, Taker(columns, Unpacked()), first), progress, 0)
    job, name, run = _Job(plan, None, None), c_text(plan, "plan"), ffi.new("struct imrec_plan_run *")
    lib.imrec_plan_run_init(run)
    lib.imrec_pack_source_init(job.source)
    job.source.next, job.source.user = lib.on_pack_item, feeder.handle
    run.threads, run.progress, run.user = threads, lib.on_progress, feeder.handle
    return job.run(feeder, lambda err: lib.imrec_plan_work_items(name, task, job.source, run, job.result, err))


def attempt(plan: str, task: int, threads: int, rows: Iterable[Any], columns: Columns, first: int) -> Answer:
    return _pool.attempt(plan, task, threads, work=partial(work, rows=rows, columns=columns, first=first))


# ---- the driver ------------------------------------------------------------------------------------------------------

def _named(error: tuple[int, str], first: int, place: str) -> str:
    """The message with the item's number in the data set, as one process would say it, instead of that in its task."""
    n, why = error
    begin = f"item {n}"
    if not why.startswith(begin):
        return why
    return f"item {first + n}" + (f" (row {n} of {place})" if place else "") + why[len(begin):]


class Rows:
    """A data set that is packed."""

    def __init__(self, source: Any, columns: Columns, tasks: int, shards: int, make: Callable[[Any, int, bool], None]) -> None:
        """make(items, tasks, numbered) makes the plan."""
        self.source, self.columns, self.tasks, self.shards = source, columns, tasks, shards
        self.first: list[int] = []  #: number of each task's first row in the data set
        self._make = make

    def chosen(self, names: list[str]) -> list[str]:
        """The columns that are packed, of those that the data set has. The others are named in a warning, once."""
        image, label, id = self.columns[:3]
        for key, word in ((image, "image"), (label, "label"), (None if id == ANY_ID else id, "id")):
            if key is not None and key not in names:
                raise ArgumentError(f"the data set has no column {key!r}: " + missing(key, word, names))
        chosen, unpacked = [name for name in names if name in (image, label, id)], Unpacked()
        for name in names:
            if name not in chosen:
                unpacked.add(f"column {name!r}")
        unpacked.tell()
        return chosen

    def plan(self, counted: list[Counted], place: str) -> None:
        """Makes the plan of what was counted in each task. place: what a task is for the user, to whom an error names a row;
        "": nothing."""
        self.first = []
        total = 0
        for task, one in enumerate(counted):
            self.first.append(total)
            if one.error is not None:
                raise ArgumentError(_named(one.error, total, f"{place} {task}" if place else ""))
            total += one.items[0]
        if not total:
            raise ArgumentError("there is nothing to pack: the data set has no row")
        self._make(ffi.new("struct imrec_plan_items[]", [one.items for one in counted]), len(counted), self._numbered(counted))

    def _numbered(self, counted: list[Counted]) -> bool:
        numbered: bool | None = None
        for first, one in zip(self.first, counted):
            numbered = one.numbered if numbered is None else numbered
            if one.numbered is not None and one.numbered != numbered:
                raise ArgumentError(f"item {first} has {'no' if one.numbered else 'an'} id, and the first item has "
                                    f"{'one' if one.numbered else 'none'}; id=None numbers the items")
        return bool(numbered)
