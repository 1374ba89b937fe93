"""What can go wrong, a class each. Every message is one sentence that says where and what would be right."""
from __future__ import annotations

import errno as _errno
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._batch import Batch


class Error(Exception):
    """Something went wrong in imrec."""

    status: int | None  #: number of enum imrec_status
    errno: int | None  #: of the system, where it refused
    offset: int | None  #: byte of the shard
    shard: str | None  #: its name
    id: int | None  #: of the image

    def __init__(self, message: str = "", *, status: int | None = None, errno: int | None = None,
                 offset: int | None = None, shard: str | None = None, id: int | None = None) -> None:
        super().__init__(message)
        self.status, self.errno, self.offset, self.shard, self.id = status, errno, offset, shard, id


class ArgumentError(Error, ValueError):
    """A parameter that does not exist, or a value that it cannot have."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for it."""


class StorageError(Error):
    """Storage refused; `errno` says why."""


class _OfSystem(StorageError):
    """Also one of Python's own errors of files: with `errno`, `strerror` and, where it is known, `filename`."""

    filename: str | None
    strerror: str | None

    def __init__(self, message: str = "", *, filename: str | None = None, **more: Any) -> None:
        super().__init__(message, **more)
        self.filename, self.strerror = filename, os.strerror(self.errno) if self.errno else None

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> Any:
        return type(self), self.args, {**self.__dict__, "errno": self.errno, "filename": self.filename,
                                       "strerror": self.strerror}


class MissingFileError(_OfSystem, FileNotFoundError):
    """A file that was named does not exist."""


class AccessError(_OfSystem, PermissionError):
    """This user may not read or write it."""


class CorruptError(Error):
    """The bytes break the format; `offset` says where."""


class UnsupportedError(Error):
    """It is valid, but this build cannot read it."""


class LimitError(Error):
    """A documented limit would be exceeded."""


class DataError(Error):
    """Samples of a batch failed, or a damaged range was met. `batch` is the batch, failed slots zeroed and flagged in
    its `status`; the iterator goes on with the next one."""

    batch: Batch | None

    def __init__(self, message: str = "", *, batch: Batch | None = None, **more: Any) -> None:
        super().__init__(message, **more)
        self.batch = batch


class CancelledError(Error):
    """It was closed, or ended by another thread, while this call waited."""


class ForkedError(Error, RuntimeError):
    """What has threads was used in a forked child, which has none of them."""


_BY_STATUS = {
    "IMREC_ERR_ARGUMENT": ArgumentError, "IMREC_ERR_NO_MEMORY": OutOfMemoryError, "IMREC_ERR_IO": StorageError,
    "IMREC_ERR_CORRUPT": CorruptError, "IMREC_ERR_UNSUPPORTED": UnsupportedError, "IMREC_ERR_LIMIT": LimitError,
    "IMREC_ERR_DATA": DataError, "IMREC_ERR_CANCELLED": CancelledError,
}


_BY_ERRNO = {_errno.ENOENT: MissingFileError, _errno.EACCES: AccessError, _errno.EPERM: AccessError}


def by_status(name: str, errno: int = 0) -> type[Error]:
    kind = _BY_STATUS.get(name, Error)
    return _BY_ERRNO.get(errno, kind) if kind in (StorageError, ArgumentError) else kind
