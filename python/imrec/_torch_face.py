"""What programs that expect a torch DataLoader read of one, for Loader: each name with the value that is true here.

A Loader is no subclass of DataLoader, because programs build a DataLoader again from its parts (other samplers, other worker
processes), and the batches of a Loader are chosen and made in C.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, NoReturn

from torch.utils.data import BatchSampler, RandomSampler, Sampler, SequentialSampler

if TYPE_CHECKING:
    from ._torch_dataset import Dataset
    from .torch import Loader


def _refuse() -> NoReturn:
    raise TypeError("the samples of an imrec.torch.Loader are chosen by the Loader itself: a DataLoader cannot be built again from its "
                    "sampler; to skip batches give the Loader the state_dict() of its place (Hugging Face's Trainer: "
                    "ignore_data_skip=True)")


class _OfLoader(Sampler[int]):
    """The samples of this rank in a sweep. It has a length and no indices."""

    replacement = False
    generator = None

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self.num_replicas, self.rank = loader.world_size, loader.rank

    @property
    def data_source(self) -> Dataset:
        return self._loader.dataset

    @property
    def num_samples(self) -> int:
        return len(self)

    def __len__(self) -> int:
        """Samples that this rank reads in a sweep, as of a DistributedSampler: with more than one rank those of the largest."""
        return self._loader._it._share()

    def set_epoch(self, epoch: int) -> None:
        """Changes nothing: each loop over the Loader is already the next sweep, in an order of its own."""

    def __iter__(self) -> Iterator[int]:
        _refuse()


class Shuffled(_OfLoader, RandomSampler):  # type: ignore[misc]
    """With shuffle=True: an instance of RandomSampler for programs that ask whether data are shuffled."""


class InOrder(_OfLoader, SequentialSampler):  # type: ignore[misc]
    """Without: an instance of SequentialSampler."""


class Batches(BatchSampler):
    """As many batches as the Loader has in a sweep. It has a length and no indices."""

    def __init__(self, loader: Loader, sampler: Sampler[int]) -> None:
        self._loader, self.sampler = loader, sampler
        self.batch_size, self.drop_last = loader.batch_size, loader.drop_last

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[list[int]]:
        _refuse()


class Face:
    """The names of a DataLoader, in addition to batch_size, drop_last and dataset."""

    num_workers = 0  #: processes: a Loader has none, its threads are preprocess_threads
    prefetch_factor: int | None = None  #: of processes; prefetch_buffer is that of the threads
    persistent_workers = False  #: of processes
    timeout = 0.0  #: waits as long as it takes
    worker_init_fn: Callable[[int], None] | None = None
    multiprocessing_context: Any = None
    generator: Any = None  #: batches depend on data, parameters and seed, on no generator
    pin_memory_device = ""
    in_order = True

    _pin: bool
    _collate: Callable[[list[Any]], Any] | None
    _shuffled: bool

    def _self(self: Any) -> Loader:
        return self  # type: ignore[no-any-return]

    @property
    def sampler(self) -> Sampler[int]:
        """An instance of RandomSampler (shuffle=True) or SequentialSampler: its length is the number of samples of this rank in a
        sweep, its set_epoch() changes nothing, and iterating it is a TypeError."""
        return Shuffled(self._self()) if self._shuffled else InOrder(self._self())  # made on request: no circle of references

    @property
    def batch_sampler(self) -> BatchSampler:
        """sampler, batch_size, drop_last, and the length of the Loader; iterating it is a TypeError."""
        return Batches(self._self(), self.sampler)

    @property
    def collate_fn(self) -> Callable[[list[Any]], Any] | None:
        """What makes a batch of samples: collate=, with transform= alone torch's default_collate, or with targets of detection
        lists; without both None, as batches are made in C."""
        return self._collate

    @property
    def pin_memory(self) -> bool:
        return self._pin

    def set_epoch(self, epoch: int) -> None:
        """Changes nothing: each loop is already the next sweep, in an order of its own."""
