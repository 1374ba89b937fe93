"""InputSplit: part k of n of any files, as lines or records."""
from __future__ import annotations

import os
import threading
from typing import Any, Iterator

from . import _log
from ._ffi import check, ffi, lib, new_error, same_process, text
from ._options import ON_ERROR, as_text, chosen
from ._running import close_at_exit, discard
from .errors import ArgumentError, CancelledError

_TYPES = {"text": "IMREC_SPLIT_TEXT", "recordio": "IMREC_SPLIT_RECORDIO", "indexed_recordio": "IMREC_SPLIT_INDEXED_RECORDIO"}
_NUMBERS = ("part_index", "num_parts", "seed", "chunk_bytes", "chunk_records", "max_record_bytes", "prefetch", "threads")


class InputSplit:
    """The records of part `part_index` of `num_parts` of files in any store, as bytes: dmlc-core's InputSplit.

        for line in imrec.InputSplit("s3://bucket/lists/", part_index=rank, num_parts=world_size):
            ...

    A loop reads the rest of a pass; after its end the next loop reads the next pass. rewind() begins the next pass at once.
    chunks() gives whole chunks instead of records.

    type "text": a record is a line without its end; runs of LF and CR separate lines, so blank lines are no records.
    "recordio": a record of RecordIO, its parts joined. "indexed_recordio": the same by an index, that of `index_uri` or
    NAME.idx next to each file.

    uri: a file, a folder (text: all its files; records: its *.rec), a glob, a list with ";" or a Python list of these.
    shuffle: chunks come in an order of seed and pass; with an index single records do. on_error: "stop" raises DataError
    for what is damaged, too long or unreadable, and the next call continues after it; "skip" counts it in `lost`.
    chunk_bytes (8 MiB), chunk_records (with an index), max_record_bytes (64 MiB), prefetch (3 chunks), threads (2).

    One thread at a time is served; the GIL is released while it waits. A forked child cannot use a split of its parent
    (ForkedError). A pickled split continues at its position.

    Raises: ArgumentError, MissingFileError, StorageError, CorruptError, UnsupportedError; while reading, DataError.
    """

    _s: Any  # struct imrec_input_split *; NULL: closed

    def __init__(self, uri: Any, part_index: int = 0, num_parts: int = 1, type: str = "text", *, index_uri: Any = None,
                 shuffle: bool = False, seed: int = 0, on_error: str = "stop", chunk_bytes: int | None = None,
                 chunk_records: int | None = None, max_record_bytes: int | None = None, prefetch: int | None = None,
                 threads: int | None = None) -> None:
        self._s = ffi.NULL
        self._arguments: dict[str, Any] = {
            "uri": as_text(None, "path_uri", uri), "part_index": part_index, "num_parts": num_parts, "type": type,
            "index_uri": None if index_uri is None else as_text(None, "path_index", index_uri), "shuffle": shuffle,
            "seed": seed, "on_error": on_error, "chunk_bytes": chunk_bytes, "chunk_records": chunk_records,
            "max_record_bytes": max_record_bytes, "prefetch": prefetch, "threads": threads}
        self._pid, self._lock, self._ended = os.getpid(), threading.Lock(), False
        _log.listen()
        self._s = self._opened()
        close_at_exit(self)
        self._bytes, self._err = ffi.new("struct imrec_split_bytes *"), new_error()

    def _opened(self) -> Any:
        a = self._arguments
        o, out, err = ffi.new("struct imrec_input_split_options *"), ffi.new("struct imrec_input_split **"), new_error()
        lib.imrec_input_split_options_init(o)
        o.type, o.on_error = chosen("type", _TYPES, a["type"]), chosen("on_error", ON_ERROR, a["on_error"])
        o.shuffle = bool(a["shuffle"])
        for name in _NUMBERS:
            if a[name] is not None:
                _set(o, name, a[name])
        index = ffi.NULL if a["index_uri"] is None else ffi.new("char[]", os.fsencode(a["index_uri"]))
        o.index_uri = index  # borrowed by the call
        check(lib.imrec_input_split_open(os.fsencode(a["uri"]), o, out, err), err)
        return out[0]

    def _served(self) -> Any:
        if not self._s:
            raise CancelledError("this InputSplit is closed")
        same_process(self._pid, "InputSplit")
        return self._lock

    def _taken(self, call: Any) -> bytes | None:
        with self._served():
            if check(call(self._s, self._bytes, self._err), self._err) == lib.IMREC_END:
                self._ended = True
                return None
            return bytes(ffi.buffer(self._bytes.data, self._bytes.size)) if self._bytes.size else b""

    # ---- records -------------------------------------------------------------------------------------------------------

    def __iter__(self) -> InputSplit:
        """The rest of a pass, or the next one. The same object: the next loop, and next(), continue where it stops."""
        if self._ended:
            self.rewind()
        return self

    def __next__(self) -> bytes:
        record = self._taken(lib.imrec_input_split_next)
        if record is None:
            raise StopIteration
        return record

    def chunks(self) -> Iterator[bytes]:
        """The rest of a pass as chunks, as the files have them: whole lines with their ends, or whole records with their
        heads. A chunk never reaches into another file."""
        iter(self)
        return iter(lambda: self._taken(lib.imrec_input_split_next_chunk), None)  # type: ignore[arg-type,unused-ignore]

    # ---- places --------------------------------------------------------------------------------------------------------

    def rewind(self) -> None:
        """Goes to the first pass of which nothing was delivered. With shuffle each pass has its own order."""
        with self._served():
            lib.imrec_input_split_rewind(self._s)
            self._ended = False

    def reset_partition(self, part_index: int, num_parts: int) -> None:
        """Goes to the first pass of another part. If it fails, the split is as before."""
        with self._served():
            err = new_error()
            check(lib.imrec_input_split_reset_partition(self._s, _number("part_index", part_index),
                                                        _number("num_parts", num_parts), err), err)
            self._arguments.update(part_index=part_index, num_parts=num_parts)
            self._ended = False

    def position(self) -> str:
        """The place of the next record as JSON text, for restore() of a split of the same files, part and order; stores,
        folders, prefetch, threads, on_error and max_record_bytes may differ."""
        with self._served():
            out, err = ffi.new("char **"), new_error()
            check(lib.imrec_input_split_position(self._s, out, err), err)
            place = text(out[0])
            lib.imrec_input_split_position_free(out[0])
            return place

    def restore(self, position: str) -> None:
        """Continues at a position. Raises ArgumentError that says what differs; the split is then as before."""
        with self._served():
            err = new_error()
            check(lib.imrec_input_split_restore(self._s, position.encode(), err), err)
            self._ended = False

    @property
    def lost(self) -> int:
        """How many times something was damaged, raised as DataError or skipped."""
        with self._served():
            return int(lib.imrec_input_split_lost(self._s))

    @property
    def total_bytes(self) -> int:
        """Bytes of all files, of all parts."""
        with self._served():
            return int(lib.imrec_input_split_total_bytes(self._s))

    # ---- the rest ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stops reading ahead. Twice is harmless."""
        split, self._s = self._s, ffi.NULL
        if split and self._pid == os.getpid():
            lib.imrec_input_split_close(split)

    def __enter__(self) -> InputSplit:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_s", None):
            discard(self)

    def __reduce__(self) -> Any:
        return _reopened, (self._arguments, self.position(), self._ended)

    def __repr__(self) -> str:
        a = self._arguments
        return f"<imrec.InputSplit: {a['type']} of {a['uri']}, part {a['part_index']} of {a['num_parts']}>"


def _number(name: str, value: Any) -> int:
    """A whole number that C can take: the library checks its range."""
    number = value.__index__() if hasattr(value, "__index__") else None
    if number is None or not 0 <= number < 2**64:
        raise ArgumentError(f"{name}={value!r}: it must be a whole number from 0")
    return int(number)


def _set(options: Any, name: str, value: Any) -> None:
    try:
        setattr(options, name, _number(name, value))
    except OverflowError:
        raise ArgumentError(f"{name}={value!r} is too large") from None


def _reopened(arguments: dict[str, Any], position: str, ended: bool) -> InputSplit:
    split = InputSplit(**arguments)
    split.restore(position)
    split._ended = ended
    return split
