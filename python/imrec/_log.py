"""Passes the library's messages to Python's logger `imrec`: warnings, and traces if INFO is enabled."""
from __future__ import annotations

import atexit
import logging
import os
from typing import Any

from ._ffi import callback, ffi, lib, text

logger = logging.getLogger("imrec")


@callback()
def on_log(user: Any, level: int, line: Any) -> None:
    logger.log(logging.INFO if level == lib.IMREC_LOG_TRACE else logging.WARNING, "%s", text(line))


def listen() -> None:
    """Called again at each opening, because the level of the logger may have changed."""
    level = lib.IMREC_LOG_TRACE if logger.isEnabledFor(logging.INFO) else lib.IMREC_LOG_WARNING
    lib.imrec_set_log(lib.on_log, ffi.NULL, level)


def deafen() -> None:
    lib.imrec_set_log(ffi.NULL, ffi.NULL, lib.IMREC_LOG_WARNING)


listen()
atexit.register(deafen)
os.register_at_fork(before=deafen, after_in_parent=listen, after_in_child=listen)  # so that no thread is in the callback meanwhile
