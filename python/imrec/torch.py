"""imrec in PyTorch: `Loader` replaces torchvision and a DataLoader, `Dataset` is for a DataLoader of your own;
`prefetch_to()` and `normalize()` are for batches on their way to a device.

    loader = imrec.torch.Loader("train.rec", preset="imagenet-train-torch", batch_size=128, shuffle=True)
    for epoch in range(90):
        for images, labels in loader:  # float32 (128, 3, 224, 224), int64 (128,)
            ...
"""
from __future__ import annotations

import functools
import json
import warnings
from typing import TYPE_CHECKING, Any, Callable, Mapping

import numpy as np
import torch

from . import _agree, _log, _ranks, _torch_detection
from ._accept import DEFAULTS, ITER
from ._dataset import class_names
from ._iterator import ImageRecordIter, position_of
from ._loops import Loop
from ._memory import Blocks
from ._options import describe, signature
from ._reader import Records, of_reader
from ._torch_cuda import Prefetched, prefetch_to
from ._torch_detection import coco_results
from ._torch_dataset import Dataset
from ._torch_face import Face
from ._torch_items import Items, page_locked, pinned
from ._torch_normalize import normalize
from ._transform import Ahead
from .errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._batch import Batch
    from ._tables import Data, LoaderParameters
    from ._torch_items import Deliver

__all__ = ["Dataset", "Loader", "Prefetched", "coco_results", "normalize", "prefetch_to", "rank_and_world_size"]


def rank_and_world_size() -> tuple[int, int]:
    """Rank and world size of this process: those of torch.distributed if it is initialized; otherwise those that the launcher
    (torchrun, mpirun, mpiexec, srun) sets in the environment of the processes that it starts, with a warning unless it is
    torchrun; otherwise 0 of 1."""
    place = _place()
    return place.rank, place.world


def _is_distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def _place() -> _ranks.Place:
    if _is_distributed():
        said = _ranks.given(torch.distributed.get_rank(), torch.distributed.get_world_size())
        assert said is not None
        return said
    return _ranks.guess()


_MOST_THREADS = 64


class _Iterator(ImageRecordIter):
    """The iterator of a Loader, with its defaults, which `preset` overrides."""

    _defaults = {**DEFAULTS, "data_shape": "3,224,224"}
    _of_loader = True


def _opened(path: Any, place: _ranks.Place, channels_last: bool, own: dict[str, Any], parameters: dict[str, Any]) -> _Iterator:
    if "num_parts" in parameters or "part_index" in parameters:
        raise ArgumentError("a Loader takes rank and world_size instead of part_index and num_parts")
    if channels_last and parameters.get("layout", "NHWC") != "NHWC":
        raise ArgumentError("channels_last is layout=NHWC viewed as (slots, C, H, W): omit layout")
    own = {"preprocess_threads": _ranks.share_of_cpus(place), **own}
    if place.world > 1:
        own.update(num_parts=place.world, part_index=place.rank, equal_batches=True)
    if channels_last:
        own["layout"] = "NHWC"
    return _Iterator(path, **{**own, **parameters})


def _allocator(given: Callable[[int], Any] | None, pins: bool, copy: bool) -> Any:
    if given is None:
        return Blocks(page_locked, outlives=True) if pins and not copy else None
    if pins:
        raise ArgumentError("pin_memory=True is an allocator of its own: omit allocator, or let it return pinned memory and omit pin_memory")
    return given


