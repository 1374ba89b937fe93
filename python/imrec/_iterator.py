"""ImageRecordIter."""
from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from . import _log, _tables
from ._batch import DTYPES, MASKS, Batch, Memory
from ._ffi import check, error_of, ffi, lib, new_error, same_process, text, to_dict
from ._options import assign, describe, signature
from ._running import interruptible
from .errors import CancelledError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._tables import IterParameters, Text

_WAIT_MS = 100  # between looks at signals
_open: weakref.WeakSet[ImageRecordIter] = weakref.WeakSet()


class ImageRecordIter:
    """Record shards in, shuffled and augmented batches out.

    Iterating gives the batches (`imrec.Batch`) of one sweep; iterating again, those of the next, in another order if
    shuffle=True. What is left of a sweep that was not read to its end comes first, unless reset() is called.

    A batch's `data` is the iterator's own memory, not a copy. As long as anything refers to it (the batch, an array or
    tensor made of it, a slice) it is not written to: the iterator goes on with other memory. That memory is used again
    when the batch is gone. With memory_limit, a batch too many is a LimitError; after some have been let go, the next
    call goes on where it was. copy=True gives batches memory of their own instead.

    One thread at a time is served; the GIL is released while a batch is waited for, and Ctrl-C ends the wait. A forked
    child cannot use an iterator of its parent (ForkedError): open one there.

    Raises: ArgumentError (a parameter that does not exist, or its value), StorageError, CorruptError, LimitError, ...;
    while iterating with on_error="stop", DataError, whose `batch` is delivered all the same.

    Parameters, by group:

"""

    _it: Any  # struct imrec_iter *; NULL: closed
    _c: Any  # struct imrec_batch *
    _pid: int
    _copy: bool
    _nhwc: bool
    _closing: bool
    _lock: threading.Lock
    _memory: weakref.ref[Memory] | None  # that of the batch delivered last
    _dtype: np.dtype[Any]
    _masks: np.dtype[Any]
    _options: dict[str, Any]

    if TYPE_CHECKING:
        def __init__(self, path_imgrec: Text, *, copy: bool = False, **parameters: Unpack[IterParameters]) -> None: ...
    else:
        def __init__(self, path_imgrec=None, *, copy=False, **parameters):
            self._it = ffi.NULL
            _log.listen()
            if path_imgrec is not None:
                parameters["path_imgrec"] = path_imgrec
            options, err = ffi.new("struct imrec_iter_options *"), new_error()
            lib.imrec_iter_options_init(options)
            texts = assign(lib.imrec_iter_options_set, options, _tables.ITER, parameters)
            out = ffi.new("struct imrec_iter **")
            if options.equal_batches or options.mean_img[0] != b"\0":  # all the data may have to be read
                status = interruptible(lambda: lib.imrec_iter_open(options, out, err),
                                       lambda: lib.imrec_iter_close(out[0]))
            else:
                status = lib.imrec_iter_open(options, out, err)
            check(status, err)
            del texts  # borrowed until here
            self._it, self._pid, self._copy = out[0], os.getpid(), copy
            self._lock, self._closing = threading.Lock(), False
            self._memory = None
            self._c = ffi.new("struct imrec_batch *")
            self._dtype = np.dtype(DTYPES[ffi.string(ffi.cast("enum imrec_dtype", options.dtype))])
            self._masks = np.dtype(MASKS[ffi.string(ffi.cast("enum imrec_mask_type", options.masks))])
            self._nhwc = options.layout == lib.IMREC_NHWC
            self._options = {"batch_size": options.batch_size, "samples": options.batch_size // options.num_views, "epoch_size": options.epoch_size,
                             "drops": options.last_batch == lib.IMREC_LAST_DROP and not options.round_batch == 1,
                             "wraps": options.last_batch == lib.IMREC_LAST_WRAP, "max_samples": options.max_samples}
            _open.add(self)

    # ---- batches -------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        with self._serve():
            return self._next()

    next = __next__

    def _next(self) -> Batch:
        self._keep()
        while not lib.imrec_iter_wait(self._it, _WAIT_MS):  # in between, Python looks at signals
            if self._closing:
                raise CancelledError("this ImageRecordIter was closed while a batch was waited for")
        err = new_error()
        status = lib.imrec_iter_next(self._it, self._c, err)
        if status == lib.IMREC_END:
            raise StopIteration
        if status not in (lib.IMREC_OK, lib.IMREC_ERR_DATA):
            raise error_of(status, err)
        batch = self._batch()
        if status == lib.IMREC_ERR_DATA:
            raise error_of(status, err, batch=batch)
        return batch

    def _batch(self) -> Batch:
        c, memory = self._c, Memory(self)
        tensors = c.views[0:c.view_count]
        views = tuple(memory.array(v.data, self._shape(c.slots, v.shape), self._dtype) for v in tensors)
        masks = tuple(memory.array(v.masks, (c.slots, v.shape.height, v.shape.width), self._masks) if v.masks else None
                      for v in tensors)
        if self._copy:
            views = tuple(view.copy() for view in views)
            masks = tuple(mask if mask is None else mask.copy() for mask in masks)
        else:
            self._memory = weakref.ref(memory)
        return Batch(c, views, masks)

    def _shape(self, slots: int, s: Any) -> tuple[int, ...]:
        return (slots, s.height, s.width, s.channels) if self._nhwc else (slots, s.channels, s.height, s.width)

    def _keep(self) -> None:
        """What somebody still looks at stays as it is."""
        memory = self._memory() if self._memory is not None else None
        if memory is not None:
            out, err = ffi.new("struct imrec_kept **"), new_error()
            check(lib.imrec_iter_keep(self._it, out, err), err)
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

    def __len__(self) -> int:
        """Batches of a sweep, or, with epoch_size, of an epoch. Without an index or manifest the heads of all records
        are read once, which may take a while."""
        o, samples, err = self._options, ffi.new("uint64_t *"), new_error()
        with self._serve():
            check(lib.imrec_iter_samples(self._it, samples, err), err)
        n, size = int(samples[0]), o["samples"]
        if 0 < o["epoch_size"] < lib.IMREC_FULL_DATA_SWEEP:
            n = o["epoch_size"]
        if o["epoch_size"] == lib.IMREC_INFINITELY_REPEAT or o["wraps"]:
            if not o["max_samples"]:
                raise TypeError("batches run on without an end (last_batch='wrap' or epoch_size): there is no len()")
            n = o["max_samples"]
        elif o["max_samples"]:
            n = min(n, o["max_samples"])
        return int(n // size if o["drops"] else -(-n // size))

    # ---- position ------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Goes to the start of the next sweep, from anywhere; right after a sweep's end, or after opening, it changes
        nothing."""
        with self._serve():
            self._keep()
            err = new_error()
            check(lib.imrec_iter_rewind(self._it, err), err)

    def state_dict(self) -> dict[str, Any]:
        """The position behind the batch delivered last, to be pickled or saved as JSON."""
        out, err = ffi.new("const char **"), new_error()
        with self._serve():
            check(lib.imrec_iter_position(self._it, out, err), err)
            return {"position": text(out[0])}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to a position of the same data, seed, partition and order; batch size, threads and prefetch depth may be
        others. The batches that follow are those that followed there."""
        err = new_error()
        with self._serve():
            self._keep()
            check(lib.imrec_iter_seek(self._it, state["position"].encode(), err), err)

    # ---- the rest ------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Counts and times since opening (..._ns: nanoseconds, summed over all workers), memory in bytes, and `advice`:
        a sentence on what bounds the speed."""
        out = ffi.new("struct imrec_iter_stats *")
        with self._serve():
            lib.imrec_iter_get_stats(self._it, out)
        return to_dict(out[0])

    def close(self) -> None:
        """Stops the workers and frees everything but batches that are still referred to. Twice is harmless."""
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
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError("an ImageRecordIter has threads and cannot be pickled: open one in each process; "
                        "state_dict() is what can be sent")

    def __repr__(self) -> str:
        state = "closed" if not self._it else f"batches of {self._options['batch_size']}, {self._dtype}"
        return f"<imrec.ImageRecordIter: {state}>"


@atexit.register
def _close_all() -> None:  # before what the workers stand on goes away
    for it in list(_open):
        it.close()


ImageRecordIter.__doc__ = (ImageRecordIter.__doc__ or "") + "\n".join(
    "    " + line for line in describe().splitlines()) + "\n    copy: give each batch memory of its own\n"
if not TYPE_CHECKING:
    import inspect

    ImageRecordIter.__signature__ = signature(_tables.ITER, [
        inspect.Parameter("path_imgrec", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Text"),
        inspect.Parameter("copy", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")],
        without=["path_imgrec"])
