"""The classes and functions of mxnet.recordio without MXNet: single records of a .rec file, and headers of image records.

    with MXIndexedRecordIO("a.idx", "a.rec", "w") as out:
        out.write_idx(0, pack_img(IRHeader(0, 3.0, 0, 0), pixels, quality=95))
    header, pixels = unpack_img(MXIndexedRecordIO("a.idx", "a.rec", "r").read_idx(0))

Names, arguments and bytes are MXNet's. Improvements: a complete file gets its name when it is closed; damage is an error with
its place, and reading continues after it; pickled and forked readers continue where they were; a reader at the end can still
seek; a writer that is pickled or used by a forked child refuses instead of emptying the file.
"""
from __future__ import annotations

import numbers
import os
import struct
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from ._ffi import check, ffi, lib, new_error, raise_error, same_process
from ._options import as_text
from ._reader import decoder
from .errors import ArgumentError, CancelledError, CorruptError

__all__ = ["IRHeader", "MXIndexedRecordIO", "MXRecordIO", "pack", "pack_img", "unpack", "unpack_img"]


class MXRecordIO:
    """Reads (flag "r") or writes ("w") records, in order.

    uri: of the file; a reader also takes what path_imgrec takes. A writer's file gets its name in close(), or at the end of
    its `with` block if no exception was raised there. Raises ValueError for another flag, StorageError, CorruptError.
    """

    def __init__(self, uri: Any, flag: str) -> None:
        self._handle = ffi.NULL
        self.uri, self.flag = as_text(None, "uri", uri), flag
        if flag not in ("r", "w"):
            raise ArgumentError(f"flag {flag!r}: it must be 'r' to read or 'w' to write")
        self.writable, self.is_open = flag == "w", False
        self._place: tuple[int, int, bool] | None  # of a reader whose handle is elsewhere: shard, byte, whether after its record
        self._last: tuple[int, int] | None  # of a reader: shard and byte of the last read record
        self.open()

    # ---- opening and closing -------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Opens the file, as __init__ does. An open one restarts: that of a writer is emptied."""
        self._drop()
        err = new_error()
        if self.writable:
            out = ffi.new("struct imrec_writer **")
            check(lib.imrec_writer_open(os.fsencode(self.uri), ffi.NULL, True, out, err), err)
        else:
            out = ffi.new("struct imrec_reader **")
            check(lib.imrec_reader_open_files(os.fsencode(self.uri), 0, 1, out, err), err)
        self._handle, self._pid, self.is_open = out[0], os.getpid(), True
        self._place = self._last = None

    def close(self) -> None:
        """Closes the file; a writer's file gets its name. Twice is harmless."""
        if not self._handle:
            self.is_open = False
            return
        if self.writable and self._pid == os.getpid():
            handle, self._handle, self.is_open, err = self._handle, ffi.NULL, False, new_error()
            check(lib.imrec_writer_commit(handle, err), err)
        self._drop()

    def _drop(self) -> None:
        """Closes without keeping what was written. In a forked child the parent's writer is not touched."""
        handle, self._handle, self.is_open = self._handle, ffi.NULL, False
        if handle and self.writable and self._pid == os.getpid():
            lib.imrec_writer_abort(handle)
        elif handle and not self.writable:
            lib.imrec_reader_close(handle)

    def reset(self) -> None:
        """Moves a reader to the first record; empties a writer's file."""
        if self.writable:
            self._served()
        self.open()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __enter__(self) -> MXRecordIO:
        return self

    def __exit__(self, kind: Any, *what: object) -> None:
        if kind is not None and self.writable:
            self._drop()
        else:
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable and self.is_open:
            raise TypeError(f"{self.uri} is being written and cannot be pickled: another writer would empty it")
        state = {k: v for k, v in self.__dict__.items() if k != "_handle"}
        if self._place is None and self._last is not None:
            state["_place"] = (*self._last, True)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._handle = ffi.NULL
        if state["is_open"]:
            self.open()
            self._place, self._last = state["_place"], state["_last"]

    def _served(self) -> Any:
        if not self._handle:
            raise CancelledError(f"{self.uri} is closed")
        if self.writable:
            same_process(self._pid, f"writer of {self.uri}")
        return self._handle

    # ---- records -------------------------------------------------------------------------------------------------------

    def write(self, buf: Any) -> None:
        """Appends bytes (or an object with a buffer) as a record. Raises LimitError for 2^29 bytes or more."""
        if not self.writable:
            raise ArgumentError(f"{self.uri} is open for reading")
        handle, view, err = self._served(), ffi.from_buffer(buf), new_error()
        check(lib.imrec_writer_append(handle, 0, view, len(view), err), err)

    def read(self) -> bytes | None:
        """The next record; None at the end. Raises DataError at a damaged range: the next call continues after it."""
        if self.writable:
            raise ArgumentError(f"{self.uri} is open for writing")
        self._served()
        if self._place is not None:
            shard, offset, behind = self._place
            self._seek(shard, offset)
            self._place = None
            if behind:
                self._next()
        return self._next()

    def _seek(self, shard: int, offset: int) -> None:
        err = new_error()
        check(lib.imrec_reader_seek(self._handle, shard, offset, err), err)

    def _next(self) -> bytes | None:
        c, err = ffi.new("struct imrec_record *"), new_error()
        status = lib.imrec_reader_next(self._handle, c, err)
        if status == lib.IMREC_END:
            return None
        if status != lib.IMREC_OK:
            raise_error(status, err)
        return self._bytes(c)

    def _bytes(self, c: Any) -> bytes:
        self._last = (int(c.shard), int(c.offset))
        return bytes(ffi.buffer(c.data, c.size)) if c.size else b""

    def __iter__(self) -> Iterator[bytes]:
        """The remaining records."""
        return iter(self.read, None)

    def tell(self) -> int:
        """The byte at which a writer's next record will begin."""
        if not self.writable:
            raise ArgumentError(f"{self.uri} is open for reading: only a writer has tell()")
        return int(lib.imrec_writer_size(self._served()))

    def __repr__(self) -> str:
        return f"<imrec.recordio.{type(self).__name__}: {self.uri}, {self.flag}{'' if self.is_open else ', closed'}>"