class Loader(Face):
    """Reads record shards as batches of tensors: `for images, labels in loader` is one sweep, the next loop is the next one,
    in another order (there is no set_epoch).

    A loop continues where the last one stopped: after `break`, and after load_state_dict(), the rest of that sweep comes
    first. sweep() is a loop over one complete sweep; rewind() goes to the start of the next one. With restart=True every loop is
    a complete sweep, like that of a DataLoader: for frameworks that look into a loader and expect it to restart.

    images: (slots, C, H, W) of the parameter dtype (float32), the iterator's own memory, not a copy: it is valid as
        long as anything refers to it, and reused after that. With multi_crop, a tuple of such tensors.
    labels: int64 (slots,), as losses need classes; float32 if a sample has several labels and with num_classes;
        dtype_label and label_dtype change the type.
    weights: with weights=True the third item of each batch, float32 (slots,): 1 for a sample, 0 for a slot without one.

    A batch contains no failed samples (on_error="skip") and no padding: it is shorter. These slots are delivered only with
    last_batch="pad" or "repeat", and if the batch of one of several ranks, which all deliver the same number of batches,
    would be empty: with weight 0, or, without weights=True, with a warning. `batch.valid` shows which they are.

    rank, world_size: this process's share of the data; by default rank_and_world_size(). world_size=1 alone reads all of
        it. With more than one, every rank delivers the same number of batches (equal_batches). If they come from
        torch.distributed, all ranks open the Loader together, and it is an ArgumentError on each if they disagree about data,
        seed, batch_size, ...: the message says which rank has what.
    order: "global" is for jobs whose number of ranks changes: global_batch_size samples a step on any world_size that divides
        it, and a state of one resumes on another.
    channels_last: images are (slots, C, H, W) in torch.channels_last memory, also without a copy.
    pin_memory: the items are in pinned memory, for .to(device, non_blocking=True): workers write images and masks there, the
        other tensors are copied. Of prefetch_buffer + 1 batches and those in use; torch rounds each up to a power of two.
    allocator: a function of a number of bytes that returns a buffer in which batches are made, as with ImageRecordIter.
    label_dtype: a torch.dtype, to which labels are converted (dtype_label is the type in which they are read).
    weights, restart: see above.
    copy: images are copies, in memory of their own.
    image, label, fetch_threads, fetch_records: of data that is not packed, which the first argument may be, as with
        ImageRecordIter: a data set of Hugging Face, Parquet files, an object of your own.
    deliver: the items of a batch: "dict" gives all of them by name, a tuple of names these in its order, a dict such as
        {"pixel_values": "image", "labels": "label"} these under its keys. image and label are as above; mask: (slots, H, W) with
        masks=; keypoint: float32 (slots, K, 3) with keypoints=K, label is then what precedes the points; weight: as above;
        id: int64 (slots,); with fields="txt,json" also txt and json, lists of bytes (of numbers: of arrays; None: there is none);
        with images="image,depth:uint16" also depth, a tensor. With images="none" there is no image.
        With boxes (preset="ImageDetRecordIter"), "detection" gives ("fitted", "target"), as torchvision's detectors take them:
        fitted: a list of images (C, H, W) without the filling of resize_mode="fit"; target: a list of dicts of boxes (float32
        (n, 4): left, top, right, bottom in px of that image), labels (int64 (n,): the class + 1, as 0 is the background),
        image_id (the id), area (float32 (n,): of the boxes), iscrowd (int64 (n,)), with keypoints=K also keypoints (float32
        (n, K, 3): x, y in px, visibility), with masks= and mask_kind="instance" also masks (uint8 (n, H, W)).
        Default: (image, label), with weights=True (image, label, weight), with images="none" without image.
    transform: a function of one sample, a tuple or dict as in `deliver` but of one slot; returns what replaces it.
    collate: a function of the list of a batch's samples; returns the batch. Default with transform: torch's default_collate;
        with fitted or target a list of each item. The list's attribute `batch` contains the items of all slots as tensors.
    transform_threads: 1 to 64 threads of Python that run transform and collate, each on a batch, ahead of the consumer by as many
        batches. What the functions draw by torch is a function of seed, sweep and id. Their exceptions are a TransformError in
        the place of the batch, and stats() has their time.
    Further keywords are the parameters of ImageRecordIter, below, except num_parts and part_index. Defaults that differ:
    data_shape=(3, 224, 224), and, if several ranks share a machine, preprocess_threads: its CPUs divided among them.

    state_dict() and load_state_dict() are those of torchdata's StatefulDataLoader: after a Loader has loaded a state, its
    next loop gives the batches that followed. A state belongs to the job: that of any rank restores all ranks.

    `batch` is the imrec.Batch of the last delivered tensors: ids, valid, pad, draws, ...; `batch_size`, `drop_last`,
    `dataset`, `classes` and `num_classes` are those of a DataLoader and its data set.

    Parameters, by group:

"""

    if TYPE_CHECKING:
        def __init__(self, path_imgrec: Data, *, rank: int | None = None, world_size: int | None = None,
                     pin_memory: bool = False, channels_last: bool = False, label_dtype: torch.dtype | None = None,
                     weights: bool = False, restart: bool = False, copy: bool = False,
                     allocator: Callable[[int], Any] | None = None, deliver: Deliver = None,
                     transform: Callable[[Any], Any] | None = None, collate: Callable[[list[Any]], Any] | None = None,
                     transform_threads: int = 2, **parameters: Unpack[LoaderParameters]) -> None: ...
    else:
        def __init__(self, path_imgrec=None, *, rank=None, world_size=None, pin_memory=False, channels_last=False,
                     label_dtype=None, weights=False, restart=False, copy=False, allocator=None, deliver=None,
                     transform=None, collate=None, transform_threads=2, **parameters):
            _check_functions(transform, collate, transform_threads)
            given = _ranks.given(rank, world_size)
            place, self._asked = given or _place(), given is None
            self.rank, self.world_size = place.rank, place.world

            if pin_memory and not torch.cuda.is_available():
                warnings.warn("pin_memory is set, but there is no accelerator: nothing is pinned", stacklevel=2)
                pin_memory = False
            own = {"copy": copy, "allocator": _allocator(allocator, pin_memory, copy)}

            def open_it():
                return _opened(path_imgrec, place, channels_last, own, parameters)

            self._it = _agree.opened(open_it) if self._asked and _is_distributed() else open_it()
            self.batch_size, self.drop_last = self._it._options["batch_size"], self._it._options["drops"]
            self._path, self._parameters = self._it._parameters.get("path_imgrec"), parameters
            self._pin, self._restart, self._shuffled = pin_memory, restart, bool(self._it._options["shuffle"])
            classes = (not parameters.get("num_classes") and not parameters.get("mixup") and not parameters.get("cutmix")
                       and self._it._labels != "float64")
            try:
                self._items = Items(deliver, weights, self._it._options, channels_last, label_dtype, classes)
            except ArgumentError:
                self._it.close()
                raise
            usual = _torch_detection.lists if self._items.has_lists else torch.utils.data.default_collate
            self._collate = collate or (usual if transform else None)
            self._ahead = (Ahead(self._it, self._items, transform, self._collate, transform_threads, pin_memory)
                           if self._collate else None)
            self._living = 0  # number of the active loop
            self._told = False  # whether slots without a sample were reported
            #: the imrec.Batch of the last delivered tensors
            self.batch = None

    rank: int
    world_size: int
    batch: Batch | None
    _it: _Iterator
    _path: Any
    _parameters: dict[str, Any]
    _items: Items
    _ahead: Ahead | None
    _restart: bool
    _living: int
    _told: bool
    _asked: bool  # rank and world size come from torch.distributed or the environment
    batch_size: int  #: samples
    drop_last: bool  #: last_batch="drop"

    @property
    def restart(self) -> bool:
        """Whether every loop is a complete sweep."""
        return self._restart

    # ---- batches -------------------------------------------------------------------------------------------------

    def __iter__(self) -> Loop[Any]:
        """Tuples of images, labels (and weights): the rest of a sweep, or the next one; with restart=True the next one, unless
        load_state_dict() was called before."""
        if not self._restart:
            self._it._loops.begin()
        return self._loop(rewinds=False)

    def _doubt_place(self) -> None:
        """Warns once if torch.distributed was initialized after opening, with other numbers."""
        if not self._asked or not _is_distributed():
            return
        self._asked = False
        now = torch.distributed.get_rank(), torch.distributed.get_world_size()
        if now != (self.rank, self.world_size):
            _log.logger.warning("this Loader was opened before torch.distributed was initialized: it reads as rank %d of %d, although "
                                "this process is rank %d of %d; open it afterwards, or with rank= and world_size=", self.rank,
                                self.world_size, *now)

    def sweep(self) -> Loop[Any]:
        """A loop over exactly one complete sweep, from its start; the rest of another one is skipped."""
        self._it._loops.refuse_endless()
        return self._loop(rewinds=True)

    def _loop(self, rewinds: bool) -> Loop[Any]:
        self._doubt_place()
        number = self._living = self._living + 1
        return Loop(self, lambda first: self._next(number, first, rewinds))

    def rewind(self) -> None:
        """Goes to the start of the next sweep; at the start of one it changes nothing."""
        self._living += 1
        self._back()
        self._it.rewind()

    def _back(self) -> bool:
        """What functions have ahead is dropped; whether the iterator was moved for it."""
        return self._ahead is not None and self._ahead.back()

    def _return_to(self, state: Mapping[str, Any]) -> None:
        """A wrapper has read batches after `state`, and did not deliver them."""
        if not self._restart:
            self.load_state_dict(state)
            self._it._loops.restored = False

    def _next(self, number: int, first: bool, rewinds: bool) -> Any:
        if number != self._living:
            raise RuntimeError("another loop over this Loader has begun: it has one place in the data, not several")
        if first and self._back() and not (self._restart or rewinds):
            self._it._loops.begin()
        if first and (rewinds or (self._restart and not self._it._loops.restored)):
            self._it.rewind()
        restored = first and self._it._loops.restored
        self.batch = None  # releases its memory for reuse
        try:
            self.batch, items = self._read()
        except StopIteration:
            if not (restored and self._restart):
                raise
            self.batch, items = self._read()  # the state was of a sweep's end
        return items

    def _read(self) -> tuple[Batch, Any]:
        if self._ahead is not None:
            return self._ahead.next(self._only_samples)
        batch = self._it.next()
        self._only_samples(batch)
        items = self._items(batch)
        return batch, pinned(items) if self._pin else items

    def _only_samples(self, batch: Batch) -> None:
        """Drops padding, too. Reports once if slots without a sample must stay."""
        if batch.valid.all():
            return
        if batch.valid.any() and not self._it._options["fills"]:
            batch._drop(~batch.valid)
        elif not self._items.has_weights and not self._told:
            self._told = True
            none = int((~batch.valid).sum())
            _log.logger.warning("%d of the %d slots of this batch are not samples (%d failed, %d padding), and they are "
                                "delivered, %s; weights=True gives each batch a third tensor (deliver= the item weight), in which they have weight 0, and "
                                "loader.batch.valid shows which they are", none, batch.slots, batch.failed, batch.pad,
                                "because last_batch asks for full batches" if self._it._options["fills"] else
                                "because every rank delivers the same number of batches")

    def __len__(self) -> int:
        """Batches of a sweep; the same on every rank."""
        return len(self._it)

    # ---- position ------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The place after the last delivered batch, to be saved with the model. It belongs to the job: all ranks have delivered
        the same number of batches, so the state of any rank, for example of rank 0, is valid for all; with order="global" for
        those of any world_size."""
        place = self._ahead.place() if self._ahead is not None else self._it.state_dict()
        return {**place, "world_size": self.world_size}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes to the place of a state: the next loop begins there, on every rank that loads it. Data and seed must be the same;
        batch_size and threads may differ. With order="global" the job may have another world_size, with the same batch of the
        job (global_batch_size); otherwise a state of another world_size is an ArgumentError."""
        position = position_of(state, "a Loader")
        world_size = state.get("world_size", self.world_size)
        if world_size != self.world_size and not self._it._options["of_job"] and not _is_of_job(position):
            raise ArgumentError(f"this state belongs to a job of {world_size} ranks, and this one has {self.world_size}: their shares of "
                                f"the data differ; run it with {world_size} ranks, or begin a sweep without the state "
                                "(states of a Loader with order='global' resume on any number of ranks)")
        self._living += 1
        if self._ahead is not None:
            self._ahead.forget()
        self._it.load_state_dict({"position": position})

    # ---- the data ------------------------------------------------------------------------------------------------

    @functools.cached_property
    def dataset(self) -> Dataset:
        """An imrec.torch.Dataset of the single images of all ranks: len(loader.dataset), .classes, .targets. It is opened on
        first use. There is none with path_imglist, mix, for sounds, for a source of your own, and of data that is no
        path (AttributeError)."""
        for name in ("path_imglist", "audio", "source", "mix"):
            if self._parameters.get(name):
                raise AttributeError(f"a Loader with {name} has no dataset: it would differ from what is delivered")
        if self._it._source is not None:
            raise AttributeError("a Loader of a source has no dataset: the source is one")
        channels = self._it._options["channels"]
        records = Records(self._path, **of_reader(self._it._parameters))
        return Dataset(records, channels=channels if channels in (1, 3, 4) else 3)

    @functools.cached_property
    def classes(self) -> list[str]:
        """Names of the classes, by number, from the list next to the shards; empty without one."""
        return class_names(self._path, **of_reader(self._it._parameters))

    @functools.cached_property
    def num_classes(self) -> int | None:
        """The parameter num_classes; otherwise the length of `classes`; otherwise, from the heads of all records, 1 more than the
        largest label. None if labels are not classes."""
        said = int(self._it._options["num_classes"]) or len(self.classes)
        return said or self.dataset._num_classes()

    # ---- the rest ------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """The statistics of ImageRecordIter: next_wait_ns is the time that the training loop waited for data. With functions also
        transform_ns, their time in all threads, transform_wait_ns, how long the loop waited for them, and transform_batches."""
        functions = self._ahead.stats() if self._ahead is not None else {}
        return {**self._it.stats(), **functions}

    def close(self) -> None:
        """Stops the workers; twice is harmless."""
        if self._ahead is not None:
            self._ahead.close()
        self._it.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<imrec.torch.Loader: rank {self.rank} of {self.world_size}, {self._it._words()}>"

    def _repr_html_(self) -> str:
        return self._it._page(repr(self))


def _check_functions(transform: Any, collate: Any, threads: Any) -> None:
    for name, function in (("transform", transform), ("collate", collate)):
        if function is not None and not callable(function):
            raise ArgumentError(f"{name} must be a function, not {type(function).__name__}", field=name)
    if not isinstance(threads, int) or not 1 <= threads <= _MOST_THREADS:
        raise ArgumentError(f"transform_threads={threads!r}: it must be in [1, {_MOST_THREADS}]", field="transform_threads")


def _is_of_job(position: str) -> bool:
    """Whether it was taken with order="global"."""
    try:
        return bool(json.loads(position)["order"] == "global")
    except (ValueError, KeyError, TypeError):
        return False  # seeking reports the error


_ROWS = tuple(row._replace(default="3,224,224") if row.name == "data_shape" else row
              for row in ITER if row.name not in ("num_parts", "part_index"))
Loader.__doc__ = (Loader.__doc__ or "") + "\n".join("    " + line for line in describe(_ROWS).splitlines()) + "\n"
if not TYPE_CHECKING:
    import inspect

    def _own(name: str, annotation: str, default: Any = None) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    Loader.__signature__ = signature(
        _ROWS, [inspect.Parameter("path_imgrec", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Data"),
         _own("rank", "int | None"), _own("world_size", "int | None"), _own("pin_memory", "bool", False),
         _own("channels_last", "bool", False), _own("label_dtype", "torch.dtype | None"), _own("weights", "bool", False),
         _own("restart", "bool", False), _own("copy", "bool", False), _own("allocator", "Callable[[int], Any] | None"),
         _own("deliver", "Deliver"),
         _own("transform", "Callable[[Any], Any] | None"), _own("collate", "Callable[[list[Any]], Any] | None"),
         _own("transform_threads", "int", 2), _own("fetch_threads", "int | None"), _own("fetch_records", "int | None")],
        without=["path_imgrec"])


def __dir__() -> list[str]:
    return __all__
