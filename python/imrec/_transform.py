"""Functions of Python for the samples and batches of a Loader, run by a few threads ahead of the consumer.

The consumer's thread reads batches and hands each of them to a thread; it takes them in the order in which it has read them. So
batches, errors and the sweep's end come in the order of the iterator, whatever the functions take. What is read ahead is not
delivered: a place is always that after the last batch that was taken.
"""
from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import hashlib
import struct
import time
from typing import TYPE_CHECKING, Any, Callable, List

import torch
from torch.overrides import TorchFunctionMode

from ._torch_items import Items, pinned
from .errors import Error, TransformError

if TYPE_CHECKING:
    from ._batch import Batch
    from ._iterator import ImageRecordIter

_DRAWS = frozenset(getattr(torch, name) for name in ("bernoulli", "multinomial", "normal", "poisson", "rand", "randint", "randn", "randperm",
                                                     "_sample_dirichlet", "_standard_gamma")) | frozenset(
    getattr(torch.Tensor, name) for name in ("bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial",
                                             "normal_", "random_", "uniform_"))
_LIKE = {torch.rand_like: torch.rand, torch.randn_like: torch.randn}


class _Seeded(TorchFunctionMode):
    """While it is active, what this thread draws by torch comes from a generator of its own: the process's generator belongs to
    the training, and threads would share it in the order in which they happen to run."""

    def __init__(self) -> None:
        super().__init__()
        self._generator = torch.Generator()

    def seed(self, *key: int) -> None:
        digest = hashlib.blake2b(struct.pack(f"<{len(key)}Q", *(k & (2**64 - 1) for k in key)), digest_size=8).digest()
        self._generator.manual_seed(int.from_bytes(digest, "little") >> 1)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _LIKE:
            like, more = args[0], args[1:]
            func, args = _LIKE[func], (tuple(like.shape), *more)
            kwargs = {"dtype": like.dtype, "device": like.device, **{k: v for k, v in kwargs.items() if k != "memory_format"}}
            kwargs["generator"] = self._generator
        elif func in _DRAWS and kwargs.get("generator") is None:
            kwargs = {**kwargs, "generator": self._generator}
        return func(*args, **kwargs)


class Samples(List[Any]):
    """What collate= is given: the samples of a batch. `batch`: its items as the Loader would deliver them without functions, not
    yet copied."""

    batch: Any


class _Entry:
    """A batch, an error or the end, as it was read; `place` after it."""

    __slots__ = ("batch", "error", "future", "place")

    def __init__(self) -> None:
        self.batch: Batch | None = None
        self.error: BaseException | None = None
        self.future: concurrent.futures.Future[Any] | None = None
        self.place: dict[str, Any] | None = None

    def is_end(self) -> bool:
        return isinstance(self.error, StopIteration)


class Ahead:
    """The batches that are read and worked on."""

    def __init__(self, it: ImageRecordIter, items: Items, transform: Callable[[Any], Any] | None,
                 collate: Callable[[list[Any]], Any], threads: int, pin: bool) -> None:
        self._it, self._items, self._transform, self._pin = it, items, transform, pin
        self._collate = collate
        self._threads, self._seed = threads, int(it._options["seed"])
        self._queue: collections.deque[_Entry] = collections.deque()
        self._last: dict[str, Any] | None = None  # the place after the last batch taken, or before the first one read
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, "imrec-transform")
        self._batches = self._spent = self._waited = 0

    # ---- in the threads ------------------------------------------------------------------------------------------

    def _work(self, batch: Batch) -> tuple[Any, int]:
        begin = time.perf_counter_ns()
        items = self._items(batch)
        samples = Samples(self._items.samples(items, batch.slots))
        samples.batch = items
        with _Seeded() as drawn:
            if self._transform is not None:
                for slot in range(len(samples)):
                    drawn.seed(self._seed, batch.sweep, int(batch.ids[slot]), slot % batch.repeats)
                    try:
                        samples[slot] = self._transform(samples[slot])
                    except Exception as error:
                        raise self._failed("transform", batch, slot, error) from error
            drawn.seed(self._seed, batch.sweep, int(batch.ids[0]) if batch.slots else 0, batch.repeats)
            try:
                value = self._collate(samples)
            except Exception as error:
                raise self._failed("collate", batch, None, error) from error
        return (pinned(value) if self._pin else value), time.perf_counter_ns() - begin

    def _failed(self, what: str, batch: Batch, slot: int | None, error: Exception) -> TransformError:
        path = self._it._parameters.get("path_imgrec")
        shard = str(path) if str(path).endswith((".rec", ".cbf")) else None
        id_ = None if slot is None else int(batch.ids[slot])
        of = "" if slot is None else f"the sample with id {id_}, slot {slot} of "
        return TransformError(f"{what} failed for {of}batch {batch.number} of {path}, sweep {batch.sweep}: "
                              f"{type(error).__name__}: {error}", shard=shard, id=id_, slot=slot, batch=batch, field=what)

    # ---- in the consumer's thread --------------------------------------------------------------------------------

    def _read(self, prepare: Callable[[Batch], None]) -> _Entry:
        entry = _Entry()
        try:
            batch = entry.batch = self._it.next()
            prepare(batch)
            entry.future = self._pool.submit(self._work, batch)
        except (StopIteration, Error) as error:
            entry.error = error
        with contextlib.suppress(Error):  # after an error that ends the iterator there is none
            entry.place = self._it.state_dict()
        return entry

    def _fill(self, entries: int, prepare: Callable[[Batch], None]) -> None:
        """Waits for the first batch only."""
        while len(self._queue) < entries and not (self._queue and self._queue[-1].error):
            if not self._queue and self._last is None:
                self._last = self._it.state_dict()
            elif self._queue and not self._it._is_ready():
                return
            self._queue.append(self._read(prepare))

    def next(self, prepare: Callable[[Batch], None]) -> tuple[Batch, Any]:
        """The next batch, and what it has become. prepare() is given each batch when it is read."""
        self._fill(self._threads + 1, prepare)
        entry, begin = self._queue[0], time.perf_counter_ns()
        if entry.future is not None:
            concurrent.futures.wait([entry.future])  # Ctrl-C ends the wait, and the entry remains
        self._waited += time.perf_counter_ns() - begin
        self._queue.popleft()
        self._last = entry.place
        if entry.error is not None:
            raise entry.error
        assert entry.future is not None and entry.batch is not None
        value, spent = entry.future.result()
        self._spent += spent
        self._batches += 1
        self._fill(self._threads, prepare)
        return entry.batch, value

    def place(self) -> dict[str, Any]:
        """That after the last batch taken."""
        return self._last if self._queue and self._last is not None else self._it.state_dict()

    def forget(self) -> None:
        """Drops what is read ahead; the iterator's place is about to be set."""
        for entry in self._queue:
            if entry.future is not None:
                entry.future.cancel()
        self._queue.clear()
        self._last = None

    def back(self) -> bool:
        """Takes the iterator back to the place of the consumer; False: it is there."""
        last = self._last if any(not entry.is_end() for entry in self._queue) else None
        self.forget()
        if last is None:
            return False
        self._it.load_state_dict(last)
        self._it._loops.restored = False
        return True

    def stats(self) -> dict[str, int]:
        return {"transform_ns": self._spent, "transform_wait_ns": self._waited, "transform_batches": self._batches}

    def close(self) -> None:
        self.forget()
        self._pool.shutdown()
