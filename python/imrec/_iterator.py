"""ImageRecordIter."""
from __future__ import annotations

import contextlib
import json
import os
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterator

import numpy as np

from . import _fetch, _log, _tables
from ._accept import DEFAULTS, ITER, accepted
from ._batch import DTYPES, LABELS, MAPS, MASKS, Batch, Memory, bfloat16
from ._ffi import check, error_of, ffi, lib, new_error, same_process, text, to_dict
from ._loops import Loop, Loops, one_sweep
from ._memory import Blocks
from ._names import field_names, image_names, reads_pixels
from ._options import assign, describe, signature
from ._reader import first_page, of_reader, shards
from ._running import close_at_exit, discard, interruptible
from .errors import ArgumentError, CancelledError, DataError, Error

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._tables import Data, IterParameters

_WAIT_MS = 100  # between looks at signals


class ImageRecordIter:
    """Reads record shards as shuffled and augmented batches.

    Iterating gives the batches (`imrec.Batch`) of one sweep; iterating again gives those of the next, in another order if
    shuffle=True. A loop continues where the last one stopped: after `break` the rest of that sweep comes first. sweep() is a
    loop over one complete sweep; rewind() goes to the start of the next one.

    A batch's `data` is the iterator's own memory, not a copy. As long as anything refers to it (the batch, an array or
    tensor made from it, a slice) the iterator does not write there and continues with other memory. It reuses that memory
    when the batch is gone. With memory_limit, one batch too many is a LimitError; after some have been released, the next
    call continues. copy=True gives each batch memory of its own.

    The last batch of a sweep is shorter (last_batch="partial"), and so is one with failed samples: on_error="skip" drops
    them. A batch without any sample is skipped; in one of several partitions it is delivered with `valid` False, so that
    all deliver the same number. A sweep without any good sample is a DataError.

    Instead of shards, the first argument may be data that is not packed: a datasets.Dataset of Hugging Face, a table or data
    set of pyarrow, paths of Parquet files, or an object with samples by index (imrec.Source). image= and label= name its
    columns, fetch_threads= is the number of threads that fetch samples, fetch_records= how many a call asks for at most.

    With allocator=, a function of a number of bytes that returns a writable buffer of at least that size (bytearray, numpy array,
    mmap, SharedMemory.buf, tensor of torch), batches are made in these buffers: opening asks for prefetch_buffer + 1 of them,
    later calls for one more when as many batches are in use; with masks= for twice as many. `batch.block()` gives the buffer of a
    batch. The iterator holds a buffer until it is closed and no batch in it is in use.

    Types may be text, or numpy's and torch's types (dtype=np.float16); data_shape=224 and data_shape=(224, 224) have three
    channels; mean=(124, 116, 104) and std= set mean_r, mean_g, ...

    One thread at a time is served. The GIL is released during a wait for a batch, and Ctrl-C ends the wait. A forked
    child cannot use an iterator of its parent (ForkedError): open one there.

    Raises: ArgumentError (an unknown parameter, or a bad value), MissingFileError, StorageError, CorruptError,
    LimitError, ...; while iterating with on_error="stop", DataError, whose `batch` is delivered nevertheless.

    Parameters, by group:

"""

    _it: Any  # struct imrec_iter *; NULL: closed
    _c: Any  # struct imrec_batch *
    _pid: int
    _copy: bool
    _nhwc: bool
    _closing: bool
    _lock: threading.Lock
    _memory: weakref.ref[Memory] | None  # of the last delivered batch
    _dtype: np.dtype[Any]
    _masks: np.dtype[Any]
    _labels: np.dtype[Any]
    _options: dict[str, Any]
    _parameters: dict[str, Any]
    _path: str  # of the data set; "" with mix
    _loops: Loops
    _source: _fetch.Fetching | None  # of data that is no path; must outlive _it
    _blocks: Blocks | None  # of an allocator
    _detects: bool  # aug_seq=det_aug_default
    _defaults: Mapping[str, Any] = DEFAULTS
    _of_loader = False

    if TYPE_CHECKING:
        def __init__(self, path_imgrec: Data, *, copy: bool = False, allocator: Callable[[int], Any] | None = None,
                     **parameters: Unpack[IterParameters]) -> None: ...
    else:
        def __init__(self, path_imgrec=None, *, copy=False, allocator=None, **parameters):
            self._it = ffi.NULL
            self._blocks = allocator if isinstance(allocator, Blocks) or allocator is None else Blocks(allocator)
            _log.listen()
            self._source = _fetch.rows_of(path_imgrec, parameters)
            if path_imgrec is not None and self._source is None:
                parameters["path_imgrec"] = path_imgrec
            self._parameters = accepted(parameters, self._of_loader)
            self._it, options = self._opened(self._parameters)
            self._take(options)
            self._path = shards(self._parameters.get("path_imgrec") or "")
            self._pid, self._copy = os.getpid(), copy
            self._lock, self._closing = threading.Lock(), False
            self._memory = None
            self._c = ffi.new("struct imrec_batch *")
            self._loops = Loops(self._options["endless"], self._of_loader)
            close_at_exit(self)

    def _opened(self, parameters: Mapping[str, Any]) -> tuple[Any, Any]:
        """An iterator of C's, and its options."""
        options, err = ffi.new("struct imrec_iter_options *"), new_error()
        lib.imrec_iter_options_init(options)
        defaults = dict(self._defaults)
        if parameters.get("round_batch") not in (None, -1):  # it sets the same as last_batch
            del defaults["last_batch"]
        texts = assign(lib.imrec_iter_options_set, options, _tables.ITER, defaults)
        texts += assign(lib.imrec_iter_options_set, options, _tables.ITER, parameters)
        if self._of_loader and "record_places" not in parameters and reads_pixels(parameters.get("images")):
            options.record_places = options.boxes or text(options.aug_seq) == "det_aug_default"  # for coco_results()
        out = ffi.new("struct imrec_iter **")

        def open_it() -> int:
            fetch = self._source.struct if self._source is not None else ffi.NULL
            if self._blocks is not None:
                return int(lib.imrec_iter_open_memory(options, fetch, self._blocks.struct, out, err))
            if self._source is not None:
                return int(lib.imrec_iter_open_fetch(options, fetch, out, err))
            return int(lib.imrec_iter_open(options, out, err))

        if options.equal_batches or options.mean_img[0] != b"\0":  # opening may have to read all data
            status = interruptible(open_it, lambda: lib.imrec_iter_close(out[0]))
        else:
            status = open_it()
        self._pass_on(status)
        self._check_memory(status, err)
        self._detects = text(options.aug_seq) == "det_aug_default"
        del texts  # borrowed until here
        return out[0], options

    def _pass_on(self, status: int) -> None:
        """Raises what has ended a call of the source: KeyboardInterrupt and its like."""
        if status == lib.IMREC_ERR_CANCELLED and self._source is not None and self._source.stopped is not None:
            raise self._source.stopped

    def _check_memory(self, status: int, err: Any) -> None:
        """check() of a call that may have called the allocator."""
        if status != lib.IMREC_OK and self._blocks is not None:
            self._blocks.raise_error()
        check(status, err)

    def _take(self, options: Any) -> None:
        """Keeps the options that are needed later."""
        last = (lib.IMREC_LAST_REPEAT if options.round_batch else lib.IMREC_LAST_PAD) if options.round_batch >= 0 else options.last_batch
        wraps = last == lib.IMREC_LAST_WRAP
        self._dtype = np.dtype(DTYPES[ffi.string(ffi.cast("enum imrec_dtype", options.dtype))])
        self._bfloat16 = options.dtype == lib.IMREC_BFLOAT16
        self._masks = np.dtype(MASKS[ffi.string(ffi.cast("enum imrec_mask_type", options.masks))])
        self._labels = np.dtype(LABELS[ffi.string(ffi.cast("enum imrec_label_dtype", options.dtype_label))])
        of_job = options.order == lib.IMREC_ORDER_GLOBAL
        batch = options.batch_size
        if of_job and batch == 0:
            batch = options.global_batch_size // options.num_parts
        self._nhwc = options.layout == lib.IMREC_NHWC
        self._options = {
            "batch_size": batch, "samples": batch * (options.num_parts if of_job else 1) // options.num_views, "of_job": of_job,
            "epoch_size": options.epoch_size,
            "drops": last == lib.IMREC_LAST_DROP, "wraps": wraps, "max_samples": options.max_samples,
            "fills": last in (lib.IMREC_LAST_PAD, lib.IMREC_LAST_REPEAT),
            "skips": options.on_error != lib.IMREC_ON_ERROR_STOP, "endless": wraps or options.epoch_size == lib.IMREC_INFINITELY_REPEAT,
            "together": options.num_parts > 1 or options.equal_batches, "num_classes": options.num_classes,
            "channels": options.data_shape.channels, "shuffle": options.shuffle,
            "seed": options.seed if options.seed_aug < 0 else options.seed_aug,
            "masks": options.masks != lib.IMREC_MASK_NONE, "keypoints": options.keypoints,
            "instances": options.mask_kind == lib.IMREC_MASK_INSTANCE,
            "boxes": options.boxes or self._detects, "detects": self._detects,
            "views": options.num_views, "mosaics": options.rand_mosaic_prob, "pastes": options.rand_copy_paste_prob, "places": options.record_places,
            "bfloat16": self._bfloat16, "nhwc": self._nhwc, "fields": tuple(field_names(self._parameters.get("fields"))),
            "pixels": reads_pixels(self._parameters.get("images")), "images": tuple(image_names(self._parameters.get("images"))),
            "ends": {"num_parts": options.num_parts, "batch_size": batch, "epoch_size": options.epoch_size,
                     "max_samples": options.max_samples, "seed_aug": options.seed_aug, "mix_group": options.mix_group,
                     "last_batch": ffi.string(ffi.cast("enum imrec_last_batch", last))[len("IMREC_LAST_"):].lower()}}

    # ---- batches -------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Batch]:
        """The rest of a sweep, or the next one. The same object: the next loop, and next(), continue where it stops."""
        self._loops.begin()
        return self

    def __next__(self) -> Batch:
        with self._serve():
            return self._loops.next(self._next, self._into)

    next = __next__

    def sweep(self) -> Loop[Batch]:
        """A loop over exactly one complete sweep (with epoch_size: epoch), from its start; the rest of another one is skipped.
        It raises RuntimeError if something else reads or moves the iterator meanwhile."""
        return one_sweep(self, self._loops, self._sweep_next)

    def _sweep_next(self, first: bool) -> Batch:
        with self._serve():
            if first:
                self._rewind()
            return self._loops.next(self._next, self._into)

    def _next(self) -> Batch:
        """The next batch with a sample in it."""
        while True:
            batch, status, err = self._read()
            if batch is None:
                if self._loops.all_failed() and not self._options["together"]:
                    raise self._nothing_left(None)
                raise StopIteration
            if status == lib.IMREC_ERR_DATA:
                raise error_of(status, err, batch=batch)
            dead = batch.status != 0 if self._options["skips"] else None
            self._loops.count(batch)
            if dead is None or not dead.any():
                return batch
            if batch.valid.any():
                batch._drop(dead)
                return batch
            if self._options["together"]:  # the other partitions deliver a batch, too
                return batch
            if batch.sweep_end and self._loops.all_failed():
                raise self._nothing_left(batch)

    def _nothing_left(self, batch: Batch | None) -> DataError:
        return DataError(f"all samples of a complete sweep failed ({self._loops.forget_failed():,} slots); "
                         "the logger imrec names the first ones, and on_error='stop' raises their errors", batch=batch,
                         status=lib.IMREC_ERR_DATA)

    def _is_ready(self) -> bool:
        """Whether the next batch, or the end, can be had without waiting."""
        with self._serve():
            return bool(lib.imrec_iter_wait(self._it, 0))

    def _read(self) -> tuple[Batch | None, int, Any]:
        """C's next batch; None at the end of a sweep."""
        self._keep()
        while not lib.imrec_iter_wait(self._it, _WAIT_MS):  # in between, Python looks at signals
            if self._closing:
                raise CancelledError("this ImageRecordIter was closed during a wait for a batch")
        err = new_error()
        status = lib.imrec_iter_next(self._it, self._c, err)
        if status == lib.IMREC_END:
            return None, status, err
        if status not in (lib.IMREC_OK, lib.IMREC_ERR_DATA):
            self._pass_on(status)
            raise error_of(status, err)
        return self._batch(), status, err

    def _batch(self) -> Batch:
        c, memory = self._c, Memory(self)
        tensors = c.views[0:c.view_count]
        views = tuple(self._pixels(memory, v.data, c.slots, v.shape) for v in tensors)
        masks = tuple(memory.array(v.masks, (c.slots, v.shape.height, v.shape.width), self._masks) if v.masks else None
                      for v in tensors)
        images = self._further(memory)
        if self._copy:
            views = tuple(view.copy() for view in views)
            masks = tuple(mask if mask is None else mask.copy() for mask in masks)
            images = {name: tuple(image.copy() for image in views) for name, views in images.items()}
        else:
            self._memory = weakref.ref(memory)
        return Batch(c, views, masks, self._nhwc, self._labels, self._path, images, self._blocks)

    def _pixels(self, memory: Memory, data: Any, slots: int, shape: Any) -> np.ndarray[Any, Any]:
        if not data:  # images="none"
            return np.empty((slots, 0), self._dtype)
        array = memory.array(data, self._shape(slots, shape), self._dtype)
        return array.view(bfloat16()) if self._bfloat16 else array

    def _further(self, memory: Memory) -> dict[str, tuple[np.ndarray[Any, Any], ...]]:
        """Of each name the images of all views."""
        c, images = self._c, {}
        for i in range(0, c.image_count, c.view_count):
            views = c.images[i:i + c.view_count]
            images[ffi.string(views[0].name).decode(errors="surrogateescape")] = tuple(
                self._pixels(memory, v.data, c.slots, v.shape) if v.type == lib.IMREC_IMAGE_PIXELS else
                memory.array(v.data, (c.slots, v.shape.height, v.shape.width), np.dtype(MAPS[v.type])) for v in views)
        return images

    def _shape(self, slots: int, s: Any) -> tuple[int, ...]:
        return (slots, s.height, s.width, s.channels) if self._nhwc else (slots, s.channels, s.height, s.width)

    def _keep(self) -> None:
        """Keeps the memory of the last batch if anything still refers to it."""
        memory = self._memory() if self._memory is not None else None
        if memory is None and self._memory is not None and self._blocks is not None and self._blocks.outlives:
            memory = Memory(self)  # released at once: its block is freed, never used again
        if memory is not None:
            out, err = ffi.new("struct imrec_kept **"), new_error()
            self._check_memory(lib.imrec_iter_keep(self._it, out, err), err)
            memory.keep(out[0])
        self._memory = None

    @contextlib.contextmanager
    def _serve(self) -> Iterator[None]:
        """Holds the lock of the one thread that is served; refuses forked children and closed iterators."""
        if self._it:
            same_process(self._pid, "ImageRecordIter")
        with self._lock:
            if not self._it:
                raise CancelledError("this ImageRecordIter is closed")
            yield

    def _samples(self) -> int:
        """Samples of a sweep: of the partition, or, with order="global", of the job."""
        samples, err = ffi.new("uint64_t *"), new_error()
        with self._serve():
            check(lib.imrec_iter_samples(self._it, samples, err), err)
        return int(samples[0])

    def _share(self) -> int:
        """Samples of a sweep that a partition reads; of equal ones the largest."""
        parts = self._options["ends"]["num_parts"] if self._options["of_job"] else 1
        return -(-self._samples() // parts)

    def __len__(self) -> int:
        """Batches of a sweep, or, with epoch_size, of an epoch. With on_error="skip" this includes skipped batches, in which all
        samples fail. Without an index or manifest it reads the heads of all records once, which may take a while."""
        o, n = self._options, self._samples()
        size = o["samples"]
        if 0 < o["epoch_size"] < lib.IMREC_FULL_DATA_SWEEP:
            n = o["epoch_size"]
        if o["endless"]:
            if not o["max_samples"]:
                raise TypeError("batches continue without an end (last_batch='wrap' or epoch_size): there is no len()")
            n = o["max_samples"]
        elif o["max_samples"]:
            n = min(n, o["max_samples"])
        return int(n // size if o["drops"] else -(-n // size))

    # ---- position ------------------------------------------------------------------------------------------------

    def rewind(self) -> None:
        """Goes to the start of the next sweep, from anywhere. Right after a sweep's end, or after opening, it changes
        nothing."""
        with self._serve():
            self._rewind()

    reset = rewind  # MXNet's name

    def _rewind(self) -> None:
        self._keep()
        err = new_error()
        check(lib.imrec_iter_rewind(self._it, err), err)
        self._loops.moved(restored=False)

    def _position(self) -> str:
        out, err = ffi.new("const char **"), new_error()
        check(lib.imrec_iter_position(self._it, out, err), err)
        return text(out[0])

    def _into(self) -> tuple[int, int]:
        """The number of delivered samples of the sweep (epoch), and its number."""
        place = json.loads(self._position())
        return place["epoch_sample"], place["epoch"]

    def state_dict(self) -> dict[str, Any]:
        """The position after the last delivered batch, to be pickled or saved as JSON; `indexed`: whether the order is that of an
        index."""
        with self._serve():
            return {"position": self._position(), "indexed": bool(self._stats().indexed)}

    def position_at(self, sweep: int, sample: int) -> dict[str, Any]:
        """With order="global": the state_dict() that every rank has after `sample` samples of the job in a sweep, made from these
        numbers alone: nothing is read, and no rank is asked."""
        out, err = ffi.new("const char **"), new_error()
        with self._serve():
            check(lib.imrec_iter_position_at(self._it, sweep, sample, out, err), err)
            return {"position": text(out[0]), "indexed": True}

    def fingerprint(self) -> str:
        """A text that is equal on all ranks of a job if they agree about data, seeds, order, num_parts, sizes and ends: to be
        compared when the job begins, so that a rank that disagrees is an error and not a hang."""
        with self._serve():
            return f"{int(lib.imrec_iter_fingerprint(self._it)):016x}"

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes to a position of the same data, seed, partition and order; batch size, threads and prefetch depth may differ. The
        batches that follow are those that followed there: the next loop is over the rest of that sweep.

        With path_imgidx="auto" (the default) the position may have another order, because the index did not exist then. The
        iterator is then opened again in the position's order, and numbers of batches and statistics restart. An index that
        existed then and is missing now is an ArgumentError that names it."""
        position = position_of(state, "an ImageRecordIter")
        with self._serve():
            self._keep()
            other = self._other_order(position)
            if other is None:
                self._seek(self._it, position)
            else:
                self._reopen(other, position)
            self._loops.moved(restored=True)

    def _seek(self, it: Any, position: str) -> None:
        """Another rank's position may need the records before it to be read. Ctrl-C takes effect meanwhile, and closes `it`."""
        encoded, err = position.encode(), new_error()
        try:
            status = interruptible(lambda: lib.imrec_iter_seek(it, encoded, err), lambda: lib.imrec_iter_close(it))
        except BaseException:
            if it == self._it:
                self._it = ffi.NULL
            raise
        check(status, err)

    def _other_order(self, position: str) -> str | None:
        """The path_imgidx for a position of the other order, if it can be changed."""
        try:
            indexed = json.loads(position)["indexed"]
        except (ValueError, KeyError, TypeError):
            return None  # seeking reports the error
        if self._parameters.get("path_imgidx") not in (None, "auto") or bool(indexed) == self._stats().indexed:
            return None
        if indexed:
            return "auto"
        return "none" if lib.imrec_iter_index(self._it) else None  # CBF files have no other order

    def _reopen(self, path_imgidx: str, position: str) -> None:
        parameters = {**self._parameters, "path_imgidx": path_imgidx}
        it = self._opened_at({**parameters, "metrics": ""}, position)
        old, self._it = self._it, it
        lib.imrec_iter_close(old)
        if parameters.get("metrics"):  # its port is free only now
            self._it = self._opened_at(parameters, position)
            lib.imrec_iter_close(it)

    def _opened_at(self, parameters: dict[str, Any], position: str) -> Any:
        it, _ = self._opened(parameters)
        try:
            self._seek(it, position)
        except Error:
            lib.imrec_iter_close(it)
            raise
        return it

    # ---- the rest ------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Counts and times since opening (..._ns: nanoseconds, summed over all workers), memory in bytes; `advice`: a sentence
        about what limits the speed; `indexed`, `index`: whether the order is that of an index, and of which (the first
        shard's); `traffic`: bytes of objects that came from stores over the network and from cache=, requests, retries,
        hedges, and the time that threads waited for stores."""
        with self._serve():
            out = ffi.new("struct imrec_traffic *")
            lib.imrec_iter_get_traffic(self._it, out)
            traffic = to_dict(out[0])
            del traffic["struct_size"]
            return {**to_dict(self._stats()), "traffic": traffic, "index": text(lib.imrec_iter_index(self._it)) or None}

    @property
    def metrics(self) -> str | None:
        """Where the numbers of metrics= are: its value, of port 0 with the port that the system gave ("127.0.0.1:43567")."""
        with self._serve():
            return text(lib.imrec_iter_metrics(self._it)) or None

    def _stats(self) -> Any:
        out = ffi.new("struct imrec_iter_stats *")
        lib.imrec_iter_get_stats(self._it, out)
        return out[0]

    def close(self) -> None:
        """Stops the workers and frees everything except batches that are still in use. Twice is harmless."""
        if not self._it or self._pid != os.getpid():
            self._it = ffi.NULL
            return
        self._closing = True
        with self._lock:
            memory = self._memory() if self._memory is not None else None
            if not self._it:
                return
            if memory is not None:
                out, err = ffi.new("struct imrec_kept **"), new_error()
                check(lib.imrec_iter_close_keeping(self._it, out, err), err)
                memory.keep(out[0])
            else:
                lib.imrec_iter_close(self._it)
            self._it = ffi.NULL

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_it", None):
            discard(self)

    def __reduce__(self) -> Any:
        raise TypeError("an ImageRecordIter has threads and cannot be pickled: open one in each process; "
                        "send its state_dict()")

    def __repr__(self) -> str:
        return f"<imrec.ImageRecordIter: {self._words()}>"

    def _repr_html_(self) -> str:
        return self._page(repr(self))

    def _page(self, words: str) -> str:
        """The set's first images as they are packed: no batch is taken for it."""
        closed = not self._it or self._pid != os.getpid()
        return first_page("" if closed else self._path, words, of_reader(self._parameters))

    def _words(self) -> str:
        if not self._it or self._pid != os.getpid():
            return "closed"
        index = text(lib.imrec_iter_index(self._it))
        order = f"in the order of {index}" if index else "in the order of the records" if self._stats().indexed else "without an index"
        return (f"batches of {self._options['batch_size']}, {self._dtype}, {'shuffled ' if self._options['shuffle'] else ''}{order}")


def position_of(state: Any, what: str) -> str:
    """The position in a state; raises ArgumentError for anything else."""
    if not isinstance(state, Mapping):
        raise ArgumentError(f"a state of {what} is the dict that its state_dict() gave, not {type(state).__name__}")
    position = state.get("position")
    if not isinstance(position, str):
        has = ", ".join(map(repr, state)) or "nothing"
        raise ArgumentError(f"this is not a state of {what}: 'position' is missing, it has {has}; state_dict() gives one")
    return position


ImageRecordIter.__doc__ = (ImageRecordIter.__doc__ or "") + "\n".join(
    "    " + line for line in describe().splitlines()) + "\n    copy: give each batch memory of its own\n"
if not TYPE_CHECKING:
    import inspect

    ImageRecordIter.__signature__ = signature(ITER, [
        inspect.Parameter("path_imgrec", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Data"),
        *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation="int | None")
          for name in ("fetch_threads", "fetch_records")),
        inspect.Parameter("copy", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool"),
        inspect.Parameter("allocator", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Callable[[int], Any] | None")],
        without=["path_imgrec"])
