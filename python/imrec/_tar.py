"""Reads tar archives member by member. Everything is checked before it is trusted, and only requested data are held: a member
of three gigabytes in a header takes only the memory that the file really has."""
from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from typing import IO, Any, Iterator, NamedTuple

from ._ffi import error_of_system
from .errors import ArgumentError, CorruptError, UnsupportedError

_BLOCK = 512
_PIECE = 1 << 20
_EXTENDED_MAX = 1 << 20  # bytes of a long name, or of the records of a PAX header
_PACKED = ((b"\x28\xb5\x2f\xfd", "zstd", "zstd -d"), (b"BZh", "bzip2", "bunzip2"), (b"\xfd7zXZ\0", "xz", "unxz"),
           (b"PK\x03\x04", "zip", "unzip"))
_NO_FILE = {b"1": "a hard link", b"2": "a symbolic link", b"3": "a character device", b"4": "a block device", b"6": "a FIFO",
            b"S": "a sparse file", b"M": "the rest of a file of another volume", b"N": "a list of long names of an old tar"}
_FILE, _FOLDER, _LABEL, _PAX, _GLOBAL, _LONG = (b"0", b"\0", b"7"), (b"5", b"D"), b"V", (b"x", b"X"), b"g", b"L"
_LONG_LINK = b"K"


class Member(NamedTuple):
    """A file of an archive."""

    name: str
    size: int
    offset: int  #: byte at which its header begins


