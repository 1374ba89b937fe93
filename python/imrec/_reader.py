"""Reads single records by their number."""
from __future__ import annotations

import html
import inspect
import numbers
import operator
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, List, Mapping, NamedTuple, TypeVar, overload

import numpy as np

from . import _show, _tables
from ._batch import field_value
from ._ffi import check, ffi, lib, new_error, text
from ._options import as_text, fill, signature
from .errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._tables import ReaderParameters

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Decoder:
    """Decodes and encodes images, and keeps its buffers. One thread at a time."""

    def __init__(self) -> None:
        out, err = ffi.new("struct imrec_decoder **"), new_error()
        check(lib.imrec_decoder_new(out, err), err)
        self._decoder = ffi.gc(out[0], lib.imrec_decoder_free)

    def __call__(self, data: Any, channels: int = 3, auto_orient: bool = True, max_pixels: int = 178956970,
                 region: Sequence[int] | None = None, scale: int = 1) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """uint8 (H, W, channels), R, G, B(, A); channels 0 = as stored; region and scale as of decode()."""
        image, err = ffi.new("struct imrec_image *"), new_error()
        view = ffi.from_buffer(data)
        part = ffi.NULL if region is None else _rect(region)
        check(lib.imrec_decoder_decode_part(self._decoder, view, len(view), part, _denominator(scale), channels, auto_orient,
                                            max_pixels, image, err), err)
        rows = np.frombuffer(ffi.buffer(image.pixels, (image.height - 1) * image.stride + image.width * image.channels), np.uint8)
        return np.lib.stride_tricks.as_strided(rows, (image.height, image.width, image.channels),
                                               (image.stride, image.channels, 1)).copy()

    def encode_jpeg(self, pixels: Any, quality: int = 95) -> bytes:
        """uint8 (H, W) or (H, W, 1 or 3) as a JPEG file."""
        return self._encode(lib.imrec_decoder_encode_jpeg, pixels, quality)

    def encode_png(self, pixels: Any, level: int = 3) -> bytes:
        """uint8 (H, W) or (H, W, 1, 3 or 4) as a PNG file."""
        return self._encode(lib.imrec_decoder_encode_png, pixels, level)

    def _encode(self, encoder: Any, pixels: Any, quality: int) -> bytes:
        pixels = np.ascontiguousarray(pixels, dtype=np.uint8)
        if pixels.ndim == 2:
            pixels = pixels[:, :, None]
        image, err = ffi.new("struct imrec_image *"), new_error()
        view = ffi.from_buffer("uint8_t[]", pixels)
        image.pixels, image.stride = view, pixels.shape[1] * pixels.shape[2]
        image.height, image.width, image.channels = pixels.shape
        data, n = ffi.new("const void **"), ffi.new("size_t *")
        check(encoder(self._decoder, image, quality, data, n, err), err)
        return bytes(ffi.buffer(data[0], n[0]))


_local = threading.local()


def decoder() -> Decoder:
    """The decoder of this thread."""
    if getattr(_local, "pid", None) != os.getpid():
        _local.decoder, _local.pid = Decoder(), os.getpid()
    return _local.decoder  # type: ignore[no-any-return]


def _rect(region: Sequence[int]) -> Any:
    try:
        four = [operator.index(v) for v in region]
    except TypeError:
        four = []
    if len(four) != 4 or not all(0 <= v < 2**32 for v in four):
        raise ArgumentError(f"region must be four whole numbers, x, y, width and height, from 0 on, not {region!r}")
    return ffi.new("struct imrec_rect *", four)


def _denominator(scale: int) -> int:
    if not isinstance(scale, numbers.Integral) or scale not in (1, 2, 4, 8):
        raise ArgumentError(f"scale must be 1, 2, 4 or 8, of which the image is a part, not {scale!r}")
    return int(scale)


def decode(data: Any, channels: int = 3, *, region: Sequence[int] | None = None, scale: int = 1,
           auto_orient: bool = True) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A compressed image (bytes) as uint8 (H, W, channels), upright unless auto_orient is False; channels 0 = as
    stored. The GIL is released meanwhile; any thread may call it.

    scale 2, 4 or 8 decodes a JPEG at 1/2, 1/4 or 1/8 of its size, rounded up; other formats raise UnsupportedError.
    region (x, y, width, height) is a part of the image that would be returned without it. At full size no more is
    decoded than it needs, with the same pixels. Raises ArgumentError, CorruptError, UnsupportedError, LimitError."""
    return decoder()(data, channels, auto_orient, region=region, scale=scale)


def encode_jpeg(pixels: Any, quality: int = 95) -> bytes:
    """uint8 (H, W), (H, W, 1) or (H, W, 3) as a JPEG file."""
    return decoder().encode_jpeg(pixels, quality)


class Options:
    """What is read of a data set, in C: struct imrec_reader_options and its texts."""

    def __init__(self, parameters: Mapping[str, Any], what: str) -> None:
        self.c = ffi.new("struct imrec_reader_options *")
        lib.imrec_reader_options_init(self.c)
        self._kept = fill(self.c, _tables.READER, parameters, what)


def of_reader(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those of an iterator's parameters that a reader takes."""
    return {row.name: parameters[row.name] for row in _tables.READER if parameters.get(row.name) is not None}


