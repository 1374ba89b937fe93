"""Samples of Python objects: threads of the library fetch them ahead of the batches, and decode them where they are."""
from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ._ffi import callback, ffi, lib
from ._names import field_names, image_names
from ._store import _tell
from .errors import ArgumentError, CancelledError

KEYWORDS = ("image", "label", "fetch_threads", "fetch_records")  # of an iterator whose data is a source

_OFFSETS = {name: ffi.offsetof("struct imrec_fetched", name) for name in (
    "image", "image_bytes", "mask", "mask_bytes", "labels", "label_count", "label_dtype", "id", "status", "why", "fields",
    "field_count")}
_FORMATS = {"image": np.uintp, "image_bytes": np.uintp, "mask": np.uintp, "mask_bytes": np.uintp, "labels": np.uintp,
            "label_count": np.uint32, "label_dtype": np.uint32, "id": np.uint64, "status": np.uint32, "why": np.uintp, "fields": np.uintp,
            "field_count": np.uint32}
#: struct imrec_fetched
FETCHED = np.dtype({"names": list(_OFFSETS), "formats": [_FORMATS[name] for name in _OFFSETS],
                    "offsets": list(_OFFSETS.values()), "itemsize": ffi.sizeof("struct imrec_fetched")})
LABELS = {np.dtype(np.float32): lib.IMREC_LABEL_FLOAT32, np.dtype(np.float64): lib.IMREC_LABEL_FLOAT64,
          np.dtype(np.int64): lib.IMREC_LABEL_INT64}


class Source(Protocol):
    """What an iterator takes instead of a path: `len()`, and samples by index.

    `source[i]` gives one sample: the bytes of a compressed image, or (image, label), or a dict. Faster is `fetch(indices)`,
    which takes a list of indices and gives as many samples, for example with one query of a database. Threads of the library
    call it, several at once. It may also have `fingerprint`, a text or number that other data does not have: positions of
    other data are refused; and `record_bytes`, the mean size of a sample, for planning memory."""

    def __len__(self) -> int: ...


