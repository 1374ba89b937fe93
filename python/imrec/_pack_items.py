"""Makes items of the C library from the items of an iterable: an image (encoded bytes, path or pixels), labels, an id."""
from __future__ import annotations

import difflib
import importlib
import numbers
import os
import queue
from collections.abc import Mapping
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from ._ffi import callback, ffi, lib, new_error
from ._running import Watch
from ._unpacked import Unpacked
from .errors import ArgumentError

ANY_ID = "id"  # id= was not given: items need no id


class Item(NamedTuple):
    data: Any  #: bytes, a path as str or os.PathLike, or an array uint8 (H, W, C)
    labels: list[float]
    id: int


class Columns(NamedTuple):
    """What of a value becomes an item, and how."""

    image: str
    label: str | None
    id: str | None
    classes: list[str] | None = None
    encoding: str | None = None  #: of pixels, as it was asked for
    of_jpeg: str | None = None  #: "quality=80", asked for, that only JPEG has


class Taker:
    """Makes items from the values of an iterable. An unsuitable value is an ArgumentError that names the item."""

    def __init__(self, columns: Columns, unpacked: Unpacked) -> None:
        self._image, self._label, self._id, classes, self._encoding, self._of_jpeg = columns
        self._numbers = {name: i for i, name in enumerate(classes)} if classes is not None else None
        self._unpacked = unpacked
        self.numbered: bool | None = None  #: items are numbered: the first item decides

    def __call__(self, n: int, raw: Any) -> Item:
        image, label, number = self._parts(n, raw)
        labels = [] if self._label is None else self._labels(label, f"item {n}")
        return Item(self._data(image, n), labels, self._place(n, number))

    # ---- parts --------------------------------------------------------------------------------------------------------

    def _parts(self, n: int, raw: Any) -> tuple[Any, Any, Any]:
        if isinstance(raw, Mapping):
            return self._of_mapping(n, raw)
        if isinstance(raw, (tuple, list)) and (2 if self._label is not None else 1) <= len(raw) <= 3:
            if self._label is None and len(raw) > 1:
                self._unpacked.add("labels (label=None)")
            if self._id is None and len(raw) == 3:
                self._unpacked.add("ids (id=None)")
                raw = raw[:2]
            return (*raw, None, None)[:3]
        if self._label is None and not isinstance(raw, (tuple, list)):
            return raw, None, None
        what = f"a {type(raw).__name__} of {len(raw)}" if isinstance(raw, (tuple, list)) else type(raw).__name__
        raise ArgumentError(f"item {n} is {what}: it must be (image, label), (image, label, id) or a dict; with label=None an "
                            "image alone is enough")

    def _of_mapping(self, n: int, raw: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        for key, word in ((self._image, "image"), (self._label, "label"), (None if self._id == ANY_ID else self._id, "id")):
            if key is not None and key not in raw:
                raise ArgumentError(f"item {n} has no {key!r}: " + missing(key, word, raw))
        for key in raw:
            if key not in (self._image, self._label, self._id):
                self._unpacked.add(repr(key))
        return raw[self._image], raw[self._label] if self._label is not None else None, (
            raw.get(self._id) if self._id is not None else None)

    def _place(self, n: int, number: Any) -> int:
        if self.numbered is None:
            self.numbered = number is None
        if number is None and self.numbered:
            return n
        if (number is None) != self.numbered:
            raise ArgumentError(f"item {n} has {'no' if number is None else 'an'} id, and the first item has "
                                f"{'one' if number is None else 'none'}; id=None numbers the items")
        whole = number.item() if hasattr(number, "item") and getattr(number, "ndim", 0) == 0 else number
        if isinstance(whole, float) and whole.is_integer() and abs(whole) <= 2**53:
            whole = int(whole)
        if not isinstance(whole, numbers.Integral) or isinstance(whole, bool) or not 0 <= int(whole) < 2**64:
            raise ArgumentError(f"item {n}: id {number!r} is not a whole number from 0 to 2^64 - 1; id=None numbers the items")
        return int(whole)

    # ---- labels -------------------------------------------------------------------------------------------------------

    def _labels(self, value: Any, what: str) -> list[float]:
        if isinstance(value, str):
            return [self._class(value, what)]
        if hasattr(value, "tolist") and not isinstance(value, np.generic):  # arrays and tensors
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            return [_number(value, what)]
        if not value:
            raise ArgumentError(f"{what}: its list of labels is empty; label=None packs without labels")
        return [_number(one, what) for one in value]

    def _class(self, name: str, what: str) -> float:
        if self._numbers is None:
            raise ArgumentError(f"{what}: label {name[:60]!r} is a text: a label is a number, or the name of a class if "
                                "classes= gives them, a list of names or a file of them")
        if name not in self._numbers:
            near = difflib.get_close_matches(name, self._numbers, 1)
            raise ArgumentError(f"{what}: label {name[:60]!r} is none of the {len(self._numbers)} classes"
                                + (f"; did you mean {near[0]!r}?" if near else ""))
        return float(self._numbers[name])

    # ---- images -------------------------------------------------------------------------------------------------------

    def _data(self, data: Any, n: int) -> Any:
        if isinstance(data, Mapping) and ("bytes" in data or "path" in data):  # an undecoded Image of Hugging Face
            data = data["bytes"] if data.get("bytes") is not None else fetched(data.get("path"), n)
        if isinstance(data, (bytes, bytearray, str, os.PathLike)):
            return data
        if isinstance(data, memoryview):  # a copy: cffi and the garbage collector disagree about views in a cycle
            return bytes(data)
        if hasattr(data, "mode") and hasattr(data, "convert"):
            return encoded_file(data) or self._pixels(pillow_pixels(data, n), n)
        return self._pixels(data, n)

    def _pixels(self, data: Any, n: int) -> np.ndarray[Any, Any]:
        try:
            array = np.asarray(data)
        except Exception as error:  # any object may raise anything here
            raise ArgumentError(f"item {n}: its image, {type(data).__name__}, cannot be made an array: {error}") from error
        shape = array.shape
        if array.dtype != np.uint8 or not array.size or not (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4))):
            raise ArgumentError(f"item {n}: its image is " + (f"an array of {array.dtype} {shape}" if array.dtype != object else
                                type(data).__name__) + ": it must be the bytes of a file, a path, or an array of uint8 (H, W), "
                                f"(H, W, 1), (H, W, 3) or (H, W, 4){_hint(array)}")
        if self._encoding is None and self._of_jpeg is not None:
            raise ArgumentError(f"item {n} is pixels, which are stored as PNG, without loss: {self._of_jpeg} is for JPEG; "
                                "add encoding='jpg'")
        if self._encoding == "jpg" and len(shape) == 3 and shape[2] == 4:
            raise ArgumentError(f"item {n} has an alpha channel, which JPEG cannot hold: write encoding='png', or give RGB")
        return np.ascontiguousarray(array if array.ndim == 3 else array[:, :, None])


