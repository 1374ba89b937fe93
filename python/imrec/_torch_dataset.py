"""imrec.torch.Dataset."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import torch

from ._dataset import class_names, image_names
from ._reader import Records, decoder, page_of
from .errors import ArgumentError, Error


class Dataset(torch.utils.data.Dataset[Any]):
    """Single images of shards, for a DataLoader, sampler and transforms of your own: `image, label = dataset[i]`, like
    torchvision's ImageFolder. It has no threads: workers of a DataLoader may be forked or spawned, and several threads may
    read at once. It can be pickled.

    image: in the form that the parameter `image` selects, after `transform`:
        "tensor": uint8 (C, H, W), for torchvision.transforms.v2; "pil": a PIL.Image; "numpy": uint8 (H, W, C);
        "bytes": the packed file.
    label: int if a record has one whole number, float for another number, a float32 tensor for several; after
        `target_transform`.
    path_imgrec: as of ImageRecordIter, or an imrec.open(), whose image= and label= choose parts of samples; an index next to a
        shard is found (without one, the heads of all records are read at opening, and again in each worker).
    channels: 1, 3 or 4; auto_orient: turn images upright by their EXIF orientation; max_pixels: larger ones are a LimitError.
    allow_missing: read the existing shards if a directory, glob or manifest lacks some of a set.

    Like ImageFolder it has
        classes: names of the classes, by number, from the list next to the shards, or empty without one; class_to_idx: their
            numbers by name;
        targets: the labels of all images, before target_transform; they are read from the records' heads on first use,
            without decoding an image;
        samples: (name, label) of each: the path that it was packed from, if the list next to the shards has the image's id,
            otherwise "SHARD:BYTE" of its record. imgs is the same.
    """

    classes: list[str]
    class_to_idx: dict[str, int]

    def __init__(self, path_imgrec: Any, *, transform: Callable[[Any], Any] | None = None,
                 target_transform: Callable[[Any], Any] | None = None, image: str = "tensor", channels: int = 3,
                 auto_orient: bool = True, max_pixels: int = 178956970, allow_missing: bool = False) -> None:
        if image not in ("tensor", "pil", "numpy", "bytes"):
            raise ArgumentError(f"image is 'tensor', 'pil', 'numpy' or 'bytes', not {image!r}")
        if channels not in (1, 3, 4):
            raise ArgumentError(f"channels is 1, 3 or 4, not {channels!r}")
        self.records = path_imgrec if isinstance(path_imgrec, Records) else Records(path_imgrec, allow_missing=allow_missing)
        self.transform, self.target_transform, self.image = transform, target_transform, image
        self._how: dict[str, Any] = {"channels": channels, "auto_orient": auto_orient, "max_pixels": max_pixels}
        self.classes = class_names(self.records.path, **self.records.parameters)
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

    def __len__(self) -> int:
        return len(self.records)

    def _image(self, data: bytes) -> Any:
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
            image = self._image(record.image)
        except Error as why:
            where = f"{record.shard}, the record at byte {record.offset}, id {record.id}: {why}"
            raise type(why)(where, status=why.status, offset=record.offset, shard=record.shard, id=record.id) from why
        label = _label(record.labels)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label

    @functools.cached_property
    def _heads(self) -> list[tuple[str, Any]]:
        named = image_names(self.records.path, **self.records.parameters)
        return [(named(head.id) or f"{head.shard}:{head.offset}", _label(head.labels)) for head in self.records.heads()]

    @property
    def targets(self) -> list[Any]:
        return [label for _, label in self._heads]

    @property
    def samples(self) -> list[tuple[str, Any]]:
        return list(self._heads)

    imgs = samples

    def _num_classes(self) -> int | None:
        """1 more than the largest label; None unless all labels are classes."""
        labels = self.targets
        return max(labels) + 1 if labels and all(isinstance(v, int) and v >= 0 for v in labels) else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_heads"}  # read again on use

    def __repr__(self) -> str:
        return f"<imrec.torch.Dataset: {len(self)} images, as {self.image}, {self.records.path}>"

    def _repr_html_(self) -> str:
        """The first images as they are packed: no transform is called for it."""
        return page_of(self.records, repr(self), self.records.path, self.records.parameters)


def _label(labels: np.ndarray[Any, Any]) -> Any:
    """A class, a number or a tensor of several."""
    if len(labels) != 1:
        return torch.from_numpy(labels)
    label = float(labels[0])
    return int(label) if label.is_integer() else label
