"""Engines: where the tasks of a plan run. `_pool` hands them out; each other module has a class `Engine`, and is imported when it
is asked for, because it imports what it is named after."""
from __future__ import annotations

import importlib
import re
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .._running import Watch
from ..errors import ArgumentError, Error

if TYPE_CHECKING:
    from ._rows import Rows

_RAISED = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)")
ENGINES = ("processes", "ray", "spark", "dask")


class Answer(NamedTuple):
    """What became of a task."""

    seconds: float
    packed: int = 0
    skipped: int = 0
    error: Error | None = None


class Job(NamedTuple):
    """What an engine is opened for."""

    plan: str
    workers: int | None  #: tasks at a time; None: as many as the engine has room for
    threads: int  #: of a task; 0: as the engine likes
    cluster: Any  #: the caller's; None: the engine finds one, or starts one and ends it again
    retries: int = 0
    rows: Rows | None = None  #: a data set of the engine; None: the plan is of files


class Engine(Protocol):
    def __init__(self, job: Job) -> None: ...

    def plan_rows(self) -> None:
        """Counts job.rows where they are, and makes the plan. Only of engines that have data sets."""

    def room(self) -> int:
        """How many tasks the engine can run at a time, now."""

    def start(self, task: int) -> Future[Answer]:
        """Runs `attempt()` for the task somewhere. An exception of the future is a worker that was lost."""

    def close(self) -> None:
        """Ends the tasks that still run. The caller's cluster stays as it is."""


def of_data_set(source: Any) -> str | None:
    """The engine of a data set; None: the source is none of an engine. No engine is imported."""
    kind = type(source)
    if kind.__module__.startswith("pyspark.") and hasattr(source, "select") and hasattr(source, "sparkSession"):
        return "spark"
    if kind.__module__.startswith("ray.data.") and hasattr(source, "materialize"):
        return "ray"
    if kind.__module__.startswith("pyspark.") and hasattr(source, "toDF"):
        raise ArgumentError(f"a {kind.__name__} of Spark has no columns: pack its toDF(['image', 'label'])")
    return None


def choose_engine(name: str | None, source: Any) -> str:
    """The engine that was asked for, or that of the source."""
    has = of_data_set(source)
    if name is None:
        return has or "processes"
    if name not in ENGINES:
        raise ArgumentError(f"engine={name!r}: it must be one of {', '.join(ENGINES)}")
    if has not in (None, name):
        raise ArgumentError(f"engine={name!r}: a {type(source).__name__} of {has} is packed where it is, by engine={has!r}")
    return name


def run(name: str, job: Job, bar: Watch) -> list[dict[str, Any]]:
    """Has the missing tasks of a plan done, which is made first where it is of rows. The report of all tries."""
    from ._pool import Pool

    engine: Engine = importlib.import_module(f"{__name__}._{name}").Engine(job)
    try:
        if job.rows is not None:
            engine.plan_rows()
        return Pool(engine, job, bar).run()
    finally:
        engine.close()


def sentence(error: BaseException) -> str:
    """Engines explain themselves on pages: where one has a traceback of Python, its last line says what was raised."""
    text = str(error)
    raised = _RAISED.search(text)
    said = " ".join((raised[1] if raised else text).split())
    return f"{type(error).__name__}: {said[:300]}{'...' * (len(said) > 300)}"


def module(name: str, package: str) -> Any:
    """What an engine is made of; imrec does without it otherwise."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ArgumentError(f"this engine needs the Python package {package}, which cannot be imported ({error}): "
                            f"pip install {package}") from error
