"""Records by number: shards that stay open for single reads, and pictures of single records decoded."""
from __future__ import annotations

import glob
import os
import struct
import threading
from typing import Any, NamedTuple

import numpy as np

from ._ffi import check, ffi, lib, new_error
from .errors import ArgumentError, CorruptError, StorageError

_MAGIC = 0xCED7230A
_PART = struct.Struct("<II")  # magic; flag << 29 | length
_HEADER = struct.Struct("<IfQQ")  # labels behind the header; label; id; id2
_LENGTH = (1 << 29) - 1


class Record(NamedTuple):
    labels: np.ndarray[Any, np.dtype[np.float32]]  #: of one record
    id: int
    id2: int
    image: bytes  #: the picture as it was packed


def shards_of(path: Any) -> list[str]:
    """What path_imgrec names: a file, several (a list, or 'a.rec;b.rec'), a folder's *.rec, or a glob's matches."""
    if isinstance(path, (list, tuple)):
        return [shard for p in path for shard in shards_of(p)]
    found = []
    for name in os.fsdecode(path).split(";"):
        if os.path.isdir(name):
            name = os.path.join(glob.escape(name), "*.rec")
        matches = sorted(glob.glob(name), key=os.fsencode) if glob.has_magic(name) and not os.path.exists(name) else [name]
        found += matches
    if not found:
        raise ArgumentError(f"{os.fsdecode(path)!r} names no shard")
    return found


def _offsets_of_index(path: str, size: int) -> list[int]:
    """Of records, in the order of the index."""
    found = []
    with open(path, encoding="utf-8-sig") as f:
        for number, line in enumerate(f, 1):
            fields = line.split()
            if not fields:
                continue
            if len(fields) != 2 or not all(field.isdecimal() for field in fields):
                raise CorruptError(f"{path}, line {number}: {line.strip()!r} is not a key, a tab and an offset")
            offset = int(fields[1])
            if offset % 4 or offset + _PART.size > size:
                raise CorruptError(f"{path}, line {number}: no record begins at {offset} of a shard of {size} bytes")
            found.append(offset)
    return found


