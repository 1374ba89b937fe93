"""The single steps of packing in tasks: `imrec.distributed` has them, too, and engines call them."""
from __future__ import annotations

from typing import Any, Callable

from ._ffi import check, ffi, lib, new_error, to_dict
from ._pack import _Job, given
from ._pack_items import c_text
from ._pack_sources import folder_or_list, is_path, is_tar
from ._running import Watch
from ._webdataset import names_of
from .errors import ArgumentError

_STATES = ("missing", "running", "done")


def make(source: Any, out: Any, plan: Any, *, root: Any = None, tasks: int = 0, again: bool = False,
         progress: bool | Callable[[Any], None] = False, **parameters: Any) -> dict[str, Any]:
    """Reads a folder, LIST.lst (paths relative to `root`) or .tar archives once and writes the plan into the folder `plan`; packs
    nothing.

    tasks: how many; 0: one for each shard with shards=N, otherwise one for about 2048 images. Parameters are those of
    `imrec.pack()`. again=True takes a plan of the same call that is there already. Returns the plan's status."""
    if not is_path(source) and not is_tar(source):
        raise ArgumentError(f"a {type(source).__name__} is not packed by tasks: give a folder, a LIST.lst, tar archives, or to pack() a "
                            "DataFrame of Spark or a Dataset of Ray; imrec.pack() takes any iterable")
    job = _Job(out, None, names_of(source)) if is_tar(source) else _Job(out, *folder_or_list(source, root))
    job.set_options(given(parameters))
    watch, name, err = Watch(progress, "img"), c_text(plan, "plan"), new_error()
    job.task.progress, job.task.user = lib.on_progress, watch.handle
    if again:
        check(watch.run(lambda: lib.imrec_plan_continue(name, job.task, job.options, tasks, err)), err)
    else:
        check(watch.run(lambda: lib.imrec_plan_make(name, job.task, job.options, tasks, ffi.NULL, err)), err)
    return status(plan)


def work(plan: Any, task: int, *, threads: int = 0, memory: int = 0, progress: bool | Callable[[Any], None] = False) -> dict[str, Any]:
    """Packs a task of the plan, from 0. A task that is done is left alone (`was_complete`). Returns the card of the task."""
    return _run(plan, progress, threads, memory, lambda name, run, result, err: lib.imrec_plan_work(name, task, run, result, err))


def finish(plan: Any, *, progress: bool | Callable[[Any], None] = False) -> dict[str, Any]:
    """Makes the set of what the tasks have left. Returns the card that `imrec.pack()` would return."""
    return _run(plan, progress, 0, 0, lib.imrec_plan_finish)


def status(plan: Any) -> dict[str, Any]:
    """How many tasks are done, running and missing, and how long the others may take (`seconds_left`, None: unknown)."""
    found, err = ffi.new("struct imrec_plan_status *"), new_error()
    check(lib.imrec_plan_status(c_text(plan, "plan"), found, err), err)
    card = to_dict(found[0])
    card["seconds_left"] = card["seconds_left"] if card["seconds_left"] >= 0 else None
    return card


def tasks(plan: Any) -> list[str]:
    """The state of each task: "missing", "running" or "done"."""
    count, err = status(plan)["tasks"], new_error()
    states = ffi.new("enum imrec_task_state[]", count)
    check(lib.imrec_plan_tasks(c_text(plan, "plan"), count, states, err), err)
    return [_STATES[state] for state in states]


def _run(plan: Any, progress: Any, threads: int, memory: int, call: Callable[..., int]) -> dict[str, Any]:
    job, name, run = _Job(plan, None, None), c_text(plan, "plan"), ffi.new("struct imrec_plan_run *")
    lib.imrec_plan_run_init(run)
    watch = Watch(progress, "img")
    run.threads, run.memory, run.progress, run.user = threads, memory, lib.on_progress, watch.handle
    return job.run(watch, lambda err: call(name, run, job.result, err))


# ---- all of it -------------------------------------------------------------------------------------------------------
