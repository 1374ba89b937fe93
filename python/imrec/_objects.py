"""Objects of imrec's stores as files that pyarrow reads: the stores, credentials, retries and cache of every other URI."""
from __future__ import annotations

import os
import threading
from typing import Any, Mapping

import numpy as np

from . import _tables
from ._ffi import check, ffi, lib, new_error, text
from ._options import assign
from .errors import CancelledError, StorageError


class _File:
    """An open object, as Python's files are."""

    def __init__(self, objects: Objects, uri: str, opened: Any) -> None:
        self._objects, self._uri, self._object, self._at = objects, uri, opened, 0
        self.size = int(lib.imrec_object_size(opened))
        self.version = self.size, text(lib.imrec_object_identity(opened))

    @property
    def closed(self) -> bool:
        return self._object is None

    def read(self, n: int | None = -1) -> Any:
        left = max(0, self.size - self._at)
        out = np.empty(left if n is None or n < 0 else min(n, left), np.uint8)
        err = new_error()
        check(lib.imrec_object_read(self._object, self._at, ffi.from_buffer(out), len(out), err), err, shard=self._uri)
        self._at += len(out)
        return out.data

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self.size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        with self._objects.lock:
            self._objects.opened.discard(self)
            opened, self._object = self._object, None
        if opened is not None:
            lib.imrec_object_close(opened)

    def cancel(self) -> None:
        lib.imrec_object_cancel(self._object)


class Objects:
    """Opens objects, in the cache that an iterator's parameters name. Each stays the version that was opened first."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.lock = threading.Lock()
        self.opened: set[_File] = set()
        self._cancelled = False
        self._versions: dict[str, tuple[int, str]] = {}
        given = {name: parameters[name] for name in ("cache", "cache_size") if parameters.get(name) is not None}
        iterator = ffi.new("struct imrec_iter_options *")
        lib.imrec_iter_options_init(iterator)
        self._texts = assign(lib.imrec_iter_options_set, iterator, _tables.ITER, given)
        self._options = ffi.new("struct imrec_object_options *")
        lib.imrec_object_options_init_sized(self._options, ffi.sizeof("struct imrec_object_options"))
        self._options.cache, self._options.cache_size = iterator.cache, iterator.cache_size

    def find(self, pattern: str) -> list[str]:
        found, err = ffi.new("struct imrec_uris *"), new_error()
        check(lib.imrec_objects_find(os.fsencode(pattern), b".parquet", found, err), err)
        uris = [text(found.uri[i]) for i in range(found.count)]
        lib.imrec_uris_free(found)
        return uris

    def open(self, uri: str) -> _File:
        out, err = ffi.new("struct imrec_object **"), new_error()
        check(lib.imrec_object_open(os.fsencode(uri), self._options, out, err), err)
        file = _File(self, uri, out[0])
        with self.lock:
            self.opened.add(file)
            cancelled = self._cancelled
        was = self._versions.setdefault(uri, file.version)
        if cancelled or was != file.version:
            file.close()
            if cancelled:
                raise CancelledError("the iterator was closed", status=int(lib.IMREC_ERR_CANCELLED))
            raise StorageError(f"{uri}: it has become another version: {file.version[0]} bytes {file.version[1]}, and {was[0]} bytes "
                               f"{was[1]} when it was opened", status=int(lib.IMREC_ERR_IO))
        return file

    def cancel(self) -> None:
        """Reads end soon; nothing is opened any more."""
        with self.lock:
            self._cancelled = True
            for file in self.opened:
                file.cancel()