class Records:
    """The records of shards by number: `len(records)`, `records[i]`. Read by pread() from files that stay open: any number of
    threads may read at once, and forked children with their parent's object; it can be pickled. An index that lies beside a
    shard (train.idx for train.rec) is used; without one the heads of all records are read once."""

    def __init__(self, path_imgrec: Any, path_imgidx: Any = None) -> None:
        self.shards = shards_of(path_imgrec)
        indexes: list[str | None] = [None] * len(self.shards)
        if path_imgidx:
            indexes = [*shards_of(path_imgidx)]
            if len(indexes) != len(self.shards):
                raise ArgumentError(f"path_imgidx names {len(indexes)} files, path_imgrec {len(self.shards)}: one for each")
        self._files: dict[int, int] = {}
        self._lock = threading.Lock()
        offsets = [self._offsets(k, index) for k, index in enumerate(indexes)]
        self._offset = np.array([o for shard in offsets for o in shard], np.uint64)
        self._first = np.cumsum([0, *map(len, offsets)])

    def _offsets(self, shard: int, index: str | None) -> list[int]:
        size = os.fstat(self._file(shard)).st_size
        beside = os.path.splitext(self.shards[shard])[0] + ".idx"
        if index is None and os.path.exists(beside):
            index = beside
        if index is not None:
            return _offsets_of_index(index, size)
        found, at = [], 0
        while at < size:
            flag, length = self._head(shard, at)
            if flag in (0, 1):
                found.append(at)
            at += _PART.size + (length + 3) // 4 * 4
        return found

    def _file(self, shard: int) -> int:
        with self._lock:
            if shard not in self._files:
                try:
                    self._files[shard] = os.open(self.shards[shard], os.O_RDONLY | os.O_CLOEXEC)
                except OSError as why:
                    raise StorageError(f"{self.shards[shard]} cannot be opened: {why.strerror}", errno=why.errno) from None
            return self._files[shard]

    def _read(self, shard: int, offset: int, size: int) -> bytes:
        data = os.pread(self._file(shard), size, offset)
        if len(data) < size:
            raise CorruptError(f"{self.shards[shard]} ends inside the record part that should be at {offset}, {size} bytes",
                               offset=offset, shard=self.shards[shard])
        return data

    def _head(self, shard: int, offset: int) -> tuple[int, int]:
        """Flag and length of the part at `offset`."""
        magic, word = _PART.unpack(self._read(shard, offset, _PART.size))
        if magic != _MAGIC or word >> 29 > 3:
            raise CorruptError(f"{self.shards[shard]}: no record begins at byte {offset}; `imrec repair` keeps what is intact",
                               offset=offset, shard=self.shards[shard])
        return word >> 29, word & _LENGTH

    def _bytes(self, shard: int, offset: int) -> bytes:
        flag, length = self._head(shard, offset)
        if flag > 1:
            raise CorruptError(f"{self.shards[shard]}: a record's later part is at byte {offset}, not its beginning",
                               offset=offset, shard=self.shards[shard])
        parts, total = [self._read(shard, offset + _PART.size, length)], length
        while flag in (1, 2):
            offset += _PART.size + (length + 3) // 4 * 4
            flag, length = self._head(shard, offset)
            total += 4 + length
            if flag in (0, 1) or total > _LENGTH:
                raise CorruptError(f"{self.shards[shard]}: the part at byte {offset} does not go on with the record before it",
                                   offset=offset, shard=self.shards[shard])
            parts.append(self._read(shard, offset + _PART.size, length))
        return _PART.pack(_MAGIC, 0)[:4].join(parts)

    def __len__(self) -> int:
        return len(self._offset)

    def place(self, i: int) -> tuple[int, int]:
        """Number of the shard and byte offset of record i."""
        count = len(self)
        if not -count <= i < count:
            raise IndexError(f"record {i} of {count}")
        i = i % count
        shard = int(np.searchsorted(self._first, i, "right")) - 1
        return shard, int(self._offset[i])

    def __getitem__(self, i: int) -> Record:
        shard, offset = self.place(i)
        data = self._bytes(shard, offset)
        if len(data) < _HEADER.size:
            raise CorruptError(f"{self.shards[shard]}: the record at byte {offset} has {len(data)} bytes, an image record's "
                               f"header alone has {_HEADER.size}", offset=offset, shard=self.shards[shard])
        count, label, id1, id2 = _HEADER.unpack_from(data)
        at = _HEADER.size + 4 * count
        if len(data) < at:
            raise CorruptError(f"{self.shards[shard]}: the record at byte {offset} says {count} labels and has no room for them",
                               offset=offset, shard=self.shards[shard])
        labels = np.frombuffer(data, "<f4", count, _HEADER.size) if count else np.array([label], np.float32)
        return Record(labels.astype(np.float32), id1, id2, data[at:])

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_files", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _files={}, _lock=threading.Lock())

    def close(self) -> None:
        """Closes the files; they are opened again when a record is asked for."""
        with self._lock:
            for number in self._files.values():
                os.close(number)
            self._files.clear()

    def __del__(self) -> None:
        for number in self.__dict__.get("_files", {}).values():
            os.close(number)


_thread = threading.local()  # a decoder keeps its buffers, and serves one thread at a time


def decode(image: bytes, channels: int = 3, auto_orient: bool = True, max_pixels: int = 178956970) -> np.ndarray[Any, Any]:
    """A picture's bytes to uint8 (H, W, channels), upright; of more than max_pixels it is a LimitError."""
    err = new_error()
    if not hasattr(_thread, "decoder"):
        out = ffi.new("struct imrec_decoder **")
        check(lib.imrec_decoder_new(out, err), err)
        _thread.decoder = ffi.gc(out[0], lib.imrec_decoder_free)
    view = ffi.new("struct imrec_image *")
    check(lib.imrec_decoder_decode(_thread.decoder, ffi.from_buffer(image), len(image), channels, auto_orient, max_pixels, view,
                                   err), err)
    rows = np.frombuffer(ffi.buffer(view.pixels, view.stride * view.height), np.uint8).reshape(view.height, view.stride)
    return rows[:, :view.width * view.channels].reshape(view.height, view.width, view.channels).copy()
