"""Packs one set in many processes, on this machine or others: a plan, its tasks, and a finish.

    imrec.distributed.pack("photos/", "train.rec", resize=256, shards=16)                # processes of this machine
    imrec.distributed.pack(frame, "s3://bucket/train.rec", image="content", resize=256)  # rows of Spark or Ray, where they are

or step by step, each step on any machine that reaches the plan, the images and the output:

    imrec.distributed.make("photos/", "train.rec", plan="job", resize=256, shards=16)    # once
    imrec.distributed.work("job", k)                                                     # for each task k, anywhere
    imrec.distributed.finish("job")                                                      # once

The bytes of the set are those of `imrec.pack()`. docs/guide/distributed.md says what a plan is."""
from __future__ import annotations

import os
from typing import Any, Callable

from . import _engines
from ._engines._rows import Rows
from ._ffi import check, lib, new_error
from ._pack import _Job, given, keep_bytes, make_parent, prepare_items
from ._pack_items import ANY_ID, Columns, c_text
from ._pack_sources import is_tar
from ._plan import finish, make, status, tasks, work
from ._running import Watch
from ._webdataset import ANY_IMAGE, ANY_LABEL, extensions
from .errors import ArgumentError

__all__ = ["finish", "make", "pack", "status", "tasks", "work"]


def pack(source: Any, out: Any, engine: str | None = None, *, cluster: Any = None, plan: Any = None, tasks: int = 0,
         workers: int | None = None, threads: int = 0, retries: int = 3, root: Any = None, image: str = ANY_IMAGE,
         label: str | None = ANY_LABEL, id: str | None = ANY_ID, progress: bool | Callable[[Any], None] = False,
         **parameters: Any) -> dict[str, Any]:
    """Packs a folder, a LIST.lst, tar archives, or a data set of an engine as `imrec.pack()` does, with the tasks of a plan spread by
    the engine.

    source    a folder, a LIST.lst, or .tar archives of WebDataset that are not compressed, as paths or URIs; or a DataFrame of
              Spark or a Dataset of Ray, whose rows are read, packed and written by its own workers: none goes through this
              process.
    engine    "processes" of this machine, "ray", "spark" or "dask" (its package is `distributed`); by default that of the data
              set, otherwise "processes". imrec must be installed where the tasks run, and plan, images and output have the same
              names there.
    cluster   for ray an address, for spark a SparkSession, for dask a Client, a cluster or an address. By default what is there:
              of ray what ray.init() has connected to, the session of the DataFrame or the active one, the current Client;
              otherwise what ray.init(), SparkSession.builder and a LocalCluster make, which is closed at the end.
    image     of a data set: the columns of the image (the bytes of a file, a path, an array), of the label (a number, several,
    label     or the name of a class that classes= lists), and of the id, as in `imrec.pack()`: label=None packs without labels,
    id        id=None numbers the rows. Other columns are named in a warning. Of archives: the extensions of image and label.
    plan      folder of the plan; by default OUT.plan, which is removed at the end. One that an interrupted call has left is
              continued: it must be of the same call, and of the same rows in the same order.
    tasks     how many tasks; by default one for each shard with shards=N, otherwise one for about 2048 images. A DataFrame has
              one for each partition.
    workers   how many tasks at a time; by default as many as the engine has CPUs for.
    threads   of each task; by default 1 (with processes: the CPUs divided by the workers; with spark: spark.task.cpus).
    retries   how often a task may fail or lose its worker before the call fails.
    progress  True: a bar of tqdm, in tasks; or a function that is called with a dict of counts.

    The rows of a data set are read twice: they are counted, and compared with that when they are packed. Rows that are others
    then, or in another order, are a CorruptError that names the task.
    Returns the card of `imrec.pack()` with `tasks`: for each try its task, seconds, packed, skipped and error.
    Raises what a task raised at last. After that, or Ctrl-C, the same call continues with what is done."""
    name = _engines.choose_engine(engine, source)
    own = plan is None
    folder = os.fspath(out) + ".plan" if own else os.fspath(plan)
    if "://" not in folder:
        folder = os.path.abspath(folder)  # workers have other working folders
    rows = None
    if _engines.of_data_set(source) is not None:
        rows = _rows_of(source, out, folder, root, tasks, Columns(image, label, id), parameters)
    elif is_tar(source) and id == ANY_ID:
        make(source, out, folder, tasks=tasks, again=True, **keep_bytes({**extensions(image, label), **given(parameters)}))
    elif (image, label, id) != (ANY_IMAGE, ANY_LABEL, ANY_ID):
        raise ArgumentError("image=, label= and id= are for data sets, and image= and label= for archives")
    else:
        make(source, out, folder, root=root, tasks=tasks, again=True, **parameters)
    report = _engines.run(name, _engines.Job(folder, workers, threads, cluster, retries, rows), Watch(progress, "task"))
    card = finish(folder)
    card["tasks"] = report
    if own:
        err = new_error()
        check(lib.imrec_plan_forget(c_text(folder, "plan"), err), err)
    return card


def _rows_of(source: Any, out: Any, plan: str, root: Any, tasks: int, columns: Columns, parameters: dict[str, Any]) -> Any:
    """A data set, with the function that makes its plan when its rows are counted. Wrong parameters are refused before that."""
    job = _Job(out, None, root)
    columns = prepare_items(job, given(parameters), columns, None)

    def make_plan(items: Any, count: int, numbered: bool) -> None:
        make_parent(os.fspath(out))
        job.source.numbered, err = numbered, new_error()
        check(lib.imrec_plan_continue_items(c_text(plan, "plan"), job.task, job.source, job.options, items, count, err), err)

    return Rows(source, columns, tasks, int(job.options.shards), make_plan)
