"""Stores of one's own: Python objects that serve the URIs of a scheme, for reading."""
from __future__ import annotations

import errno
import os
from typing import Any, Callable, Iterable, Protocol

from ._ffi import callback, check, ffi, lib, new_error, text
from .errors import ArgumentError, Error


class StoredObject(Protocol):
    """An open object of a Store. It may also have `close()`, which is called once after its last read, and `modified`, an int,
    when it was changed last, in nanoseconds since 1970."""

    @property
    def size(self) -> int:
        """Bytes. What the object contains stays the same until close()."""

    def read_at(self, offset: int, n: int) -> Any:
        """Exactly n bytes from `offset` on, as bytes or any other buffer. They are within the size."""


class Store(Protocol):
    """What register_store() takes. It may also have `list(folder)`, which gives the names of all that a folder holds, each
    once, without the folder's own name; that of a folder ends with "/". The folder "" is the whole store."""

    def open(self, name: str) -> StoredObject:
        """The object `name`: the URI without "scheme://". FileNotFoundError says that there is none."""


_STATUS = ((MemoryError, "IMREC_ERR_NO_MEMORY"), (NotImplementedError, "IMREC_ERR_UNSUPPORTED"),
           (KeyboardInterrupt, "IMREC_ERR_CANCELLED"))


class _Registered:
    """A registration: what C's calls need."""

    def __init__(self, store: Any) -> None:
        self.store, self.handle = store, ffi.new_handle(self)
        self.open: dict[Any, Any] = {}  # by handle; both must live until it is closed

    def guarded(self, err: Any, call: Callable[[], int | None]) -> int:
        """Runs one call. An exception becomes the error of the call, and never passes through it."""
        try:
            return int(call() or lib.IMREC_OK)
        except BaseException as error:
            return _tell(err, error)


def _tell(err: Any, error: BaseException) -> int:
    said = " ".join(f"{type(error).__name__}: {error}".split()).encode("utf-8", "backslashreplace")
    said = said[:len(err.message) - 1].decode("utf-8", "ignore").encode()
    ffi.memmove(err.message, said + b"\0", len(said) + 1)
    code = error.errno if isinstance(error, (OSError, Error)) else None
    err.sys_errno = code if isinstance(code, int) else errno.ENOENT if isinstance(error, FileNotFoundError) else 0
    if isinstance(error, Error) and error.status:
        return error.status
    return int(getattr(lib, next((name for kind, name in _STATUS if isinstance(error, kind)), "IMREC_ERR_IO")))


def _whole(value: Any, what: str) -> int:
    number = value.__index__() if hasattr(value, "__index__") else None
    if number is None or not 0 <= number < 2**63:
        raise ValueError(f"{what} is {value!r}; it must be a number of at least 0")
    return int(number)


@callback(error=lib.IMREC_ERR_IO)
def on_store_open(user: Any, name: Any, out: Any, size: Any, modified: Any, err: Any) -> int:
    r: _Registered = ffi.from_handle(user)

    def call() -> None:
        opened = r.store.open(text(name))
        size[0] = _whole(opened.size, "size")
        modified[0] = _whole(getattr(opened, "modified", 0) or 0, "modified")
        out[0] = handle = ffi.new_handle(opened)
        r.open[handle] = opened

    return r.guarded(err, call)


@callback(error=lib.IMREC_ERR_IO)
def on_store_read_at(user: Any, opened: Any, offset: int, to: Any, n: int, err: Any) -> int:
    r: _Registered = ffi.from_handle(user)

    def call() -> None:
        data = memoryview(ffi.from_handle(opened).read_at(offset, n))
        if data.nbytes != n:
            raise ValueError(f"read_at({offset}, {n}) gave {data.nbytes} bytes")
        ffi.memmove(to, data, n)

    return r.guarded(err, call)


@callback()
def on_store_close(user: Any, opened: Any) -> None:
    r: _Registered = ffi.from_handle(user)
    closed = r.open.pop(opened)
    r.guarded(new_error(), getattr(closed, "close", lambda: None))


@callback(error=lib.IMREC_ERR_IO)
def on_store_list(user: Any, folder: Any, entry: Any, to: Any, err: Any) -> int:
    r: _Registered = ffi.from_handle(user)

    def call() -> int:
        for given in r.store.list(text(folder)):
            name = os.fsencode(given)
            if b"\0" in name:
                raise ValueError(f"lists the entry {given!r}, which has a zero byte in it")
            status = entry(to, name[:-1] if name.endswith(b"/") else name, name.endswith(b"/"), err)
            if status != lib.IMREC_OK:
                return int(status)
        return int(lib.IMREC_OK)

    return r.guarded(err, call)