class Tar:
    """An archive (gzip around it is unpacked): `for member in tar`, and read() for the current member. A violation of the format
    is a CorruptError; links, devices and sparse files, which cannot be a sample's file, are an UnsupportedError. Both name
    archive, member and byte."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        self._at = self._left = self._wanted = self._padding = 0
        self._name = self._after = ""  # of the current member; its place, for messages
        self._size: int | None = None
        self._file: IO[bytes] = self._open()

    def _open(self) -> IO[bytes]:
        try:
            status = os.stat(self.path)
            if not stat.S_ISREG(status.st_mode):
                raise ArgumentError(f"{self.path} is not a regular file: an archive must be one")
            file = open(self.path, "rb")
        except OSError as error:
            raise error_of_system(error, self.path) from error
        magic = file.read(8)
        file.seek(0)
        if not magic:
            file.close()
            raise self.damage(0, "the file is empty: it is not an archive")
        for begin, name, program in _PACKED:
            if magic.startswith(begin):
                file.close()
                raise UnsupportedError(f"{self.path} is compressed with {name}: unpack it with {program} first", offset=0,
                                       shard=self.path)
        if magic.startswith(b"\x1f\x8b"):
            return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
        self._size = status.st_size
        return file

    def __enter__(self) -> Tar:
        return self

    def __exit__(self, *what: Any) -> None:
        inner = getattr(self._file, "fileobj", None)
        self._file.close()
        if inner is not None:
            inner.close()

    # ---- bytes --------------------------------------------------------------------------------------------------------

    def damage(self, byte: int, what: str) -> CorruptError:
        return CorruptError(f"{self.path}: byte {byte}: {what}", offset=byte, shard=self.path)

    def _read(self, n: int) -> bytes:
        """n bytes, or fewer at the end of the file; takes no memory for missing bytes."""
        pieces: list[bytes] = []
        while n:
            try:
                piece = self._file.read(min(n, _PIECE))
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self.damage(self._at, f"the gzip around the archive is damaged or cut: {error}") from error
            except OSError as error:
                raise error_of_system(error, self.path) from error
            if not piece:
                break
            pieces.append(piece)
            n -= len(piece)
            self._at += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _skip(self, n: int) -> int:
        """Skips n bytes; returns how many of them exist."""
        if self._size is None:
            began = self._at
            while n and self._read(min(n, _PIECE)):
                n -= min(n, _PIECE)
            return self._at - began
        there = min(n, self._size - self._at)
        self._at += there
        self._file.seek(self._at)
        return there

    def _cut(self, what: str) -> CorruptError:
        return self.damage(self._at, f"the archive is cut {what}")

    # ---- members ------------------------------------------------------------------------------------------------------

    def read(self) -> bytes:
        """The bytes of the current member."""
        wanted = self._left
        if self._size is not None and wanted > self._size - self._at:
            self._pass()  # raises the error: the file does not have them
        data = self._read(wanted)
        if len(data) != wanted:
            raise self._cut(f"inside {self._name!r}, of {self._wanted} bytes")
        self._left = 0
        return data

    def _pass(self) -> None:
        """Goes to the block after the current member."""
        if self._skip(self._left) != self._left or self._skip(self._padding) != self._padding:
            raise self._cut(f"inside {self._name!r}, of {self._wanted} bytes")
        self._left = self._padding = 0

    def _hold(self, name: str, size: int) -> None:
        self._name, self._left, self._wanted, self._padding = name, size, size, -size % _BLOCK

    def _extended(self, what: str, offset: int, size: int) -> bytes:
        """The bytes of a header after a header."""
        if size > _EXTENDED_MAX:
            raise self.damage(offset, f"{what} of {size} bytes: at most {_EXTENDED_MAX} are read")
        self._hold(what, size)
        data = self.read()
        self._pass()
        return data

    def __iter__(self) -> Iterator[Member]:
        always: dict[str, bytes] = {}
        pax: dict[str, bytes] = {}
        name: bytes | None = None
        while True:
            self._pass()
            offset = self._at
            block = self._read(_BLOCK)
            if len(block) < _BLOCK:
                raise self._cut(("in a header" if block else "before a member or the two blocks of zeros at its end")
                                + self._after)
            if not any(block):
                if pax or name is not None:
                    raise self.damage(offset, "the archive ends before the member of a long name")
                self._end(offset)
                return
            kind, size, own = self._header(block, offset)
            if kind in _PAX:
                pax = self._records(self._extended("a PAX header", offset, size), offset)
            elif kind == _GLOBAL:
                always.update(self._records(self._extended("a global PAX header", offset, size), offset))
            elif kind == _LONG:
                name = self._extended("a long name", offset, size).partition(b"\0")[0]
            elif kind == _LONG_LINK:
                self._extended("the long name of a link", offset, size)
            else:
                facts = {**always, **pax}
                member = self._member(kind, size, name if name is not None else facts.get("path", own), facts, offset)
                pax, name = {}, None
                if member is not None:
                    yield member

    def _header(self, block: bytes, offset: int) -> tuple[bytes, int, bytes]:
        """(kind, size, name) of a header whose checksum is right."""
        stated = _number(block[148:156])
        blank = block[:148] + b" " * 8 + block[156:]
        total = sum(blank)
        if stated != total and (stated is None or stated != total - 256 * sum(byte > 127 for byte in blank)):  # the sum of old programs
            raise self.damage(offset, "no tar header here: its checksum is "
                              + (f"{stated}, its bytes give {total}" if stated is not None else f"not a number: {block[148:156]!r}")
                              + self._after)
        kind, size = block[156:157], _number(block[124:136])
        if size is None:
            raise self.damage(offset, f"the size of a member is {block[124:136]!r}, which is not a number of 0 or more")
        name = block[:100].partition(b"\0")[0]
        prefix = block[345:500].partition(b"\0")[0] if block[257:263] == b"ustar\0" else b""
        return kind, size, prefix + b"/" + name if prefix else name

    def _member(self, kind: bytes, size: int, raw: bytes, facts: dict[str, bytes], offset: int) -> Member | None:
        """The file of a header; None: a folder, or a label of the archive."""
        name = raw.decode("utf-8", "surrogateescape")
        if "size" in facts:
            if not re.fullmatch(rb"\d{1,19}", facts["size"]):
                raise self.damage(offset, f"the PAX header of {name!r} says size {facts['size']!r}")
            size = int(facts["size"])
        what = _NO_FILE.get(kind) if not any(key.startswith("GNU.sparse") for key in facts) else "a sparse file"
        if what is None and kind not in (*_FILE, *_FOLDER, _LABEL):
            what = f"of the unknown kind {kind!r}"
        if what is not None:
            raise UnsupportedError(f"{self.path}: byte {offset}: member {name!r} is {what}, and its bytes are not in the archive "
                                   "like those of a file: pack the files themselves (tar --hard-dereference --dereference, no --sparse)",
                                   offset=offset, shard=self.path)
        self._hold(name, size)
        self._after = f", after member {name!r}"
        if kind not in _FILE or (kind == b"\0" and name.endswith("/")):
            return None
        return Member(name[2:] if name.startswith("./") else name, size, offset)

    def _records(self, data: bytes, offset: int) -> dict[str, bytes]:
        """"LENGTH KEY=VALUE<newline>" of a PAX header; an empty value removes a key."""
        out, at = {}, 0
        while at < len(data):
            head = re.compile(rb"(\d{1,10}) ([^=\n]+)=").match(data, at)
            end = at + int(head[1]) if head else 0
            if head is None or end < head.end() + 1 or end > len(data) or data[end - 1:end] != b"\n":
                raise self.damage(offset, f"the PAX header is malformed at its byte {at}")
            value = data[head.end():end - 1]
            if b"\0" in value and head[2] == b"path":
                raise self.damage(offset, "the PAX header has a path with a zero byte")
            out[head[2].decode("utf-8", "surrogateescape")] = value
            at = end
        return {key: value for key, value in out.items() if value}

    def _end(self, offset: int) -> None:
        """Checks that after a block of zeros there is another one, and nothing else."""
        second = self._read(_BLOCK)
        if len(second) < _BLOCK:
            raise self._cut("between the two blocks of zeros that end it")
        if any(second):
            raise self.damage(offset, "a single block of zeros instead of a header or the archive's end")
        while piece := self._read(_PIECE):
            if any(piece):
                byte = self._at - len(piece.lstrip(b"\0"))
                raise self.damage(byte, "bytes after the end of the archive: give joined archives one by one")


def _number(field: bytes) -> int | None:
    """Octal digits, or GNU's binary number; None: something else, or negative."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = re.fullmatch(rb"[ \0]*([0-7]*)[ \0]*", field)
    return int(digits[1] or b"0", 8) if digits else None