class Rows(Protocol):
    """The data of a source, as Fetching needs it."""

    name: str
    count: int
    fingerprint: int
    record_bytes: int
    at_once: int
    threads: int
    block_begin: np.ndarray[Any, Any] | None

    def fill(self, numbers: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> Any:
        """Fills `out`, of the type FETCHED. What it returns is kept as long as C uses what `out` points at."""

    def cancel(self) -> None:
        """Calls of fill() that wait end soon. Any thread."""


def number_of(fingerprint: Any) -> int:
    """A fingerprint as the number that C takes."""
    if fingerprint is None:
        return 0
    return int.from_bytes(hashlib.blake2b(str(fingerprint).encode(), digest_size=8).digest(), "little")


def fail(out: np.ndarray[Any, Any], i: int, error: BaseException | str, kept: list[Any]) -> None:
    """Sample i has failed, and no other."""
    err = ffi.new("struct imrec_error *")
    status = _tell(err, error if isinstance(error, BaseException) else ValueError(error))
    why = ffi.new("char[]", ffi.string(err.message) if isinstance(error, BaseException) else error.encode())
    kept.append(why)
    out["status"][i] = status if status != lib.IMREC_ERR_IO or isinstance(error, OSError) else lib.IMREC_ERR_CORRUPT
    out["why"][i] = address(why)


def address(data: Any) -> int:
    return int(ffi.cast("uintptr_t", data))


class Fetching:
    """An iterator's source while the iterator is open: what C's calls need."""

    def __init__(self, rows: Rows, threads: int | None, at_once: int | None) -> None:
        self.rows, self.handle = rows, ffi.new_handle(self)
        self.held: dict[Any, Any] = {}  # by handle: what C still uses
        self.stopped: BaseException | None = None  # KeyboardInterrupt and its like, out of a call
        self.cancelled = False
        blocks = rows.block_begin
        self._texts = [ffi.new("char[]", os.fsencode(rows.name))]
        self.struct = c = ffi.new("struct imrec_fetch *")
        c.struct_size, c.name, c.count, c.user = ffi.sizeof("struct imrec_fetch"), self._texts[0], rows.count, self.handle
        c.fetch, c.release, c.cancel = lib.on_fetch, lib.on_fetch_release, lib.on_fetch_cancel
        c.fingerprint, c.record_bytes = rows.fingerprint, max(1, rows.record_bytes)
        c.threads, c.at_once = _limited("fetch_threads", threads or rows.threads, 256), _limited(
            "fetch_records", at_once or rows.at_once, 65536)
        if blocks is not None:
            self._texts.append(ffi.from_buffer("uint64_t[]", blocks))
            c.block_begin, c.blocks = self._texts[-1], len(blocks)

    def fetch(self, numbers: Any, n: int, out: Any, hold: Any, err: Any) -> int:
        try:
            if self.cancelled:
                return int(lib.IMREC_ERR_CANCELLED)
            wanted = np.frombuffer(ffi.buffer(numbers, 8 * n), np.uint64).astype(np.int64)
            kept = self.rows.fill(wanted, np.frombuffer(ffi.buffer(out, n * FETCHED.itemsize), FETCHED))
            if kept is not None:
                hold[0] = handle = ffi.new_handle(kept)
                self.held[handle] = kept
            return int(lib.IMREC_OK)
        except Exception as error:
            return _tell(err, error)
        except BaseException as error:
            self.stopped = error
            return _tell(err, KeyboardInterrupt(repr(error)))


def _limited(name: str, value: Any, most: int) -> int:
    if not isinstance(value, int) or not 1 <= value <= most:
        raise ArgumentError(f"{name}={value!r}: it must be in [1, {most}]")
    return value


@callback(error=lib.IMREC_ERR_IO)
def on_fetch(user: Any, numbers: Any, n: int, out: Any, hold: Any, err: Any) -> int:
    fetching: Fetching = ffi.from_handle(user)
    return fetching.fetch(numbers, n, out, hold, err)


@callback()
def on_fetch_release(user: Any, hold: Any) -> None:
    ffi.from_handle(user).held.pop(hold, None)


@callback()
def on_fetch_cancel(user: Any) -> None:
    fetching: Fetching = ffi.from_handle(user)
    fetching.cancelled = True
    fetching.rows.cancel()


class Items:
    """A source of Python: an object with len() and samples by index."""

    block_begin: np.ndarray[Any, Any] | None = None
    threads, at_once = 4, 16
    ended = False  # nobody waits for samples any more

    def __init__(self, source: Any, image: str | None, label: str | None, mask: str | None, label_width: int,
                 fields: dict[str, bool]) -> None:
        self._fields = tuple(fields)
        self._source, self._image, self._label, self._mask = source, image or "image", label, mask
        self._none = np.zeros(label_width, np.float32)  # the labels of a sample without any
        self._many = getattr(source, "fetch", None) or getattr(source, "__getitems__", None)
        self.name, self.count = type(source).__name__, len(source)
        self.fingerprint = number_of(getattr(source, "fingerprint", None))
        self.record_bytes = int(getattr(source, "record_bytes", 0) or 1 << 16)

    def _one(self, i: int) -> Any:
        """Sample i, or the exception that it has raised."""
        if self.ended:
            raise CancelledError("the iterator was closed", status=int(lib.IMREC_ERR_CANCELLED))
        try:
            if self._many is None:
                return self._source[i]
            samples = list(self._many([i]))
            if len(samples) != 1:
                raise ValueError(f"fetch() of 1 index gave {len(samples)} samples")
            return samples[0]
        except MemoryError:
            raise
        except Exception as error:
            return error

    def _all(self, numbers: list[int]) -> list[Any]:
        """A call that fails is made again for each of its samples: the others are good, whichever share a call with them."""
        if self._many is None or len(numbers) == 1:
            return [self._one(i) for i in numbers]
        try:
            samples = list(self._many(numbers))
        except MemoryError:
            raise
        except Exception:
            samples = []
        return samples if len(samples) == len(numbers) else [self._one(i) for i in numbers]

    def fill(self, numbers: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> Any:
        kept: list[Any] = []
        for i, sample in enumerate(self._all(numbers.tolist())):
            try:
                if isinstance(sample, BaseException):
                    raise sample
                image, label, mask = self._parts(sample)
                if self._fields and isinstance(sample, Mapping):
                    put_fields(out, i, [(name, sample.get(name)) for name in self._fields], kept)
                self._put(out, i, "image", "image_bytes", image, kept)
                if mask is not None:
                    self._put(out, i, "mask", "mask_bytes", mask, kept)
                labels = self._none if label is None else labels_of(label)
                kept.append(labels)
                out["labels"][i], out["label_count"][i] = labels.ctypes.data, labels.size
                out["label_dtype"][i] = LABELS[labels.dtype]
            except MemoryError:
                raise
            except Exception as error:
                fail(out, i, error, kept)
        return kept

    def cancel(self) -> None:
        self.ended = True

    @staticmethod
    def _put(out: np.ndarray[Any, Any], i: int, where: str, size: str, data: Any, kept: list[Any]) -> None:
        buffer = ffi.from_buffer(data_of(data, where))
        kept.append(buffer)
        out[where][i], out[size][i] = address(buffer), len(buffer)

    def _parts(self, sample: Any) -> tuple[Any, Any, Any]:
        """Image, label and mask of a sample."""
        if isinstance(sample, Mapping):
            for name in (self._image, self._label, self._mask):
                if name is not None and name not in sample:
                    raise TypeError(f"it is a dict without {name!r}, it has {', '.join(map(repr, sample))}")
            return sample[self._image], sample.get(self._label or "label"), sample.get(self._mask or "mask")
        if isinstance(sample, (tuple, list)):
            if len(sample) != 2:
                raise TypeError(f"it is a {type(sample).__name__} of {len(sample)}, it must be (image, label)")
            return sample[0], sample[1], None
        return sample, None, None


def asked_for(parameters: Mapping[str, Any]) -> dict[str, bool]:
    """The names of fields= and images= after the first image, and whether each must be there."""
    return {**field_names(parameters.get("fields")), **image_names(parameters.get("images"))}


def put_fields(out: np.ndarray[Any, Any], i: int, values: list[tuple[str, Any]], kept: list[Any]) -> None:
    """Those that are not None, as the fields of sample i."""
    there = [(name, value) for name, value in values if value is not None]
    fields = ffi.new("struct imrec_field[]", len(there))
    kept.append(fields)
    for field, (name, value) in zip(fields, there):
        data, field.kind = _field_of(name, value)
        texts = ffi.from_buffer(name.encode()), ffi.from_buffer(data)
        kept.append(texts)
        field.name, field.name_bytes, field.bytes, field.size = texts[0], len(texts[0]), texts[1], len(texts[1])
    out["fields"][i], out["field_count"][i] = address(fields), len(there)


def _field_of(name: str, value: Any) -> tuple[Any, int]:
    """Its bytes, and their enum imrec_field_kind."""
    if isinstance(value, str):
        return value.encode(), lib.IMREC_FIELD_BYTES
    if isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes):  # an image of Hugging Face
        return value["bytes"], lib.IMREC_FIELD_BYTES
    if isinstance(value, (Mapping, list, tuple)) and not _are_numbers(value):
        return json.dumps(value, ensure_ascii=False).encode(), lib.IMREC_FIELD_BYTES
    if isinstance(value, (bytes, bytearray, memoryview)):
        return data_of(value, name), lib.IMREC_FIELD_BYTES
    numbers = labels_of(value)
    if numbers.dtype == np.int64:
        return numbers, lib.IMREC_FIELD_INT64
    return numbers.astype(np.float32), lib.IMREC_FIELD_FLOAT32


def _are_numbers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(v, (int, float)) for v in value)


