"""What a Loader delivers for a batch: its items, in a tuple or a dict."""
from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Union

import numpy as np
import torch

from . import _torch_detection
from .errors import ArgumentError, DataError

if TYPE_CHECKING:
    from ._batch import Batch

    Deliver = Union[str, Iterable[str], Mapping[str, str], None]

#: The items, in the order in which a dict has them.
NAMES = ("image", "label", "mask", "keypoint", "weight", "id")
#: With boxes also these. They are lists.
DETECTION = ("fitted", "target")


def _names(deliver: Any, weights: bool, available: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(key, item) of each; the keys of a tuple have no meaning."""
    if deliver is None:
        usual = ("image", "label", *(("weight",) if weights else ()))
        return tuple((name, name) for name in usual if name in available)
    if weights:
        raise ArgumentError("weights=True is for the default tuple: write 'weight' among the items of deliver")
    if isinstance(deliver, str):
        if deliver == "detection":
            return tuple((name, name) for name in DETECTION)
        if deliver != "dict":
            raise ArgumentError(f"deliver={deliver!r}: write 'dict', 'detection', a tuple of items such as ('image', 'label', 'mask'), or a dict of "
                                "them such as {'pixel_values': 'image', 'labels': 'label'}")
        return tuple((name, name) for name in available)
    pairs = tuple(deliver.items()) if isinstance(deliver, Mapping) else tuple((name, name) for name in deliver)
    if not pairs:
        raise ArgumentError(f"deliver={deliver!r} has no item: write some of {', '.join(NAMES)}")
    return pairs


class Items:
    """Makes the items of batches. One object serves all threads."""

    def __init__(self, deliver: Deliver, weights: bool, options: Mapping[str, Any], channels_last: bool,
                 label_dtype: torch.dtype | None, classes: bool) -> None:
        self._has = {**dict.fromkeys(DETECTION, bool(options["boxes"] and options["pixels"])), "image": options["pixels"],
                     "mask": options["masks"], "keypoint": options["keypoints"] > 0 and not options["boxes"]}
        self._fields, self._bfloat16 = tuple(name for name in options["fields"] if name not in NAMES), options["bfloat16"]
        self._images = tuple(name for name in options["images"] if name not in NAMES)
        available = (*(name for name in NAMES if self._has.get(name, True)), *self._images, *self._fields)
        self._pairs = _names(deliver, weights, available)
        self.as_dict = isinstance(deliver, Mapping) or deliver == "dict"
        self._points, self._permute, self._nhwc = options["keypoints"], channels_last, options["nhwc"]
        self._instances = options["instances"]
        self._label_dtype, self._classes = label_dtype, classes
        for _, item in self._pairs:
            self._check(item)
        wanted = {item for _, item in self._pairs}
        self.has_lists = bool(wanted.intersection(DETECTION))
        self.has_weights, self._splits = "weight" in wanted, "keypoint" in wanted
        self._make: dict[str, Callable[[Batch], Any]] = {name: getattr(self, f"_{name}") for name in (*NAMES, *DETECTION)}
        self._make.update({name: functools.partial(self._further, name) for name in self._images})  # batch["depth"]
        self._make.update({name: operator.itemgetter(name) for name in self._fields})  # batch["txt"]

    def _check(self, item: Any) -> None:
        if item in DETECTION and not self._has[item]:
            raise ArgumentError(f"deliver has {item!r}: it needs labels that are boxes, write preset='ImageDetRecordIter' or boxes=True")
        if item not in (*NAMES, *DETECTION, *self._images, *self._fields):
            raise ArgumentError(f"deliver has no item {item!r}: its items are {', '.join((*NAMES, *self._images, *self._fields))}; "
                                f"fields={item!r} adds a field of that name, images='image,{item}' an image")
        if item == "image" and not self._has[item]:
            raise ArgumentError("deliver has 'image', but images='none' reads none")
        if not self._has.get(item, True):
            raise ArgumentError("deliver has 'mask', but masks are not read: write masks='uint8', 'uint16' or 'int32'" if item == "mask"
                                else "deliver has 'keypoint': it needs keypoints=K and labels without boxes (with boxes, the points "
                                "of each object are in the label)")

    def __call__(self, batch: Batch) -> Any:
        made = [(key, self._make[item](batch)) for key, item in self._pairs]
        return dict(made) if self.as_dict else tuple(value for _, value in made)

    def samples(self, items: Any, slots: int) -> list[Any]:
        """The items of a batch as one tuple or dict for each slot."""
        def slot(value: Any, i: int) -> Any:
            return tuple(v[i] for v in value) if isinstance(value, tuple) else value[i]

        if self.as_dict:
            return [{key: slot(value, i) for key, value in items.items()} for i in range(slots)]
        return [tuple(slot(value, i) for value in items) for i in range(slots)]

    # ---- one function for each item ------------------------------------------------------------------------------

    def _image(self, batch: Batch) -> Any:
        views = [_tensor(batch, view, self._bfloat16) for view in batch.views]
        if self._permute:
            views = [view.permute(0, 3, 1, 2) for view in views]
        return tuple(views) if len(views) > 1 else views[0]

    def _fitted(self, batch: Batch) -> list[torch.Tensor]:
        images = _tensor(batch, batch.data, self._bfloat16)
        return _torch_detection.fitted(images.permute(0, 3, 1, 2) if self._nhwc else images, batch.labels)

    def _target(self, batch: Batch) -> list[dict[str, Any]]:
        return _torch_detection.targets(batch, self._points, self._instances)

    def _further(self, name: str, batch: Batch) -> Any:
        images = [images[name] for images in batch.view_images]
        made = [_tensor(batch, image, self._bfloat16 and image.ndim == 4) for image in images]
        if self._permute:
            made = [image.permute(0, 3, 1, 2) if image.ndim == 4 else image for image in made]
        return tuple(made) if len(made) > 1 else made[0]

    def _mask(self, batch: Batch) -> Any:
        masks = [_tensor(batch, mask) for mask in batch.view_masks if mask is not None]
        return tuple(masks) if len(batch.view_masks) > 1 else masks[0]

    def _label(self, batch: Batch) -> torch.Tensor:
        labels = torch.from_numpy(batch.labels)
        if self._splits:  # the values before the keypoints
            labels = labels[:, :labels.shape[1] - 3 * self._points]
            labels = labels[:, 0] if labels.shape[1] == 1 else labels
        if self._label_dtype is not None:
            return _kept(labels, self._label_dtype, batch)
        return _kept(labels, torch.int64, batch) if self._classes and labels.ndim == 1 else labels

    def _keypoint(self, batch: Batch) -> torch.Tensor:
        return torch.from_numpy(batch.labels[:, -3 * self._points:].reshape(batch.slots, self._points, 3))

    @staticmethod
    def _weight(batch: Batch) -> torch.Tensor:
        return torch.from_numpy(batch.valid).to(torch.float32)

    @staticmethod
    def _id(batch: Batch) -> torch.Tensor:
        return torch.from_numpy(batch.ids.view(np.int64))


def _kept(labels: torch.Tensor, dtype: torch.dtype, batch: Batch) -> torch.Tensor:
    """The labels as that type. An integer type has no NaN and no fractions, and torch converts them in silence."""
    made = labels.to(dtype)
    if made.is_floating_point() or made.is_complex() or torch.equal(made.to(labels.dtype), labels):
        return made
    changed = (made.to(labels.dtype) != labels).reshape(batch.slots, -1)
    slot = int(changed.any(1).nonzero()[0])
    value, number = labels.reshape(batch.slots, -1)[slot][changed[slot]][0].item(), int(batch.ids[slot])
    raise DataError(f"the label of image {number} is {value}, which {str(dtype)[6:]} cannot hold: a class is a whole number from 0; for "
                    "labels that are no classes write label_dtype=torch.float32", batch=batch, id=number, field="label")


def _tensor(batch: Batch, array: Any, bfloat16: bool = False) -> torch.Tensor:
    """The array as a tensor, without a copy."""
    bits = torch.from_numpy(array.view(np.int16) if bfloat16 else array)  # numpy has no bfloat16
    block = batch._blocks.find(array.ctypes.data) if batch._blocks is not None and batch._blocks.outlives else None
    if block is not None:  # a part of torch's own tensor: torch knows until when a device reads from that
        given, begin = block
        bits = given[begin:begin + array.nbytes].view(bits.dtype).view(bits.shape)
    return bits.view(torch.bfloat16) if bfloat16 else bits


def page_locked(size: int) -> torch.Tensor:
    """For allocator=: memory that a GPU reads by itself."""
    return torch.empty(size, dtype=torch.uint8, pin_memory=True)


def pinned(value: Any) -> Any:
    """The same with all tensors in pinned memory; those that are there stay as they are."""
    if isinstance(value, torch.Tensor):
        return value.pin_memory()
    if isinstance(value, dict):
        return {key: pinned(v) for key, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(pinned, value))
    return type(value)(map(pinned, value)) if isinstance(value, (tuple, list)) else value
