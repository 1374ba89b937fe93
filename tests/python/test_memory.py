"""allocator=: batches in buffers of the caller."""
import gc
import mmap
import subprocess
import sys
import zlib

import numpy as np
import pytest

import imrec
from imrec import _memory
from tests_support import SHAPE

ROWS = {"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, "shuffle": True, "prefetch_buffer": 2}
BYTES = 8 * int(np.prod(SHAPE)) * 4


class Giver:
    """An allocator that keeps what it gave, to ask who else refers to it (bytearrays have no weak references)."""

    def __init__(self, make=bytearray):
        self.make, self.given, self.fail_at, self.error = make, [], None, lambda: MemoryError("the pool is empty")

    def __call__(self, size):
        if len(self.given) + 1 == self.fail_at:
            raise self.error()
        self.given.append(self.make(size))
        return self.given[-1]

    def held(self):
        """How many have more references than one that nothing uses: how many that is depends on the interpreter."""
        unused, given = ([sys.getrefcount(block) for block in blocks] for blocks in ([bytearray()], self.given))
        return sum(count > unused[0] for count in given)


def none_left():
    gc.collect()
    return not _memory._WITH_BLOCKS


def inside(array, giver):
    first = array.ctypes.data
    for given in giver.given:
        begin = np.frombuffer(given, np.uint8).ctypes.data
        if begin <= first and first + array.nbytes <= begin + len(given):
            return True
    return False


@pytest.mark.parametrize("make", [bytearray, lambda n: mmap.mmap(-1, n), lambda n: np.empty(n, np.uint8)],
                         ids=["bytearray", "mmap", "numpy"])
def test_batches_are_made_in_the_buffers(shard, make):
    giver = Giver(make)
    with imrec.ImageRecordIter(shard, allocator=giver, **ROWS) as ours, imrec.ImageRecordIter(shard, **ROWS) as plain:
        assert len(giver.given) == 3
        for batch, expected in zip(ours, plain):
            assert batch.slots < 8 or inside(batch.data, giver)
            assert np.array_equal(batch.data, expected.data) and np.array_equal(batch.labels, expected.labels)
    del batch
    assert none_left()


def test_a_batch_in_use_keeps_its_buffer_and_others_are_used_again(shard):
    giver = Giver()
    with imrec.ImageRecordIter(shard, allocator=giver, **ROWS) as ours:
        first = next(ours)
        values = first.data.copy()
        for _ in range(5):
            for batch in ours:
                pass
        assert np.array_equal(first.data, values)
        assert len(giver.given) <= 5
    del batch
    gc.collect()
    assert np.array_equal(first.data, values) and giver.held() == 1  # the others are the caller's again
    part = first.data[2]
    del first
    gc.collect()
    assert giver.held() == 1
    del part
    gc.collect()
    assert giver.held() == 0


def test_masks_are_in_buffers_too(shard):
    giver = Giver()
    with imrec.ImageRecordIter(shard, allocator=giver, masks="uint8", on_error="skip", **ROWS) as ours:
        assert len(giver.given) == 6
        assert ours is not None


def test_a_failing_allocator_is_the_error_and_leaves_nothing(shard):
    for n in range(1, 4):
        giver = Giver()
        giver.fail_at, giver.error = n, lambda: KeyError("no room at all")
        with pytest.raises(KeyError, match="no room at all"):
            imrec.ImageRecordIter(shard, allocator=giver, **ROWS)
        assert none_left() and giver.held() == 0
    giver = Giver()
    giver.fail_at = 4
    with imrec.ImageRecordIter(shard, allocator=giver, **ROWS) as ours:
        first = next(ours)
        with pytest.raises(MemoryError, match="the pool is empty"):
            next(ours)
        values = first.data.copy()
        giver.fail_at = None
        second = next(ours)
        assert np.array_equal(first.data, values) and second.number == 1


@pytest.mark.parametrize("make, words", [
    (lambda n: bytes(n), "not writable"), (lambda n: bytearray(n - 1), f"returned {BYTES + 62} bytes"), (lambda n: 7, "bytes-like|buffer"),
    (lambda n: None, "bytes-like|buffer")])
def test_what_is_no_buffer_is_refused(shard, make, words):
    with pytest.raises((imrec.ArgumentError, TypeError, AttributeError), match=words):
        imrec.ImageRecordIter(shard, allocator=make, **ROWS)
    assert none_left()


def test_only_batches_of_an_allocator_have_a_block(shard):
    with imrec.ImageRecordIter(shard, **ROWS) as plain, pytest.raises(ValueError, match="the library's memory"):
        next(plain).block()
    with imrec.ImageRecordIter(shard, allocator=bytearray, copy=True, **ROWS) as copies, pytest.raises(ValueError, match="is a copy"):
        next(copies).block()


def test_another_process_reads_the_batch_where_the_workers_wrote_it(shard, tmp_path):
    names = {}

    def shared(size):
        path = tmp_path / str(len(names))
        with open(path, "w+b") as file:
            file.truncate(size)
            block = mmap.mmap(file.fileno(), size)
        names[id(block)] = path
        return block

    read = ("import mmap, sys, zlib\nbegin, size = map(int, sys.argv[2:])\nwith open(sys.argv[1], 'rb') as file:\n"
            "    print(zlib.crc32(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[begin:begin + size]))")
    with imrec.ImageRecordIter(shard, allocator=shared, **ROWS) as ours:
        batch = next(ours)
        block, begin = batch.block()
        told = subprocess.run([sys.executable, "-c", read, names[id(block)], str(begin), str(batch.data.nbytes)], check=True,
                              capture_output=True, text=True).stdout
        assert int(told) == zlib.crc32(batch.data.tobytes())


# ---- torch -----------------------------------------------------------------------------------------------------------

def ours_in(loader_of, giver, **more):
    return loader_of(allocator=_memory.Blocks(giver, outlives=True), **more)


@pytest.fixture
def loader_of(shard, alone):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import imrec.torch  # noqa: F401

    def open_one(**more):
        return imrec.torch.Loader(shard, **{**ROWS, **more})

    open_one.torch = torch
    return open_one


@pytest.mark.parametrize("more", [{}, {"channels_last": True}, {"dtype": "bfloat16"}, {"dtype": "uint8"}, {"multi_crop": "2x16,3x8"},
                                  {"transform": lambda sample: sample}], ids=lambda more: " ".join(more) or "plain")
def test_tensors_are_parts_of_the_tensors_of_the_allocator(loader_of, more):
    torch = loader_of.torch
    given = []

    def give(size):
        given.append(torch.empty(size, dtype=torch.uint8))
        return given[-1]

    with ours_in(loader_of, give, **more) as ours, loader_of(**more) as plain:
        for (images, labels), (expected, same) in zip(ours, plain):
            assert torch.equal(labels, same)
            views = images if isinstance(images, tuple) else (images,)
            for view, other in zip(views, expected if isinstance(images, tuple) else (expected,)):
                assert torch.equal(view, other)
                if "transform" not in more and len(view) == 8:
                    assert view.untyped_storage().data_ptr() in [tensor.untyped_storage().data_ptr() for tensor in given]


def test_a_tensor_that_outlives_its_batch_is_never_written_again(loader_of):
    torch = loader_of.torch
    with ours_in(loader_of, lambda n: torch.empty(n, dtype=torch.uint8)) as ours:
        kept = []
        for _ in range(3):
            for images, _ in ours:
                ours.batch = None
                kept.append((images, images.clone()))
    assert all(torch.equal(images, values) for images, values in kept)
    assert none_left()


def test_pin_memory_and_an_allocator_exclude_each_other(loader_of, monkeypatch):
    torch = loader_of.torch
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(imrec.ArgumentError, match="allocator of its own"):
        loader_of(pin_memory=True, allocator=bytearray)


def test_workers_write_into_pinned_memory(loader_of):
    torch = loader_of.torch
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA")
    with loader_of(pin_memory=True) as ours, loader_of() as plain:
        for (images, labels), (expected, _) in zip(ours, plain):
            assert images.is_pinned() and labels.is_pinned() and torch.equal(images, expected)
            assert len(images) < 8 or images.data_ptr() == ours.batch.data.ctypes.data
            assert torch.equal(images.to("cuda", non_blocking=True).cpu(), expected)
