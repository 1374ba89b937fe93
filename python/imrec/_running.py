"""Runs long calls of C with progress and Ctrl-C; ends what has threads of C."""
from __future__ import annotations

import atexit
import threading
import weakref
from typing import Any, Callable

from ._ffi import callback, ffi, lib

_open: weakref.WeakSet[Any] = weakref.WeakSet()


def close_at_exit(thing: Any) -> None:
    """Its threads must not outlive Python: they may call functions of Python, and use memory that is freed at the end."""
    _open.add(thing)


@atexit.register
def _close_all() -> None:
    for thing in list(_open):
        thing.close()


def discard(thing: Any) -> None:
    """close() for __del__. The collector may run in a thread of C that close() waits for."""
    if lib.imrec_py_in_callback():
        threading.Thread(target=thing.close, name="imrec-close", daemon=True).start()
    else:
        thing.close()


class Watch:
    """Reports the progress of a long call, on request in a bar of tqdm. The call runs in a thread of its own, so that this one
    receives Ctrl-C, asks the call to end, and waits until it has ended."""

    def __init__(self, progress: bool | Callable[[Any], None], unit: str, scale: bool = False) -> None:
        self.cancelled = False
        self.error: BaseException | None = None
        self.expected = 0  # items, if C does not know
        self._call = progress if callable(progress) else None
        self._bar = _bar(unit, scale) if progress is True else None
        self.handle = ffi.new_handle(self)

    def step(self, done: int, total: int, told: Any) -> bool:
        """False: the call must end."""
        try:
            if self._bar is not None:
                if total and self._bar.total != total:
                    self._bar.total = total
                self._bar.update(done - self._bar.n)
            if self._call is not None and self._call(told) is False:
                self.cancelled = True
        except BaseException as error:  # an exception of the user's function ends the call, and is raised there
            self.error = self.error or error
            self.cancelled = True
        return not self.cancelled

    def told(self, p: Any) -> bool:
        """Progress of a packer, as C reports it."""
        total = p.total or self.expected
        return self.step(p.done, total, {"found": p.found, "done": p.done, "total": total, "skipped": p.skipped,
                                         "resumed": p.resumed, "bytes_read": p.bytes})

    def turn(self, ended: threading.Event) -> None:
        """The work of the waiting thread, called again and again for a short time."""
        ended.wait(0.05)

    def run(self, call: Callable[[], int]) -> int:
        """The status of call()."""
        out: list[int] = []
        begun, ended = threading.Event(), threading.Event()  # not join(): if interrupted, it takes a running thread for ended

        def body() -> None:
            begun.set()
            try:
                out.append(call())
            finally:
                ended.set()

        interrupt: BaseException | None = None
        try:
            threading.Thread(target=body, name="imrec-call").start()
        except BaseException as error:  # start() waits: the thread may run nevertheless
            interrupt, self.cancelled = error, True
            if not begun.wait(1):
                raise
        while not ended.is_set():
            try:
                self.turn(ended)
            except BaseException as error:  # KeyboardInterrupt, and exceptions of other handlers
                interrupt, self.cancelled = error, True
        if self._bar is not None:
            self._bar.close()
        if interrupt or self.error:
            raise interrupt or self.error  # type: ignore[misc]
        return out[0]


@callback(onerror=lambda *what: False)
def on_progress(user: Any, p: Any) -> bool:
    watch: Watch = ffi.from_handle(user)
    return watch.told(p)


def interruptible(call: Callable[[], int], abandoned: Callable[[], Any]) -> int:
    """Runs call(), which cannot be ended. Ctrl-C takes effect meanwhile; abandoned() frees what the call makes after it."""
    out: list[int] = []
    lock, ended, gone = threading.Lock(), threading.Event(), threading.Event()

    def body() -> None:
        try:
            status = call()
            with lock:
                out.append(status)
                if gone.is_set():
                    abandoned()
        finally:
            ended.set()

    try:
        threading.Thread(target=body, name="imrec-call", daemon=True).start()
        while not ended.wait(0.05):
            pass
    except BaseException:
        with lock:
            gone.set()
            if out:
                abandoned()
        raise
    return out[0]


def _bar(unit: str, scale: bool) -> Any:
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:  # progress=True without tqdm: nothing is shown
        return None
    return tqdm(unit=unit, unit_scale=scale)