def reading(function: _Function) -> _Function:
    """Shows the reader's parameters in the signature of a function that takes them."""
    own = inspect.signature(function)
    first = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    setattr(function, "__signature__", signature(_tables.READER, first, own.return_annotation))
    return function


def shards(path: Any, allow_missing: bool = False, options: Options | None = None) -> str:
    """`path` as text; with allow_missing the list of its existing shards."""
    name = as_text(None, "path_imgrec", path)
    if not allow_missing:
        return name
    out, err = ffi.new("char **"), new_error()
    check(lib.imrec_shards_expand_with(os.fsencode(name), options.c if options is not None else ffi.NULL, True, out, err), err)
    there = text(out[0])
    lib.imrec_shards_free(out[0])
    return there


class Record(NamedTuple):
    """A record of a data set."""

    id: int  #: of the image; 0 without an image record header
    labels: np.ndarray[Any, np.dtype[np.float32]]
    image: bytes  #: the compressed image; for other records all bytes
    shard: str  #: name of the file
    offset: int  #: byte of its head there
    is_image: bool  #: it has an image record header
    mask: bytes | None = None  #: the compressed mask after the image
    fields: dict[str, Any] = {}  #: by name: bytes, or an int64 or float32 array; of a tar all files but the image

    @property
    def label(self) -> float:
        """The first label."""
        return float(self.labels[0]) if len(self.labels) else 0.0

    def pixels(self, channels: int = 3) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """uint8 (H, W, channels), like decode()."""
        return decode(self.image, channels)

    def __repr__(self) -> str:
        labels = _show.a_few(map(_show.number, self.labels), len(self.labels))
        what = f"{_show.kind_of(self.image)} image" if self.is_image else "record"
        mask = f" and a mask of {len(self.mask):,}" if self.mask is not None else ""
        return (f"<imrec.Record id {self.id}: labels [{labels}], {what.lstrip()} of {len(self.image):,} bytes{mask}, "
                f"{self.shard} at byte {self.offset}>")

    def __str__(self) -> str:
        return repr(self)

    def _figure(self, names: list[str]) -> str:
        return _show.figure(self.image if self.is_image else None, f"id {self.id}: {_show.caption(self.labels, names)}")

    def _repr_html_(self) -> str:
        return self._figure(_show.class_names_of(self.shard))


class RecordList(List[Record]):
    """A list of records that prints as one line."""

    def __repr__(self) -> str:
        return f"<imrec.RecordList: {len(self)} records, ids [{_show.a_few((r.id for r in self), len(self))}]>"

    def _repr_html_(self) -> str:
        return page_of(self, f"{_PAGE} of {len(self)} records" if len(self) > _PAGE else "", self[0].shard if self else "", {})


def page_of(records: Iterable[Record], words: str, path: str, parameters: Mapping[str, Any]) -> str:
    """The first records as images, with the class names of the data set `path`, read with `parameters`, and a line."""
    names = _show.class_names_of(path, parameters)
    figures = [record._figure(names) for record, _ in zip(records, range(_PAGE))]
    return _show.page(figures + ([f"<p>{html.escape(words)}</p>"] if words else []))


def first_page(path: str, words: str, parameters: Mapping[str, Any]) -> str:
    """The same of a data set that is not opened: only its first records are read, however many it has."""
    return page_of(_first(path, parameters) if path else (), words, path, parameters)


def _first(path: str, parameters: Mapping[str, Any]) -> Iterator[Record]:
    out, c, err = ffi.new("struct imrec_reader **"), ffi.new("struct imrec_record *"), new_error()
    options = Options(parameters, "first_page")
    if lib.imrec_reader_open_with(os.fsencode(path), 0, 1, options.c, out, err) != lib.IMREC_OK:
        return  # the iterator that reads it has more to say
    reader = ffi.gc(out[0], lib.imrec_reader_close)
    for _ in range(4 * _PAGE):  # damage and metadata in between are not shown
        status = lib.imrec_reader_next(reader, c, err)
        if status == lib.IMREC_OK and c.metadata == lib.IMREC_NO_METADATA:
            yield _record(c)
        elif status not in (lib.IMREC_OK, lib.IMREC_ERR_DATA):
            return


_PAGE = 8


