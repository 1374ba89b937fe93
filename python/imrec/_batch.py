"""A batch and its memory."""
from __future__ import annotations

import html
import importlib
from typing import Any, Iterator

import numpy as np

from . import _show
from ._memory import Blocks
from ._ffi import ffi, lib
from .errors import DataError

DTYPES = {"IMREC_FLOAT32": np.float32, "IMREC_FLOAT16": np.float16, "IMREC_UINT8": np.uint8, "IMREC_INT8": np.int8,
          "IMREC_BFLOAT16": np.uint16}  # which numpy does not have: in memory its bits
LABELS = {"IMREC_LABEL_FLOAT32": np.float32, "IMREC_LABEL_FLOAT64": np.float64, "IMREC_LABEL_INT64": np.int64}
MASKS = {"IMREC_MASK_NONE": np.uint8, "IMREC_MASK_UINT8": np.uint8, "IMREC_MASK_UINT16": np.uint16, "IMREC_MASK_INT32": np.int32}

MAPS = {1: np.uint8, 2: np.uint16, 3: np.int32, 4: np.float32}  # by enum imrec_image_type


def struct_dtype(name: str) -> np.dtype[Any]:
    """The numpy dtype of a C struct of numbers and arrays of numbers."""
    names: list[str] = []
    formats: list[Any] = []
    offsets: list[int] = []
    ctype = ffi.typeof(name)
    for field, info in ctype.fields:
        kind: Any = info.type
        shape: tuple[int, ...] = ()
        if kind.kind == "array":
            kind, shape = kind.item, (kind.length,)
        letter = {"float": "f", "double": "f", "_Bool": "?"}.get(kind.cname)
        if letter is None:
            letter = "u" if kind.cname.startswith("u") or kind.kind == "enum" else "i"
        names.append(field)
        formats.append((letter if letter == "?" else f"{letter}{ffi.sizeof(kind)}", shape))
        offsets.append(info.offset)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(ctype)})


DRAW = struct_dtype("struct imrec_draw")
PLACE = struct_dtype("struct imrec_place")


def bfloat16() -> np.dtype[Any]:
    """numpy's type of bfloat16: that of ml_dtypes, where it is installed, or else uint16, the bits of each value."""
    try:
        found: np.dtype[Any] = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
    except ImportError:
        return np.dtype(np.uint16)
    return found


