"""imrec in PyTorch: `Loader` instead of torchvision and a DataLoader, `Dataset` for those who keep their DataLoader.

    loader = imrec.torch.Loader("train.rec", preset="imagenet-train-torch", batch_size=128, shuffle=True)
    for epoch in range(90):
        for images, labels in loader:  # float32 (128, 3, 224, 224), int64 (128,)
            ...
"""
from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping

import torch

from ._iterator import ImageRecordIter
from ._reader import Records, decoder
from .errors import ArgumentError, Error

if TYPE_CHECKING:
    from ._batch import Batch

__all__ = ["Dataset", "Loader", "rank_and_world_size"]

# Who starts processes says so in the environment: torchrun, Open MPI, MPICH and Intel MPI, srun.
_LAUNCHERS = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
              ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"), ("SLURM_PROCID", "SLURM_NTASKS"))
_ON_THIS_MACHINE = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE")


def _number(name: str) -> int | None:
    value = os.environ.get(name)
    if value is None:
        return None
    if not value.isdecimal():
        raise ArgumentError(f"the environment variable {name} is {value!r}, not a number")
    return int(value)


def rank_and_world_size() -> tuple[int, int]:
    """This process among those that train together: what torch.distributed says where it is initialized, else RANK and
    WORLD_SIZE (torchrun), OMPI_COMM_WORLD_*, PMI_*, SLURM_PROCID and the number of tasks; else 0 of 1."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    for rank_name, world_name in _LAUNCHERS:
        rank, world = _number(rank_name), _number(world_name)
        if rank is not None and world is not None:
            if rank >= world:
                raise ArgumentError(f"the environment says {rank_name}={rank} and {world_name}={world}: ranks count from 0")
            return rank, world
    return 0, 1


def _share_of_cpus() -> int:
    """Workers for this process where several share a machine that nobody has divided among them; 0: all it may use."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if mine < (os.cpu_count() or 1):
        return 0
    processes = next((n for n in map(_number, _ON_THIS_MACHINE) if n), 1)
    return max(1, mine // processes) if processes > 1 else 0


class Loader:
    """Batches of tensors out of record shards: `for images, labels in loader` is one sweep, the next loop is the next
    one, in another order (there is no set_epoch). A loop that was left early does not go on: the next one begins the
    next sweep, as a DataLoader's does; only after load_state_dict() does it go on in mid-sweep.

    images: (slots, C, H, W) of the parameter dtype (float32), the iterator's own memory, not a copy: it is valid as
        long as anything refers to it, and used again after that. With multi_crop, a tuple of such tensors.
    labels: int64 (slots,), as losses want classes; float32 where a sample has several labels, with num_classes, or as
        label_dtype says.

    rank, world_size: this process's share of the data; not given: rank_and_world_size(). With more than one, every rank
        delivers the same number of batches (equal_batches).
    channels_last: images are (slots, C, H, W) in torch.channels_last memory; no copy either.
    pin_memory: images and labels are copied into pinned memory, for .to(device, non_blocking=True).
    label_dtype: a torch.dtype.
    **parameters: those of ImageRecordIter. Other defaults than there: data_shape=(3, 224, 224); last_batch="partial" (the
        last batch of a sweep is shorter, as a DataLoader's; "drop" is drop_last=True); preprocess_threads: where several
        ranks share a machine, its CPUs divided by them.

    state_dict() and load_state_dict() are torchdata's StatefulDataLoader's: saved between two batches, the next loop over
    a Loader that has loaded it gives the batches that followed. Each rank saves its own.

    `batch` is the imrec.Batch behind the tensors delivered last: ids, valid, pad, draws, ...
    """

    def __init__(self, path_imgrec: Any = None, *, rank: int | None = None, world_size: int | None = None,
                 pin_memory: bool = False, channels_last: bool = False, label_dtype: torch.dtype | None = None,
                 **parameters: Any) -> None:
        if (rank is None) != (world_size is None):
            raise ArgumentError("rank and world_size are given together, or neither")
        if rank is None or world_size is None:
            rank, world_size = rank_and_world_size()
        if "num_parts" in parameters or "part_index" in parameters:
            raise ArgumentError("a Loader takes rank and world_size instead of part_index and num_parts")
        if channels_last and parameters.get("layout", "NHWC") != "NHWC":
            raise ArgumentError("channels_last is layout=NHWC seen as (slots, C, H, W): leave out layout")
        if pin_memory and not torch.cuda.is_available():
            warnings.warn("pin_memory is set, but there is no accelerator: nothing is pinned", stacklevel=2)
            pin_memory = False
        defaults: dict[str, Any] = {"last_batch": "partial", "preprocess_threads": _share_of_cpus()}
        if not str(parameters.get("preset", "")).startswith("imagenet"):
            defaults["data_shape"] = (3, 224, 224)
        if world_size > 1:
            defaults |= {"num_parts": world_size, "part_index": rank, "equal_batches": True}
        if channels_last:
            defaults["layout"] = "NHWC"
        if "round_batch" in parameters:
            del defaults["last_batch"]
        self.rank, self.world_size = rank, world_size
        self.batch: Batch | None = None
        self._it = ImageRecordIter(path_imgrec, **{**defaults, **parameters})
        self._pin, self._permute = pin_memory, channels_last
        classes = not parameters.get("num_classes") and not parameters.get("mixup") and not parameters.get("cutmix")
        self._label_dtype, self._classes = label_dtype, classes
        self._goes_on = True  # at the start of a sweep, or where load_state_dict() has gone
        self._loop = 0  # which of the loops is the living one

    def __iter__(self) -> Iterator[tuple[Any, torch.Tensor]]:
        self._loop += 1
        if not self._goes_on:
            self._it.reset()
        return _Loop(self, self._loop)

    def _next(self, loop: int) -> tuple[Any, torch.Tensor]:
        if loop != self._loop:
            raise RuntimeError("another loop over this Loader has begun: it has one place in the data, not several")
        self._goes_on = False
        self.batch = None  # the memory of a batch that nobody refers to is used again
        self.batch = self._it.next()
        return self._tensors(self.batch)

    def _images(self, view: Any) -> torch.Tensor:
        images = torch.from_numpy(view)
        if self._permute:
            images = images.permute(0, 3, 1, 2)
        return images.pin_memory() if self._pin else images

    def _tensors(self, batch: Batch) -> tuple[Any, torch.Tensor]:
        views, labels = tuple(map(self._images, batch.views)), torch.from_numpy(batch.labels)
        if self._label_dtype is not None:
            labels = labels.to(self._label_dtype)
        elif self._classes and labels.ndim == 1:
            labels = labels.to(torch.int64)
        if self._pin:
            labels = labels.pin_memory()
        return views if len(views) > 1 else views[0], labels

    def __len__(self) -> int:
        """Batches of a sweep; the same on every rank."""
        return len(self._it)

    def state_dict(self) -> dict[str, Any]:
        """The place behind the batch delivered last; to be saved with the model, by each rank."""
        return {**self._it.state_dict(), "rank": self.rank, "world_size": self.world_size}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next loop begins there. Same data, seed, rank and world_size; batch_size and threads may be others."""
        saved = state.get("rank", self.rank), state.get("world_size", self.world_size)
        if saved != (self.rank, self.world_size):
            raise ArgumentError(f"this state is of rank {saved[0]} of {saved[1]}, the Loader is rank {self.rank} of "
                                f"{self.world_size}: load what this rank has saved")
        self._loop += 1
        self._it.load_state_dict({"position": state["position"]})
        self._goes_on = True

    def stats(self) -> dict[str, Any]:
        """Those of ImageRecordIter: next_wait_ns is the time that the training loop waited for data."""
        return self._it.stats()

    def close(self) -> None:
        """Stops the workers; twice is harmless."""
        self._it.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<imrec.torch.Loader: rank {self.rank} of {self.world_size}, {self._it!r}>"


class _Loop:
    """One loop over a Loader. After a DataError it goes on with the next batch; after its end it stays there."""

    def __init__(self, loader: Loader, number: int) -> None:
        self._loader, self._number, self._ended = loader, number, False

    def __iter__(self) -> _Loop:
        return self

    def __next__(self) -> tuple[Any, torch.Tensor]:
        if self._ended:
            raise StopIteration
        try:
            return self._loader._next(self._number)
        except StopIteration:
            self._ended = True
            raise

    def __len__(self) -> int:
        return len(self._loader)


class Dataset(torch.utils.data.Dataset[Any]):
    """The pictures of shards one by one, for those who keep their DataLoader, sampler and transforms:
    `image, label = dataset[i]`, as torchvision's ImageFolder gives them. It has no threads: workers of a DataLoader may be forked
    or spawned, and several threads may read at once. It can be pickled.

    image: what the parameter `image` says, after `transform`:
        "tensor": uint8 (C, H, W), what torchvision.transforms.v2 takes; "pil": a PIL.Image; "numpy": uint8 (H, W, C);
        "bytes": the file as it was packed.
    label: int where a record has one whole number, float where it has another one, a float32 tensor where it has several;
        after `target_transform`.
    path_imgrec: as of ImageRecordIter; an index beside a shard is found (without one, the heads of all records are read when
        it is opened, and once more in each worker).
    channels: 1, 3 or 4; auto_orient: turn pictures upright by their EXIF orientation; max_pixels: larger ones are a LimitError.
    allow_missing: read what there is where a directory, glob or manifest lacks shards of a set.

    `classes` are the names of the classes where their list lies beside the first shard, else empty.
    """

    def __init__(self, path_imgrec: Any, *, transform: Callable[[Any], Any] | None = None,
                 target_transform: Callable[[Any], Any] | None = None, image: str = "tensor", channels: int = 3,
                 auto_orient: bool = True, max_pixels: int = 178956970, allow_missing: bool = False) -> None:
        if image not in ("tensor", "pil", "numpy", "bytes"):
            raise ArgumentError(f"image is 'tensor', 'pil', 'numpy' or 'bytes', not {image!r}")
        if channels not in (1, 3, 4):
            raise ArgumentError(f"channels is 1, 3 or 4, not {channels!r}")
        self.records = Records(path_imgrec, allow_missing=allow_missing)
        self.transform, self.target_transform, self.image = transform, target_transform, image
        self._how: dict[str, Any] = {"channels": channels, "auto_orient": auto_orient, "max_pixels": max_pixels}
        self.classes = _classes_beside(self.records[0].shard) if len(self.records) else []

    def __len__(self) -> int:
        return len(self.records)

    def _picture(self, data: bytes) -> Any:
        if self.image == "bytes":
            return data
        pixels = decoder()(data, **self._how)
        if self.image == "numpy":
            return pixels
        if self.image == "tensor":
            return torch.from_numpy(pixels).permute(2, 0, 1)
        from PIL import Image

        return Image.fromarray(pixels if pixels.shape[2] > 1 else pixels[:, :, 0])

    def __getitem__(self, i: int) -> tuple[Any, Any]:
        record = self.records[int(i)]
        try:
            image = self._picture(record.image)
        except Error as why:
            where = f"{record.shard}, the record at byte {record.offset}, id {record.id}: {why}"
            raise type(why)(where, status=why.status, offset=record.offset, shard=record.shard, id=record.id) from why
        label: Any = record.labels
        if len(label) == 1:
            label = float(label[0])
            label = int(label) if label.is_integer() else label
        else:
            label = torch.from_numpy(label)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label

    def __repr__(self) -> str:
        return f"<imrec.torch.Dataset: {len(self)} pictures, as {self.image}>"


def _classes_beside(shard: str) -> list[str]:
    """im2rec's class list of the set that a shard is of, or an empty list."""
    path = re.sub(r"(-\d{5}-of-\d{5})?\.rec$", "", shard) + ".classes.txt"
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8-sig") as f:
        return f.read().splitlines()