_registered: dict[str, _Registered] = {}


def register_store(scheme: str, store: Store) -> None:
    """Serves URIs "SCHEME://NAME" from a Python object, for reading, everywhere in this process that takes a URI.

        imrec.register_store("lab", MyStore())
        imrec.ImageRecordIter("lab://sets/train/", ...)

    store: an object with open(name), and list(folder) if it has folders: see imrec.Store. FsspecStore makes one of any file
    system of fsspec. A scheme has up to 31 letters, digits, + and -; at most 64 are registered at a time.

    Threads of the library call it, several at once, each with the GIL. An exception that it raises becomes an error that names
    the URI, the exception's type and its text: FileNotFoundError a MissingFileError, another OSError a StorageError with its
    errno, MemoryError an OutOfMemoryError, NotImplementedError an UnsupportedError, an imrec.Error one of its own kind, and
    all others a StorageError. It must not call unregister_store().

    The registration keeps the store alive, and holds for this process: a forked child has a copy of it, a spawned one and the
    programs im2rec and imrec do not know it.

    Raises ArgumentError for a scheme that is imrec's own, registered already or no scheme, and for an object without open()."""
    if not callable(getattr(store, "open", None)):
        raise ArgumentError(f"store={store!r}: it must have a method open(name)")
    r, calls, err = _Registered(store), ffi.new("struct imrec_store *"), new_error()
    calls.struct_size = ffi.sizeof("struct imrec_store")
    calls.open, calls.read_at, calls.close = lib.on_store_open, lib.on_store_read_at, lib.on_store_close
    if callable(getattr(store, "list", None)):
        calls.list = lib.on_store_list
    check(lib.imrec_store_register(_encoded(scheme), calls, r.handle, err), err)
    _registered[scheme.lower()] = r


def unregister_store(scheme: str) -> None:
    """Ends a registration. Raises ArgumentError, with errno EBUSY, while objects of the store are open or calls run in it:
    close iterators, sources and splits first; and for a scheme that is not registered."""
    err = new_error()
    check(lib.imrec_store_unregister(_encoded(scheme), err), err)
    _registered.pop(scheme.lower(), None)


def _encoded(scheme: Any) -> bytes:
    if not isinstance(scheme, str) or "\0" in scheme:
        raise ArgumentError(f"scheme={scheme!r}: it must be a word, such as 'lab' for lab://")
    return scheme.encode("utf-8", "surrogateescape")


class _FsspecObject:
    def __init__(self, fs: Any, path: str, size: int) -> None:
        self._fs, self._path, self.size = fs, path, size

    def read_at(self, offset: int, n: int) -> Any:
        return self._fs.cat_file(self._path, start=offset, end=offset + n)


class FsspecStore:
    """A file system of fsspec for register_store().

        imrec.register_store("drive", imrec.FsspecStore(fsspec.filesystem("gdrive", ...), "datasets"))
        imrec.open("drive://train.rec")  # datasets/train.rec

    fs: a file system that several threads may use at once; in a forked child fsspec's asynchronous ones cannot be used. root:
    the folder in which names begin. Each read is a call of fs.cat_file(). Objects are not pinned: one that is replaced by
    another of the same size while it is read is not noticed. imrec's own http://, https://, s3://, gs:// and az:// notice it."""

    def __init__(self, fs: Any, root: str = "") -> None:
        self._fs, self._root = fs, root.rstrip("/")
        self._prefix = root if not root or root.endswith("/") else root + "/"

    def open(self, name: str) -> StoredObject:
        path = self._prefix + name
        self._fs.invalidate_cache(path)
        found = self._fs.info(path)
        if found["type"] != "file":
            raise FileNotFoundError(errno.ENOENT, f"a {found['type']}, no file", path)
        return _FsspecObject(self._fs, path, found["size"])

    def list(self, folder: str) -> Iterable[str]:
        path = self._prefix + folder if folder else self._root
        self._fs.invalidate_cache(path)
        own = self._fs._strip_protocol(path).strip("/")
        for entry in self._fs.ls(path, detail=True):
            name = entry["name"].rstrip("/")
            if name.strip("/") != own:  # some list a file, or the mark of a folder, as what is in it
                yield name.rsplit("/", 1)[-1] + ("/" if entry["type"] == "directory" else "")