class Memory:
    """The memory of one batch. Arrays over it keep this object alive. As long as it lives the iterator does not write there,
    because it keeps the batch before it continues (imrec_iter_keep)."""

    __slots__ = ("kept", "owner", "__weakref__")

    def __init__(self, owner: Any) -> None:
        self.owner, self.kept = owner, None

    def keep(self, kept: Any) -> None:
        """The iterator is no longer needed. C releases the memory, not a __del__, in which a signal that arrives meanwhile
        would be lost."""
        self.kept, self.owner = ffi.gc(kept, lib.imrec_kept_release), None

    def array(self, pointer: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        return np.asarray(_Region(self, int(ffi.cast("uintptr_t", pointer)), shape, dtype))


class _Region:
    """The array interface that numpy asks for."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory: Memory, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.memory = memory
        self.__array_interface__ = {"data": (address, False), "shape": shape, "typestr": dtype.str, "version": 3}


def _copied(pointer: Any, dtype: Any, *shape: int) -> np.ndarray[Any, Any]:
    count = int(np.prod(shape))
    if count == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(ffi.buffer(pointer, count * np.dtype(dtype).itemsize), dtype, count).reshape(shape).copy()


class _Column:
    """The values of a field, slot by slot: C's memory copied once."""

    def __init__(self, c: Any, slots: int) -> None:
        self._offsets = _copied(c.offsets, np.uint64, slots + 1)
        self._kinds = _copied(c.kinds, np.uint8, slots)
        self._bytes = bytes(ffi.buffer(c.bytes, int(self._offsets[slots]))) if self._offsets[slots] else b""

    def values(self) -> list[Any]:
        ends = self._offsets.tolist()
        pieces = [self._bytes[begin:end] for begin, end in zip(ends, ends[1:])]
        if (self._kinds == _BYTES).all():
            return pieces
        return [field_value(piece, kind) for piece, kind in zip(pieces, self._kinds.tolist())]


def field_value(piece: bytes, kind: int) -> Any:
    """What a field of that enum imrec_field_kind is in Python."""
    if kind in _NUMBERS:
        return np.frombuffer(piece, _NUMBERS[kind])
    return piece if kind == _BYTES else None


_BYTES = 1  # enum imrec_field_kind
_NUMBERS: dict[int, np.dtype[Any]] = {2: np.dtype("<i8"), 3: np.dtype("<f4")}


class Batch:
    """A batch. `data` is in the iterator's memory and stays valid as long as anything refers to it; everything else is the
    batch's own. Unpacks as `data, labels = batch`; passes to jax, cupy, torch and others by DLPack."""

    #: (slots, C, H, W), or (slots, H, W, C) with layout="NHWC"; of `dtype`. With images="none" (slots, 0)
    data: np.ndarray[Any, Any]
    #: `data`, and, with multi_crop, the other crops of the same samples, each of its own shape
    views: tuple[np.ndarray[Any, Any], ...]
    #: with masks="uint8", "uint16" or "int32": (slots, H, W) of that type, moved with the images; otherwise None
    masks: np.ndarray[Any, Any] | None
    #: those of each of the views
    view_masks: tuple[np.ndarray[Any, Any] | None, ...]
    #: float32, or the type dtype_label; (slots,), or (slots, label_width) for several
    labels: np.ndarray[Any, Any]
    #: uint64 (slots,): ids of the records
    ids: np.ndarray[Any, np.dtype[np.uint64]]
    #: bool (slots,): a real sample that did not fail
    valid: np.ndarray[Any, np.dtype[np.bool_]]
    #: int32 (slots,): 0, or the enum imrec_status of a failed slot
    status: np.ndarray[Any, np.dtype[np.int32]]
    #: with record_draws: the draws of each slot, a structured array with the fields of struct imrec_draw
    draws: np.ndarray[Any, Any] | None
    #: that of each of the views
    view_draws: tuple[np.ndarray[Any, Any] | None, ...]
    #: with record_places (of a Loader with boxes always): float32 (slots, 3, 3), the map of a place of the slot (u, v, 1) to
    #: (x z, y z, z) of the image in its record, in px from the left upper corner, through everything that moved it; zeros where
    #: there is no such image: padding, failed samples, mosaics of four
    matrix: np.ndarray[Any, np.dtype[np.float32]] | None
    #: likewise uint32 (slots, 2): width and height of that image, px
    source_size: np.ndarray[Any, np.dtype[np.uint32]] | None
    #: matrix of each of the views
    view_matrices: tuple[np.ndarray[Any, np.dtype[np.float32]] | None, ...]
    #: with fields="txt,json": of each name, what each slot has, as bytes (features of a TFRecord that are numbers: an int64 or
    #: float32 array); None for a slot without a sample, and without an optional field ("json?")
    fields: dict[str, list[Any]]
    #: with images="image,right,depth:uint16": of each name after the first its images, as `data`; of a map (slots, H, W) of its
    #: type. batch["depth"] is images["depth"]. With multi_crop these are those of views[0]
    images: dict[str, np.ndarray[Any, Any]]
    #: those of each of the views
    view_images: tuple[dict[str, np.ndarray[Any, Any]], ...]
    #: of the same names bool (slots,): whether the slot has that image
    present: dict[str, np.ndarray[Any, np.dtype[np.bool_]]]
    number: int  #: of the batch since opening, from 0
    sweep: int  #: of its first sample, from 0
    epoch: int  #: of its first sample, from 0
    count: int  #: slots of samples of the sweep, including failed ones unless they are dropped
    pad: int  #: the other slots: zero, or repeated samples
    failed: int  #: samples that failed and were not replaced: slots of the batch, or dropped with on_error="skip"
    replaced: int  #: slots with another sample instead of one that failed: with on_error="replace"
    dropped: int  #: slots without a sample that were dropped: with on_error="skip"; a Loader also drops padding
    repeats: int  #: num_views: consecutive slots that a sample fills
    sweep_end: bool  #: the last sample of a sweep is in it
    epoch_end: bool

    def __init__(self, c: Any, views: tuple[np.ndarray[Any, Any], ...],
                 masks: tuple[np.ndarray[Any, Any] | None, ...], channels_last: bool = False,
                 label_dtype: Any = np.float32, path: str = "",
                 images: dict[str, tuple[np.ndarray[Any, Any], ...]] | None = None, blocks: Blocks | None = None) -> None:
        n, width = c.slots, c.label_width
        self._blocks = blocks
        self.data, self.views, self.masks, self.view_masks = views[0], views, masks[0], masks
        labels = c.typed_labels or c.labels
        self.labels = _copied(labels, label_dtype, n, width) if width != 1 else _copied(labels, label_dtype, n)
        self.ids = _copied(c.ids, np.uint64, n)
        self.valid = _copied(c.valid, np.bool_, n)
        self.status = _copied(c.status, np.int32, n)
        self.view_draws = tuple(_copied(v.draws, DRAW, n) if v.draws else None for v in c.views[0:c.view_count])
        self.draws = self.view_draws[0]
        places = [_copied(v.places, PLACE, n) if v.places else None for v in c.views[0:c.view_count]]
        self.view_matrices = tuple(p if p is None else np.ascontiguousarray(p["matrix"]).reshape(n, 3, 3) for p in places)
        self.matrix = self.view_matrices[0]
        self.source_size = None if places[0] is None else np.stack([places[0]["width"], places[0]["height"]], axis=1)
        self.number, self.sweep, self.epoch = c.number, c.sweep, c.epoch
        self.count, self.pad, self.failed, self.repeats = c.count, c.pad, c.failed, c.repeats
        self.replaced = c.replaced
        self.fields = {ffi.string(f.name).decode(errors="surrogateescape"): _Column(f, n).values()
                       for f in c.fields[0:c.field_count]} if c.field_count else {}
        further = images or {}
        self.view_images = tuple({name: made[i] for name, made in further.items()} for i in range(c.view_count))
        self.images = self.view_images[0]
        self.present = {name: _copied(c.images[i * c.view_count].present, np.bool_, n) for i, name in enumerate(further)}
        self.sweep_end, self.epoch_end = c.sweep_end, c.epoch_end
        self.dropped, self._channels_last, self._path = 0, channels_last, path

    @property
    def slots(self) -> int:
        """batch_size; with last_batch="partial", on_error="skip" or in a Loader perhaps fewer."""
        return int(self.data.shape[0])

    def block(self) -> tuple[Any, int]:
        """With allocator=: what it returned for the memory that `data` is in, and the offset of `data` in it, in bytes. For
        another process that has mapped the same memory."""
        if self._blocks is None:
            raise ValueError("this batch is in the library's memory: only those of an iterator with allocator= have a block")
        found = self._blocks.find(self.data.ctypes.data)
        if found is None:
            raise ValueError("the data of this batch is a copy (slots were dropped, or copy=True): it is in no block")
        return found

    def _drop(self, dead: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Drops slots, and with them all rows of their samples (num_views). The remaining arrays are copies."""
        dead = dead.reshape(-1, self.repeats).any(1).repeat(self.repeats)
        keep = ~dead
        self.views = tuple(view[keep] for view in self.views)
        self.view_masks = tuple(mask if mask is None else mask[keep] for mask in self.view_masks)
        self.data, self.masks = self.views[0], self.view_masks[0]
        self.view_images = tuple({name: image[keep] for name, image in images.items()} for images in self.view_images)
        self.images = self.view_images[0]
        self.present = {name: there[keep] for name, there in self.present.items()}
        self.labels, self.ids = self.labels[keep], self.ids[keep]
        self.valid, self.status = self.valid[keep], self.status[keep]
        self.view_draws = tuple(draws if draws is None else _renumbered(draws, keep) for draws in self.view_draws)
        self.draws = self.view_draws[0]
        self.view_matrices = tuple(m if m is None else m[keep] for m in self.view_matrices)
        self.matrix = self.view_matrices[0]
        self.source_size = None if self.source_size is None else self.source_size[keep]
        kept = np.flatnonzero(keep).tolist()
        self.fields = {name: [values[i] for i in kept] for name, values in self.fields.items()}
        self.dropped += int(dead.sum())
        self.count = int(self.valid.sum())
        self.pad = self.slots - self.count

    def __getitem__(self, name: str) -> Any:
        """batch["txt"] is batch.fields["txt"], batch["depth"] is batch.images["depth"]."""
        return self.images[name] if name in self.images else self.fields[name]

    def text(self, name: str) -> list[str | None]:
        """A field as texts. Bytes that are not UTF-8 are an error that names the sample."""
        return [value if value is None else self._decoded(name, i, value) for i, value in enumerate(self.fields[name])]

    def _decoded(self, name: str, i: int, value: Any) -> str:
        try:
            return bytes(value).decode()
        except UnicodeDecodeError as why:
            raise DataError(f"the field {name!r} of the sample with id {self.ids[i]} is not UTF-8: {why.reason} at byte "
                            f"{why.start} of {len(value)}", id=int(self.ids[i])) from why

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        return iter((self.data, self.labels))

    def __dlpack__(self, **how: Any) -> Any:
        """`data` for jax.dlpack.from_dlpack(batch), torch.from_dlpack(batch), ..., without a copy."""
        return self.data.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.data.__dlpack_device__()

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.data.shape))
        dropped = f", {self.dropped} dropped" if self.dropped else ""
        return (f"<imrec.Batch {self.number}: {self.data.dtype} ({shape}), {self.count} samples, {self.pad} pad, "
                f"{self.failed} failed{dropped}, sweep {self.sweep}>")

    def _repr_html_(self) -> str:
        """The first images, with values stretched to the range of a screen."""
        shown = _show.as_pixels(self.data[:_SHOWN], self._channels_last) if self.data.ndim == 4 else ()
        names = _show.class_names_of(self._path)
        figures = [_show.figure(pixels, f"id {self.ids[i]}: {self._caption(i, names)}") for i, pixels in enumerate(shown)]
        return _show.page([*figures, f"<p>{html.escape(repr(self))}</p>"])

    def _caption(self, i: int, names: list[str]) -> str:
        return _show.caption(np.atleast_1d(self.labels[i]), names) if self.valid[i] else "no sample"


def _renumbered(draws: np.ndarray[Any, Any], keep: np.ndarray[Any, np.dtype[np.bool_]]) -> np.ndarray[Any, Any]:
    """The draws of the kept slots, with the new numbers of partners in mixup and cutmix. A partner is a sample that did not
    fail."""
    numbers = np.cumsum(keep) - 1
    out: np.ndarray[Any, Any] = draws[keep]
    out["mix_partner"] = np.where(keep, numbers, 0)[out["mix_partner"]]
    return out


_SHOWN = 8