class MXIndexedRecordIO(MXRecordIO):
    """Records by key. The index is a text of lines `key<tab>offset`, in the order of writing.

    key_type: makes a key from the index's text (and from write_idx()'s argument). A reader's `keys` lists all keys in the order
    of the index, `idx` maps them to offsets. Raises CorruptError for a malformed line, with its number.
    """

    def __init__(self, idx_path: Any, uri: Any, flag: str, key_type: Callable[[Any], Any] = int) -> None:
        self.idx_path, self.key_type = os.fsdecode(idx_path), key_type
        self.idx: dict[Any, int]
        self.keys: list[Any]
        self._lines: list[str]  # of a writer's index
        self._ends: dict[int, int]  # of a reader's records, from the index
        super().__init__(uri, flag)

    def open(self) -> None:
        super().open()
        self.idx, self.keys, self._ends, self._lines = {}, [], {}, []
        if not self.writable:
            self._load()

    def _load(self) -> None:
        with open(self.idx_path, encoding="utf-8-sig") as f:
            for number, line in enumerate(f, 1):
                if not line.strip():
                    continue
                name, _, offset = line.strip().rpartition("\t")
                try:
                    key, at = self.key_type(name), int(offset)
                except ValueError:
                    raise CorruptError(f"{self.idx_path}, line {number}: {line.strip()!r} is not a key, a tab and an "
                                       "offset") from None
                self.keys.append(key)
                self.idx[key] = at
        offsets = sorted({*self.idx.values()})
        self._ends = dict(zip(offsets, offsets[1:]))

    def close(self) -> None:
        """Closes; index and file of a writer get their names, the file last, so that a file always has its index."""
        if not (self.writable and self._handle and self._pid == os.getpid()):
            return super().close()
        part = self.idx_path + ".part"
        try:
            with open(part, "w", encoding="utf-8") as f:
                f.writelines(self._lines)
                f.flush()
                os.fsync(f.fileno())
            os.replace(part, self.idx_path)
        except OSError:
            self._drop()
            raise
        try:
            super().close()
        except BaseException:  # no index without its file
            os.unlink(self.idx_path)
            raise

    def seek(self, idx: Any) -> None:
        """Moves read() to the record of this key. Raises KeyError."""
        if self.writable:
            raise ArgumentError(f"{self.uri} is open for writing")
        self._served()
        self._place = (0, self.idx[idx], False)

    def read_idx(self, idx: Any) -> bytes:
        """Reads the record of this key, and no other byte; read() continues after it. Raises KeyError; CorruptError if there is
        no record."""
        if self.writable:
            raise ArgumentError(f"{self.uri} is open for writing")
        handle, begin = self._served(), self.idx[idx]
        c, err = ffi.new("struct imrec_record *"), new_error()
        check(lib.imrec_reader_at(handle, 0, begin, self._ends.get(begin, 2**64 - 1), c, err), err)
        data = self._bytes(c)
        self._place = (0, begin, True)
        return data

    def write_idx(self, idx: Any, buf: Any) -> None:
        """Appends a record under a key. A repeated key is in the index twice; its last record counts."""
        key, at = self.key_type(idx), self.tell()
        if any(c in str(key) for c in "\t\n\r"):
            raise ArgumentError(f"{key!r} cannot be a key: it would break the lines of the index")
        self.write(buf)
        self.keys.append(key)
        self._lines.append(f"{key}\t{at}\n")
        self.idx[key] = at


# ---- image records -----------------------------------------------------------------------------------------------------

_HEADER = struct.Struct("<IfQQ")


class IRHeader(NamedTuple):
    """Header of an image record. Labels are float32: pack() refuses whole numbers that these cannot hold exactly."""

    flag: int  #: number of labels after the header; 0: `label` is the only one. pack() sets it
    label: Any  #: a number, or an array of them
    id: int  #: of the image
    id2: int  #: its second part, usually 0


