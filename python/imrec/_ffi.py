"""The C library, and helpers to call it."""
from __future__ import annotations

import os
from typing import Any, Callable, TypeVar

from ._imrec import ffi, lib
from .errors import Error, ForkedError, MissingFileError, by_status

__all__ = ["callback", "check", "error_of_system", "ffi", "lib", "new_error", "raise_error", "same_process", "text",
           "to_dict"]

_F = TypeVar("_F", bound=Callable[..., Any])


def callback(**how: Any) -> Callable[[_F], _F]:
    """Decorates on_NAME: what C calls by the pointer `lib.on_NAME`. `how` is that of cffi's def_extern()."""
    return lambda function: ffi.def_extern("python_" + function.__name__[len("on_"):], **how)(function)


def new_error() -> Any:
    """A struct imrec_error for a call to fill."""
    return ffi.new("struct imrec_error *")


def text(value: Any) -> str:
    """A char pointer or array of C as str; '' for NULL. Names of files may be any bytes."""
    return os.fsdecode(ffi.string(value)) if value else ""


def error_of(status: int, err: Any, **more: Any) -> Error:
    """The exception for a status and the error that a call has filled."""
    offset = int(err.offset)
    message = text(err.message)
    shard = text(err.shard) or None
    more = {"shard": shard, "id": int(err.id) if err.has_id else None, **more}
    kind = by_status(ffi.string(ffi.cast("enum imrec_status", status)), int(err.sys_errno))
    if issubclass(kind, OSError):
        more["filename"] = shard
    return kind(message or kind.__doc__ or "", status=int(status), errno=int(err.sys_errno) or None,
                offset=None if offset == lib.IMREC_NO_OFFSET else offset, **more)


def error_of_system(error: OSError, path: str) -> Error:
    """The exception for an error of Python about the file `path`."""
    kind = by_status("IMREC_ERR_IO", error.errno or 0)
    what = "there is no such file" if kind is MissingFileError else error.strerror or str(error)
    more: dict[str, Any] = {"filename": path} if issubclass(kind, OSError) else {}
    return kind(f"{path}: {what}", status=int(lib.IMREC_ERR_IO), errno=error.errno, shard=path, **more)


def raise_error(status: int, err: Any, **more: Any) -> None:
    raise error_of(status, err, **more)


def check(status: int, err: Any, **more: Any) -> int:
    """The status of a successful call; otherwise raises its error, with further attributes."""
    if status not in (lib.IMREC_OK, lib.IMREC_END):
        raise_error(status, err, **more)
    return status


def to_dict(struct: Any) -> dict[str, Any]:
    """A struct of numbers, flags, words and text as a dict."""
    out: dict[str, Any] = {}
    for name, field in ffi.typeof(struct).fields:
        value, kind = getattr(struct, name), field.type
        if kind.kind == "struct":
            value = to_dict(value)
        elif kind.kind == "array":
            value = text(value) if kind.item.cname == "char" else [
                to_dict(v) if kind.item.kind == "struct" else v for v in value]
        elif kind.kind == "pointer":
            value = text(value) if kind.item.cname == "char" else None
        out[name] = value
    return out


def same_process(pid: int, what: str) -> None:
    """Refuses an object with threads in a forked child: a fork does not copy them."""
    if pid != os.getpid():
        raise ForkedError(f"this {what} was opened in process {pid}, and its threads do not exist in this forked one "
                          f"({os.getpid()}): open another one here, or start workers by spawn")


__version__ = ffi.string(lib.imrec_py_version).decode()
