"""The errors, one class for each kind. Every message is one sentence with the place and what would be right."""
from __future__ import annotations

import errno as _errno
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._batch import Batch


class Error(Exception):
    """An error in imrec."""

    status: int | None  #: number of enum imrec_status
    errno: int | None  #: of the system, if it failed
    offset: int | None  #: byte of the shard
    shard: str | None  #: its name
    id: int | None  #: of the image
    field: str | None  #: name of the parameter, or the part of a record or call, that is wrong

    def __init__(self, message: str = "", *, status: int | None = None, errno: int | None = None,
                 offset: int | None = None, shard: str | None = None, id: int | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.errno, self.offset, self.shard, self.id, self.field = status, errno, offset, shard, id, field


class ArgumentError(Error, ValueError):
    """A parameter that does not exist, or a value that it cannot have."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory."""


class StorageError(Error):
    """The storage failed; `errno` gives the reason."""


class _OfSystem(StorageError):
    """Also one of Python's file errors: with `errno`, `strerror` and, if known, `filename`."""

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
    """A named file does not exist."""


class AccessError(_OfSystem, PermissionError):
    """This user may not read or write the file."""


class CorruptError(Error):
    """The bytes break the format; `offset` gives the place."""


class UnsupportedError(Error):
    """The data are valid, but this build cannot read them."""


class LimitError(Error):
    """A documented limit would be exceeded."""


class DataError(Error):
    """Samples of a batch failed, or a damaged range was found. `batch` is the batch, with failed slots zeroed and flagged in
    its `status`; the iterator continues with the next one."""

    batch: Batch | None

    def __init__(self, message: str = "", *, batch: Batch | None = None, **more: Any) -> None:
        super().__init__(message, **more)
        self.batch = batch


class TransformError(Error):
    """transform= or collate= of a Loader raised an exception, which is the `__cause__`; `field` is which of the two, `id` and
    `slot` are those of the sample. The Loader continues with the next batch."""

    batch: Batch | None
    slot: int | None

    def __init__(self, message: str = "", *, batch: Batch | None = None, slot: int | None = None, **more: Any) -> None:
        super().__init__(message, **more)
        self.batch, self.slot = batch, slot


class CancelledError(Error):
    """The object was closed, or another thread ended the call during a wait."""


class ForkedError(Error, RuntimeError):
    """An object with threads was used in a forked child, which does not have them."""


_BY_STATUS = {
    "IMREC_ERR_ARGUMENT": ArgumentError, "IMREC_ERR_NO_MEMORY": OutOfMemoryError, "IMREC_ERR_IO": StorageError,
    "IMREC_ERR_CORRUPT": CorruptError, "IMREC_ERR_UNSUPPORTED": UnsupportedError, "IMREC_ERR_LIMIT": LimitError,
    "IMREC_ERR_DATA": DataError, "IMREC_ERR_CANCELLED": CancelledError,
}


_BY_ERRNO = {_errno.ENOENT: MissingFileError, _errno.EACCES: AccessError, _errno.EPERM: AccessError}


def by_status(name: str, errno: int = 0) -> type[Error]:
    kind = _BY_STATUS.get(name, Error)
    return _BY_ERRNO.get(errno, kind) if kind in (StorageError, ArgumentError) else kind
