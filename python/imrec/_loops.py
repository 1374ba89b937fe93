"""Loops over an iterator that has one place in the data.

The rule, for ImageRecordIter and Loader: a loop continues where the last one stopped; after a sweep's end it is the next
sweep. No sample is skipped in silence, and no loop is short in silence: a loop that begins in mid-sweep, without
load_state_dict() before it, logs one warning.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Generic, Iterator, TypeVar

from ._log import logger

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._batch import Batch

T = TypeVar("T")


class Loops:
    """The state of the loops over an iterator."""

    def __init__(self, endless: bool, of_loader: bool) -> None:
        self.endless = endless  # batches continue across sweeps: no loop has a start
        self.moves = 0  # counts all changes of the place
        self._name = "Loader" if of_loader else "ImageRecordIter"
        self._hint = "rewind() or sweep() begin a new one" + (", restart=True does so in every loop" if of_loader else "")
        self._begins = False  # a loop has begun, and no batch has been requested yet
        self._told = False
        self.restored = False  # load_state_dict() has set the place, and no batch has been requested yet
        self._sweep_begins(True)

    def refuse_endless(self) -> None:
        if self.endless:
            raise TypeError("batches continue without an end (last_batch='wrap' or epoch_size): there is no sweep()")

    def begin(self) -> None:
        self._begins = True

    def moved(self, restored: bool) -> None:
        """The place was changed."""
        self.moves += 1
        self.restored = restored
        self._begins = False
        self._sweep_begins(not restored)

    def next(self, read: Callable[[], T], into: Callable[[], tuple[int, int]]) -> T:
        """read(), for a loop or for next(). into(): the number of delivered samples of the sweep, and its number."""
        begins, restored = self._begins and not self.endless, self.restored
        self._begins = self.restored = False
        self.moves += 1
        samples, sweep = into() if begins and not restored else (0, 0)
        try:
            out = read()
        except StopIteration:
            self._sweep_begins(True)
            if samples == 0:
                raise
            return read()  # that sweep was over: the loop is over the next one
        if samples != 0:
            self._tell(samples, sweep)
        return out

    def _tell(self, samples: int, sweep: int) -> None:
        if not self._told:
            self._told = True
            logger.warning("this loop over %s begins %s samples into sweep %d, where the last one stopped; %s",
                           self._name, f"{samples:,}", sweep, self._hint)

    # ---- sweeps in which everything fails ------------------------------------------------------------------------

    def _sweep_begins(self, whole: bool) -> None:
        self._whole = whole  # it is read from its start
        self._ended, self._good, self._failed = False, False, 0  # its last sample was read; good samples were; failed slots

    def count(self, batch: Batch) -> None:
        if self._ended:
            self._sweep_begins(True)
        self._ended = batch.sweep_end
        self._good |= bool(batch.valid.any())
        self._failed += batch.failed

    def all_failed(self) -> bool:
        """Whether all samples of the sweep that ends here failed."""
        return self._whole and not self._good and self._failed > 0

    def forget_failed(self) -> int:
        failed, self._failed = self._failed, 0
        return failed


class Loop(Generic[T], Iterator[T]):
    """A loop. After a DataError it continues with the next batch; after its end it stays there. read(first) gives a batch."""

    def __init__(self, owner: Any, read: Callable[[bool], T]) -> None:
        self._owner, self._read = owner, read
        self._first, self._ended = True, False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._ended:
            raise StopIteration
        first, self._first = self._first, False
        try:
            return self._read(first)
        except StopIteration:
            self._ended = True
            raise

    def __len__(self) -> int:
        return len(self._owner)

    def __repr__(self) -> str:
        return f"<loop over {self._owner!r}>"


def one_sweep(owner: Any, loops: Loops, read: Callable[[bool], T]) -> Loop[T]:
    """A loop that has the iterator for itself from its first batch. read(first) goes to a sweep's start for the first one."""
    loops.refuse_endless()
    place = 0

    def alone(first: bool) -> T:
        nonlocal place
        if not first and place != loops.moves:
            raise RuntimeError("something else has read or moved the iterator of this sweep: it has one place in the data")
        try:
            return read(first)
        finally:
            place = loops.moves

    return Loop(owner, alone)
