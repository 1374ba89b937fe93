"""Batches in memory of the caller: what an iterator's allocator= gives."""
from __future__ import annotations

import bisect
from typing import Any, Callable

import numpy as np

from ._ffi import callback, ffi, lib
from .errors import ArgumentError

_ALIGN = int(lib.IMREC_MEMORY_ALIGN)
_WITH_BLOCKS: set[Blocks] = set()  # C calls them until the last block is freed


def _region(given: Any, wanted: int) -> int:
    """The address of a writable buffer: of torch's tensors, which are none, that of their data."""
    if hasattr(given, "data_ptr") and hasattr(given, "nbytes"):
        size, address = int(given.nbytes), int(given.data_ptr())
        if not given.is_contiguous():
            raise ArgumentError("the tensor of allocator() is not contiguous: give one that torch.empty() made")
    else:
        view = np.frombuffer(given, np.uint8)  # an exporter of a buffer, for as long as the array lives
        if not view.flags.writeable:
            raise ArgumentError(f"what allocator() returned, {type(given).__name__}, is not writable")
        size, address = view.nbytes, int(view.__array_interface__["data"][0])
    if size < wanted:
        raise ArgumentError(f"allocator({wanted}) returned {size} bytes: it must return at least {wanted}")
    return address


class Blocks:
    """The blocks that an allocator gave and C has not freed."""

    #: outlives: something may still read a block when its batch is gone, such as a copy to a GPU: no block is used twice
    def __init__(self, allocator: Callable[[int], Any], outlives: bool = False) -> None:
        self.allocator, self.handle = allocator, ffi.new_handle(self)
        self.outlives = outlives
        self.error: BaseException | None = None  # of the allocator's last call
        self._given: dict[int, tuple[Any, int, int]] = {}  # begin for C: object, its address, bytes for C
        self.struct = c = ffi.new("struct imrec_memory *")
        c.struct_size, c.user, c.free_released = ffi.sizeof("struct imrec_memory"), self.handle, outlives
        c.alloc, c.free = lib.on_memory_alloc, lib.on_memory_free

    def alloc(self, size: int) -> int:
        wanted = size + _ALIGN - 1  # few give what is aligned enough
        given = self.allocator(wanted)
        address = _region(given, wanted)
        begin = -(-address // _ALIGN) * _ALIGN
        _WITH_BLOCKS.add(self)
        self._given[begin] = given, address, size
        return begin

    def free(self, begin: int) -> None:
        given = self._given.pop(begin)
        if not self._given:
            _WITH_BLOCKS.discard(self)
        del given  # only now: its end may release other batches

    def find(self, address: int) -> tuple[Any, int] | None:
        """What the allocator gave for the block that the address is in, and the offset in it; None: it is in no block."""
        begins = sorted(self._given)
        begin = begins[max(bisect.bisect_right(begins, address) - 1, 0)] if begins else 0
        given, given_at, size = self._given.get(begin, (None, 0, 0))
        return (given, address - given_at) if begin <= address < begin + size else None

    def raise_error(self) -> None:
        """What the allocator has raised, instead of C's words for it."""
        error, self.error = self.error, None
        if error is not None:
            raise error


@callback(error=ffi.NULL)
def on_memory_alloc(user: Any, size: int, use: int) -> Any:
    blocks: Blocks = ffi.from_handle(user)
    try:
        return ffi.cast("void *", blocks.alloc(size))
    except BaseException as error:  # it goes through C as NULL, and is raised by the caller
        blocks.error = error
        return ffi.NULL


@callback()
def on_memory_free(user: Any, block: Any, size: int, use: int) -> None:
    blocks: Blocks = ffi.from_handle(user)
    blocks.free(int(ffi.cast("uintptr_t", block)))