def _exact(label: Any) -> None:
    """Raises ArgumentError for a value that is not a number (None would become NaN), and for a whole number that float32
    changes: 16,777,217 would become another class."""
    values = np.asarray(label)
    for value in () if values.dtype == np.float32 else values.ravel().tolist():  # Python's numbers, integers of any size
        if not isinstance(value, numbers.Number) or isinstance(value, complex):
            raise ArgumentError(f"the label {label!r} is not a number: a label is a number, or an array of them")
        if isinstance(value, (int, float)) and abs(value) > 2**24 and value // 1 == value and _as_float32(value) != value:
            raise ArgumentError(f"the label {int(value)} does not fit a record: labels are float32, which hold whole numbers "
                                "exactly up to 16,777,216; ids (id, id2) are whole numbers in [0, 2^64)")


def _as_float32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except (OverflowError, struct.error):  # larger than any float32
        return float("inf")


def pack(header: Any, s: Any) -> bytes:
    """Makes an image record from an IRHeader (or a tuple like it) and an image's bytes. Raises ArgumentError for a label, id or
    id2 that does not fit, such as a whole label that float32 cannot hold exactly."""
    flag, label, id, id2 = header
    _exact(label)
    labels = b""
    if isinstance(label, numbers.Number):
        flag = 0
    else:
        values = np.asarray(label, "<f4")
        flag, label, labels = values.size, 0.0, values.tobytes()
    try:
        return _HEADER.pack(flag, label, id, id2) + labels + bytes(s)
    except (struct.error, OverflowError, TypeError) as why:
        raise ArgumentError(f"{IRHeader(flag, label, id, id2)} does not fit a record: label is a float32, id and id2 are "
                            f"whole numbers in [0, 2^64) ({why})") from None


def unpack(s: Any) -> tuple[IRHeader, bytes]:
    """Splits an image record into header and image. `label` is a float, or a float32 array if flag > 0. Raises CorruptError if
    the bytes are too short."""
    s = bytes(s)
    if len(s) < _HEADER.size:
        raise CorruptError(f"an image record begins with {_HEADER.size} bytes of header, there are {len(s)}")
    header = IRHeader(*_HEADER.unpack_from(s))
    at = _HEADER.size + 4 * header.flag
    if len(s) < at:
        raise CorruptError(f"the header announces {header.flag} labels, which take {4 * header.flag} bytes, there are "
                           f"{len(s) - _HEADER.size}")
    if header.flag:
        header = header._replace(label=np.frombuffer(s, "<f4", header.flag, _HEADER.size).astype(np.float32))
    return header, s[at:]


def _swapped(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """RGB(A) to BGR(A), and back."""
    if pixels.ndim == 2 or pixels.shape[2] < 3:
        return pixels
    return np.ascontiguousarray(pixels[:, :, [2, 1, 0, 3][:pixels.shape[2]]])


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """Makes an image record from an IRHeader and pixels: uint8 (H, W), (H, W, 1), or (H, W, 3 or 4) in the order B, G, R(, A), as in
    OpenCV. quality: for ".jpg" 1..100; for ".png" the level of compression, 1..9, others mean 3. JPEG has no alpha."""
    pixels = np.asarray(img)
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3, 4)):
        raise ArgumentError(f"pixels are uint8 (H, W) or (H, W, 1, 3 or 4), not {pixels.dtype} {pixels.shape}")
    if img_fmt.lower() in (".jpg", ".jpeg"):
        pixels = pixels[:, :, :3] if pixels.ndim == 3 else pixels
        return pack(header, decoder().encode_jpeg(_swapped(pixels), min(max(int(quality), 1), 100)))
    if img_fmt.lower() == ".png":
        return pack(header, decoder().encode_png(_swapped(pixels), quality if 1 <= quality <= 9 else 3))
    raise ArgumentError(f"img_fmt {img_fmt!r}: it must be '.jpg' or '.png'")


def unpack_img(s: Any, iscolor: int = -1) -> tuple[IRHeader, np.ndarray[Any, np.dtype[np.uint8]]]:
    """Splits an image record into header and pixels, as in OpenCV. iscolor 1: uint8 (H, W, 3) in the order B, G, R, upright;
    0: grey (H, W), upright; -1: as stored, not turned: (H, W), (H, W, 3) or (H, W, 4). 16-bit values become their high bytes.
    Raises CorruptError, UnsupportedError, LimitError."""
    if iscolor not in (-1, 0, 1):
        raise ArgumentError(f"iscolor {iscolor!r}: it must be 1 (colour), 0 (grey) or -1 (as stored)")
    header, image = unpack(s)
    pixels = decoder()(image, {1: 3, 0: 1, -1: 0}[iscolor], auto_orient=iscolor != -1)
    return header, pixels[:, :, 0] if pixels.shape[2] == 1 else _swapped(pixels)


def __dir__() -> list[str]:
    return __all__
