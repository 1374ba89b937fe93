"""Batches on their way to a device while the one before is trained on."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping

import torch

from ._loops import Loop


def _moved(value: Any, move: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same with all tensors moved: tuples, named tuples, lists and dicts of them too."""
    if isinstance(value, torch.Tensor):
        return move(value)
    if isinstance(value, Mapping):
        return {key: _moved(v, move) for key, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(v, move) for v in value))
    return type(value)(_moved(v, move) for v in value) if isinstance(value, (tuple, list)) else value


class _Here:
    """Devices without streams: a batch is moved when it is asked for."""

    looks_ahead = False

    def __init__(self, device: torch.device, then: Callable[[Any], Any] | None) -> None:
        self.device, self._then = device, then

    def send(self, batch: Any) -> Any:
        batch = _moved(batch, lambda t: t.to(self.device, non_blocking=True))
        return batch if self._then is None else self._then(batch)

    def receive(self, batch: Any) -> Any:
        return batch


class _Stream(_Here):
    """CUDA: copies, and `then`, run on a stream of their own. The consumer's stream waits for the batch that it takes."""

    looks_ahead = True

    def __init__(self, device: torch.device, then: Callable[[Any], Any] | None) -> None:
        super().__init__(device, then)
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def send(self, batch: Any) -> Any:
        with torch.cuda.stream(self._stream):
            sent = super().send(batch)
            done = torch.cuda.Event()  # type: ignore[no-untyped-call]
            done.record(self._stream)
        return batch, sent, done  # the batch on the host lives until it is copied

    def receive(self, batch: Any) -> Any:
        _, sent, done = batch
        now = torch.cuda.current_stream(self.device)
        now.wait_event(done)

        def used(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.is_cuda:
                tensor.record_stream(now)  # its memory is not reused before this stream is done with it
            return tensor

        return _moved(sent, used)


class Prefetched:
    """A loader whose batches are on a device. All other attributes are those of the loader: len(), sampler, dataset, ..."""

    def __init__(self, loader: Any, device: Any, then: Callable[[Any], Any] | None = None) -> None:
        self.loader, self.device = loader, torch.device(device)
        self._way = (_Stream if self.device.type == "cuda" else _Here)(self.device, then)
        self._next: list[Any] = []  # what is ahead: a batch on its way and the imrec.Batch, or an exception
        self._place: Any = None  # of the loader before that
        self._loop: Any = None
        #: the imrec.Batch of the last delivered tensors, if the loader has them
        self.batch: Any = None

    def _read(self, loop: Iterator[Any]) -> list[Any]:
        try:
            batch = next(loop)
        except Exception as error:  # StopIteration too: it is raised in its place
            return [error]
        return [self._way.send(batch), getattr(self.loader, "batch", None)]

    def _taken(self, loop: Any, first: bool) -> Any:
        if loop is not self._loop:
            raise RuntimeError("another loop over this loader has begun: it has one place in the data, not several")
        taken, self._next = self._next or self._read(loop), []
        if len(taken) == 1:
            raise taken[0]
        if self._way.looks_ahead:
            self._place = self.loader.state_dict() if hasattr(self.loader, "state_dict") else None
            self._next = self._read(loop)
        self.batch = taken[1]
        return self._way.receive(taken[0])

    def _begun(self, iterable: Any) -> Loop[Any]:
        self._forget()
        loop = self._loop = iter(iterable())
        return Loop(self, lambda first: self._taken(loop, first))

    def __iter__(self) -> Loop[Any]:
        return self._begun(lambda: self.loader)

    def sweep(self) -> Loop[Any]:
        """A loop over exactly one complete sweep, if the loader has sweep()."""
        return self._begun(lambda: self.loader.sweep())

    def _forget(self) -> None:
        """What was read ahead was not delivered."""
        ahead, self._next = self._next, []
        if len(ahead) == 2 and hasattr(self.loader, "_return_to"):
            self.loader._return_to(self._place)

    def rewind(self) -> None:
        self._forget()
        self.loader.rewind()

    def __len__(self) -> int:
        return len(self.loader)

    def state_dict(self) -> Any:
        """The loader's place after the last delivered batch."""
        return self._place if self._next else self.loader.state_dict()

    def load_state_dict(self, state: Any) -> None:
        self._next = []
        self._loop = None
        self.loader.load_state_dict(state)

    def __getattr__(self, name: str) -> Any:
        if name == "loader":  # not yet set
            raise AttributeError(name)
        return getattr(self.loader, name)

    def __repr__(self) -> str:
        return f"<{self.loader!r} to {self.device}>"


def prefetch_to(loader: Any, device: Any, then: Callable[[Any], Any] | None = None) -> Prefetched:
    """A loader whose batches are on `device`. On CUDA the next batch is copied by a stream of its own while the model trains on
    this one; the copy overlaps if the loader has pin_memory=True. Elsewhere batches are moved when they are asked for.

    loader: a Loader, or any other of tensors in tuples, lists and dicts. device: as torch.device() takes it.
    then: a function of a batch on the device that returns the batch, such as normalize(); on CUDA it runs on that stream, too.

    Loops, len(), state_dict() (after the last batch that was delivered, not after the one that is on its way), rewind(), sweep()
    and all other attributes are those of the loader.
    """
    return Prefetched(loader, device, then)