class Records(Sequence[Record]):
    """The records of a data set as a sequence, in file order: len(), [i], slices, iteration. Reads only what is requested. Any
    thread and forked children may use it, and it can be pickled. Headers and identities of insightface's files are not
    samples, and have no number."""

    path: str  #: as given, several shards with ';' between them; with allow_missing the existing ones
    parameters: dict[str, Any]  #: what is read of the data set: image=, label=, ...

    def __init__(self, path: Any, *, allow_missing: bool = False, **parameters: Unpack[ReaderParameters]) -> None:
        self.parameters = of_reader(parameters)
        self._options = Options(parameters, "open")
        self.path = shards(path, allow_missing, self._options)
        self._pid = 0
        self._connect()

    def _connect(self) -> None:
        """Opens the reader; again in a forked child, which must not share the parent's reader and lock."""
        out, count, err = ffi.new("struct imrec_reader **"), ffi.new("uint64_t *"), new_error()
        check(lib.imrec_reader_open_with(os.fsencode(self.path), 0, 1, self._options.c, out, err), err)
        self._reader, self._lock = ffi.gc(out[0], lib.imrec_reader_close), threading.Lock()
        check(lib.imrec_reader_count(self._reader, count, err), err)
        self._count, self._pid = int(count[0]), os.getpid()

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> RecordList: ...

    def __getitem__(self, index: Any) -> Any:
        """Record `index`. Raises IndexError, or CorruptError if it cannot be read."""
        if isinstance(index, slice):
            return RecordList(self[i] for i in range(*index.indices(self._count)))
        if not hasattr(index, "__index__"):
            raise TypeError(f"records are numbered from 0: [ ] takes a number, not {index!r}")
        i = index.__index__()
        i += self._count if i < 0 else 0
        if not 0 <= i < self._count:
            raise IndexError(f"there is no record {index}: {self.path} has {self._count}")
        return self._read(lib.imrec_reader_get, i, _record)

    def _read(self, call: Any, i: int, take: Callable[[Any], Any]) -> Any:
        if self._pid != os.getpid():
            self._connect()
        c, err = ffi.new("struct imrec_record *"), new_error()
        with self._lock:
            check(call(self._reader, i, c, err), err)
            return take(c)

    def heads(self) -> Iterator[Head]:
        """Id, labels, shard and offset of each record, without its image; with indexes it reads little else."""
        return (self._read(lib.imrec_reader_head, i, _head) for i in range(self._count))

    def __iter__(self) -> Iterator[Record]:
        return (self[i] for i in range(self._count))

    def __reduce__(self) -> Any:
        return _opened, (self.path, self.parameters)

    def __repr__(self) -> str:
        return f"<imrec.Records: {self.path}, {self._count} records>"

    def _repr_html_(self) -> str:
        return page_of(self, f"{_PAGE} of {len(self)} records" if len(self) > _PAGE else "", self.path, self.parameters)


class Head(NamedTuple):
    """The head of a record, before its image."""

    id: int
    labels: np.ndarray[Any, np.dtype[np.float32]]
    shard: str
    offset: int


def _labels(c: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array(ffi.unpack(c.labels, c.label_count) if c.is_image and c.label_count else [], np.float32)


def _head(c: Any) -> Head:
    return Head(int(c.id), _labels(c), text(c.uri), int(c.offset))


def _fields_of(c: Any) -> dict[str, Any]:
    """Of fields of one name the first one counts."""
    out: dict[str, Any] = {}
    for f in c.fields[0:c.field_count] if c.field_count else ():
        name = bytes(ffi.buffer(f.name, f.name_bytes)).decode(errors="surrogateescape")
        out.setdefault(name, field_value(bytes(ffi.buffer(f.bytes, f.size)) if f.size else b"", f.kind))
    return out


def _record(c: Any) -> Record:
    labels = _labels(c)
    image = bytes(ffi.buffer(c.image, c.image_size)) if c.is_image and c.image_size else b""
    if not c.is_image:
        image = bytes(ffi.buffer(c.data, c.size)) if c.size else b""
    mask = bytes(ffi.buffer(c.mask, c.mask_size)) if c.mask else None
    return Record(int(c.id), labels, image, text(c.uri), int(c.offset), bool(c.is_image), mask, _fields_of(c))


def _opened(path: str, parameters: dict[str, Any]) -> Records:
    return Records(path, **parameters)


@reading
def open(path: Any, *, allow_missing: bool = False, **parameters: Unpack[ReaderParameters]) -> Records:
    """Opens the records of a data set, by number: imrec.open("train.rec")[17].pixels(). `path` is what path_imgrec of
    ImageRecordIter takes: a file, several, a directory, a glob, a NAME.manifest.json. Unless each shard has an index, it
    reads all record heads once. Shards that a directory, glob or manifest lacks are a StorageError; with
    allow_missing=True a warning. The other parameters are those of ImageRecordIter and say what is read: `image` and `label`
    name the parts of samples of tars and TFRecords, `path_root` is the folder of a list's files, `container` the kind of the
    files; `label_offset` is added to every label."""
    return Records(path, allow_missing=allow_missing, **parameters)
