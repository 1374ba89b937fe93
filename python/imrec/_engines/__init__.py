"""Engines: where the tasks of a plan run. `_pool` hands them out; each other module has a class `Engine`, and is imported when it
is asked for, because it imports what it is named after."""
from __future__ import annotations

import importlib
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol

from .._running import Watch
from ..errors import ArgumentError, Error

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


class Engine(Protocol):
    def __init__(self, job: Job) -> None: ...

    def room(self) -> int:
        """How many tasks the engine can run at a time, now."""

    def start(self, task: int) -> Future[Answer]:
        """Runs `attempt()` for the task somewhere. An exception of the future is a worker that was lost."""

    def close(self) -> None:
        """Ends the tasks that still run. The caller's cluster stays as it is."""


def check_engine(name: str) -> None:
    if name not in ENGINES:
        raise ArgumentError(f"engine={name!r}: it must be one of {', '.join(ENGINES)}")


def run(name: str, job: Job, retries: int, bar: Watch) -> list[dict[str, Any]]:
    """Has the missing tasks of a plan done. The report of all tries."""
    from ._pool import Pool

    engine: Engine = importlib.import_module(f"{__name__}._{name}").Engine(job)
    try:
        return Pool(engine, job, retries, bar).run()
    finally:
        engine.close()


def module(name: str, package: str) -> Any:
    """What an engine is made of; imrec does without it otherwise."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ArgumentError(f"this engine needs the Python package {package}, which cannot be imported ({error}): "
                            f"pip install {package}") from error