def _hint(array: np.ndarray[Any, Any]) -> str:
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        return "; channels come last: transpose(1, 2, 0)"
    if array.dtype.kind == "f":
        return "; values from 0 to 1 become uint8 by (255 * a).round().astype('uint8')"
    if array.dtype == np.uint16:
        return "; 16 bits per value are kept only as the bytes of a file"
    return "; bytes of a file in an array: tobytes()" if array.ndim == 1 and array.dtype == np.uint8 else ""


def missing(key: str, word: str, there: Any) -> str:
    """The message for an item or a data set without a key."""
    names = [str(name) for name in there]
    near = difflib.get_close_matches(key, names, 1) or [name for name in names if word in name][:1]
    return (f"it has {', '.join(map(repr, names)) or 'nothing'}; write {word}=" + (f"{near[0]!r}" if near else "KEY")
            + (", or label=None to pack without labels" if word == "label" else ""))


def _number(value: Any, what: str) -> float:
    """A label as a float; the C library checks whether a record can hold it."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    try:
        if isinstance(value, numbers.Integral):
            out = float(value)
            if int(out) != int(value):
                raise OverflowError
            return out
        if isinstance(value, numbers.Real):
            return float(value)
    except OverflowError:
        raise ArgumentError(f"{what}: label {value} changes as float32, the type of labels: whole numbers are exact up to 2^24"
                            ) from None
    text = repr(value)
    raise ArgumentError(f"{what}: label {text if len(text) < 80 else text[:77] + '...'} is not a number"
                        + ("; label=None packs without labels" if value is None else ""))


def fetched(path: Any, n: int) -> Any:
    """The file of an undecoded Image. The library datasets reads it if it is not a path of this machine."""
    if path is None:
        raise ArgumentError(f"item {n}: its image has neither bytes nor a path")
    if "://" not in str(path):
        return path
    try:
        files = importlib.import_module("datasets.utils.file_utils")
    except ImportError:
        raise ArgumentError(f"item {n}: its image is at {path}, which only the package datasets can fetch") from None
    with files.xopen(str(path), "rb") as file:
        return file.read()


def c_text(value: Any, what: str) -> Any:
    """A text for C, where a zero byte ends a text."""
    try:
        data = os.fsencode(value)
    except UnicodeEncodeError:
        raise ArgumentError(f"{what} cannot be written as bytes: {value!r}") from None
    if b"\0" in data:
        raise ArgumentError(f"{what} must not have a zero byte in it: {value!r}")
    return ffi.new("char[]", data)


def encoded_file(image: Any) -> bytes | None:
    """The bytes of the file that a Pillow image was opened from, if the image is unchanged."""
    file: Any = getattr(image, "fp", None)
    untouched = bool(getattr(image, "tile", None)) and file is not None and not getattr(image, "decoderconfig", ())
    if not untouched or (hasattr(image, "tell") and image.tell() != 0):
        return None
    try:
        at = file.tell()
        file.seek(0)
        data = file.read()
        file.seek(at)
    except (OSError, ValueError):  # closed meanwhile
        return None
    info = ffi.new("struct imrec_image_info *")
    readable = isinstance(data, bytes) and lib.imrec_image_info(ffi.from_buffer(data), len(data), info, new_error()) == lib.IMREC_OK
    return data if readable else None


def pillow_pixels(image: Any, n: int) -> Any:
    """A Pillow image in 8 bits of grey, RGB or RGBA, if that loses nothing."""
    mode, clear = image.mode, "transparency" in getattr(image, "info", {})
    palette = getattr(getattr(image, "palette", None), "mode", "")
    if mode in ("LA", "PA") or (clear and mode in ("1", "L", "P", "RGB")) or (mode == "P" and palette.endswith("A")):
        return image.convert("RGBA")
    if mode in ("L", "RGB", "RGBA"):
        return image
    if mode in ("1", "P"):
        return image.convert("L" if mode == "1" else "RGB")
    raise ArgumentError(f"item {n} is a Pillow image of mode {mode!r}, which 8 bits of grey, RGB or RGBA cannot hold without loss: "
                        "convert() it to one of them, or give the bytes of its file")


def fill(to: Any, item: Item) -> Any:
    """Makes *to the item for C. Returns the memory that it points to."""
    to[0] = ffi.new("struct imrec_pack_item *")[0]
    labels = ffi.new("double[]", item.labels)
    to.labels, to.label_count, to.id = labels, len(item.labels), item.id
    data = item.data
    if isinstance(data, np.ndarray):
        height, width, channels = data.shape
        data = ffi.from_buffer("uint8_t[]", data)
        to.pixels.pixels, to.pixels.stride = data, width * channels
        to.pixels.height, to.pixels.width, to.pixels.channels = height, width, channels
    elif isinstance(data, (str, os.PathLike)):
        data = c_text(data, "a path")
        to.path = data
    else:
        data = ffi.from_buffer(data)
        to.bytes, to.byte_count = data, len(data)
    return labels, data, item


class Feeder(Watch):
    """Passes items to imrec_pack_items(). The iterable runs in the thread that called pack(), as its owner expects, and its
    exceptions are raised there unchanged."""

    def __init__(self, items: Iterator[Item], progress: bool | Callable[[Any], None], expected: int) -> None:
        super().__init__(progress, "img")
        self.expected = expected
        self._items: Any = items
        self._item = ffi.new("struct imrec_pack_item *")
        self._kept: Any = None  # memory that the item points to
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answer: queue.SimpleQueue[int] = queue.SimpleQueue()

    def run(self, call: Callable[[], int]) -> int:
        def told() -> int:
            try:
                return call()
            finally:
                self._asked.put(False)

        try:
            return super().run(told)
        finally:
            self._kept = self._items = None

    def turn(self, ended: Any) -> None:
        """In the caller's thread: waits until an item is requested, or the run is over."""
        try:
            wanted = self._asked.get(timeout=0.05)
        except queue.Empty:
            return
        if wanted:
            self._answer.put(self._next())

    def _next(self) -> int:
        try:
            item = next(self._items, None)
            if item is None:
                return int(lib.IMREC_END)
            self._kept = fill(self._item, item)
            return int(lib.IMREC_OK)
        except BaseException as error:
            self.error = self.error or error
            self.cancelled = True
            return int(lib.IMREC_ERR_CANCELLED)

    def give(self, to: Any) -> int:
        """In a worker's thread: the next item, once the caller's thread has made it."""
        self._asked.put(True)
        while not self.cancelled:
            try:
                status = self._answer.get(timeout=0.05)
            except queue.Empty:
                continue
            if status == lib.IMREC_OK:
                to[0] = self._item[0]
            return status
        return int(lib.IMREC_ERR_CANCELLED)


class Giver:
    """Hands over items in the thread that asks for them, where nothing else is done meanwhile."""

    def __init__(self, items: Iterator[Item]) -> None:
        self.number = -1  #: of the item that was asked for last, from 0
        self.error: BaseException | None = None
        self._items, self._kept = items, None
        self.handle = ffi.new_handle(self)

    def give(self, to: Any) -> int:
        self.number += 1
        try:
            item = next(self._items, None)
            if item is None:
                return int(lib.IMREC_END)
            self._kept = fill(to, item)
            return int(lib.IMREC_OK)
        except BaseException as error:
            self.error = error
            return int(lib.IMREC_ERR_CANCELLED)


@callback(error=lib.IMREC_ERR_CANCELLED)
def on_pack_item(user: Any, item: Any, err: Any) -> int:
    giver: Feeder | Giver = ffi.from_handle(user)
    return giver.give(item)