def data_of(image: Any, what: str = "image") -> Any:
    """The bytes of a compressed image, as a buffer in one piece."""
    if isinstance(image, Mapping):  # as the data sets of Hugging Face have it
        data, path = image.get("bytes"), image.get("path")
        if data is None and path is not None:
            with open(path, "rb") as file:
                return file.read()
        image = data
    if isinstance(image, bytes):
        return image
    try:
        view = memoryview(image)
    except TypeError:
        raise TypeError(f"its {what} is of type {type(image).__name__}: it must be the bytes of a compressed image") from None
    if view.ndim > 1 or view.itemsize != 1:
        raise TypeError(f"its {what} is an array of shape {view.shape}: it must be the bytes of a compressed image")
    return view if view.contiguous else view.tobytes()


def labels_of(label: Any) -> np.ndarray[Any, Any]:
    """One or several numbers in a type of LABELS."""
    values = np.ravel(np.asarray(label))
    if values.dtype.kind == "b" or (values.dtype.kind in "iu" and values.dtype != np.uint64):
        return np.ascontiguousarray(values, np.int64)
    if values.dtype.kind in "uf":
        return np.ascontiguousarray(values, np.float64)
    raise TypeError(f"its label is {label!r}: it must be a number, or numbers")


def rows_of(source: Any, parameters: dict[str, Any]) -> Fetching | None:
    """What an iterator is opened with if `source` is no path; then it takes its keywords out of `parameters`."""
    from . import _arrow

    rows: Rows
    table = _arrow.is_table(source)
    if not table and not _is_source(source):
        for name in KEYWORDS[2:]:  # Python's alone: not given, as their defaults say
            if parameters.get(name, 0) is None:
                del parameters[name]
        return None
    image, label, threads, at_once = (parameters.pop(name, None) for name in KEYWORDS)
    mask = parameters.pop("mask", None)
    width = int(parameters.get("label_width") or 1)
    if table and mask is not None:
        raise ArgumentError("mask: rows of a table have no masks; images= delivers their further columns", field="mask")
    if table:
        rows = _arrow.rows_of(source, image, label, width, parameters)
    else:
        rows = Items(source, image, label, mask, width, asked_for(parameters))
    if rows.count < 1:
        raise ArgumentError(f"{rows.name} has no samples")
    return Fetching(rows, threads, at_once)


def _is_source(source: Any) -> bool:
    if source is None or isinstance(source, (str, bytes, os.PathLike, Mapping)) or (type(source).__module__ or "").startswith("imrec."):
        return False
    if isinstance(source, Sequence) and all(isinstance(s, (str, bytes, os.PathLike)) for s in source):
        return False  # paths
    if isinstance(source, (list, tuple)) and not isinstance(source[0], (tuple, list, Mapping, bytearray, memoryview, np.ndarray)):
        return False
    has_items = any(hasattr(source, name) for name in ("fetch", "__getitems__", "__getitem__"))
    return hasattr(source, "__len__") and has_items
