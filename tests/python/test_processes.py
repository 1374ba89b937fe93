"""Forks, spawns, threads, signals, exits; nothing leaks."""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, write_shard
from imrec._ffi import lib
from imrec._running import interruptible
from tests_support import open_iter


def use_parents(it, out):
    try:
        next(it)
    except imrec.ForkedError as error:
        out.put(str(error))
    it.close()  # harmless
    del it


def open_own(path, out):
    with open_iter(path, shuffle=True) as it:
        out.put([b.ids[b.valid].tolist() for b in it])


def test_a_forked_child_is_refused_by_name_and_its_parent_goes_on(shard):
    context = multiprocessing.get_context("fork")
    with open_iter(shard) as it:
        held, out = next(it), context.Queue()
        child = context.Process(target=use_parents, args=(it, out))
        child.start()
        assert f"ImageRecordIter was opened in process {os.getpid()}" in out.get(timeout=60)
        child.join(60)
        assert child.exitcode == 0
        assert next(it).ids[0] == 1008 and held.data.any()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_open_their_own_while_the_parent_reads(shard, method):
    context = multiprocessing.get_context(method)
    with open_iter(shard, shuffle=True) as it:
        expected = [b.ids[b.valid].tolist() for b in it]
        out = context.Queue()
        children = [context.Process(target=open_own, args=(shard, out)) for _ in range(2)]
        for child in children:
            child.start()
        got = [out.get(timeout=120) for _ in children]
        for child in children:
            child.join(60)
            assert child.exitcode == 0
    assert got == [expected] * 2


def test_threads_share_an_iterator_and_every_batch_comes_once(shard):
    seen, lock = [], threading.Lock()

    def work():
        for batch in it:
            with lock:
                seen.extend(batch.ids[batch.valid].tolist())

    with open_iter(shard, batch_size=1, epoch_size="FULL_DATA_SWEEP", copy=True) as it:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(seen) == list(range(1000, 1037))


def test_batches_may_be_dropped_by_any_thread(shard):
    def drop(batches):
        while batches:
            batches.pop()

    with open_iter(shard, last_batch="wrap") as it:
        for _ in range(10):
            thread = threading.Thread(target=drop, args=([next(it) for _ in range(10)],))
            thread.start()
        thread.join()


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_batches_leak_nothing(shard):
    with open_iter(shard, data_shape=(3, 64, 64), batch_size=32, last_batch="wrap", resize=64, record_draws=True) as it:
        for k in range(1100):
            batch = next(it)
            batch.data[0, 0, 0, 0], kept = 1, np.from_dlpack(batch)[1:]
            if k == 100:
                gc.collect()
                before, memory = resident(), it.stats()["memory_bytes"]
        gc.collect()
        assert it.stats()["memory_bytes"] == memory
        # A batch has 1.5 MB: 1,000 are 1.5 GB. AddressSanitizer holds back what was freed, up to 256 MB.
        assert resident() - before < (400 << 20 if "asan" in os.environ.get("LD_PRELOAD", "") else 8 << 20)


def test_iterators_leave_no_threads(shard):
    def threads():
        return len(os.listdir("/proc/self/task"))

    open_iter(shard).close()
    before = threads()
    for _ in range(20):
        next(open_iter(shard))  # closed by who collects it
    gc.collect()
    assert threads() <= before + 2


INTERRUPTED = """
import os, signal, sys, threading, time
import imrec
it = imrec.ImageRecordIter(sys.argv[1], data_shape=(3, 8, 8), batch_size=4, last_batch="wrap")
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        next(it)
except KeyboardInterrupt:
    batch = next(it)
    print("interrupted", batch.data.shape)
"""
LEFT_OPEN = """
import sys, imrec
its = [imrec.ImageRecordIter(sys.argv[1], data_shape=(3, 64, 64), batch_size=4, last_batch="wrap") for _ in range(3)]
batches = [next(it) for it in its]
its[0].cycle = its[0]
print("left")
"""
INTERRUPTED_ITEMS = """
import os, signal, sys
import imrec
def items():
    image = open(sys.argv[2], "rb").read()
    for i in range(10**9):
        if i == 50:
            signal.raise_signal(signal.SIGINT)
        yield image, 0
try:
    imrec.pack(items(), sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", os.listdir(os.path.dirname(sys.argv[1])))
"""


def run(code, *arguments):
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_an_interrupt_is_a_keyboard_interrupt_and_the_iterator_goes_on(shard):
    done = run(INTERRUPTED, shard)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted (4, 3, 8, 8)\n", "")


def test_a_program_may_end_with_iterators_open(shard):
    done = run(LEFT_OPEN, shard)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


def test_packing_is_interrupted_and_leaves_nothing(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "a.jpg").write_bytes(jpeg(make_image(1)))
    done = run(INTERRUPTED_ITEMS, tmp_path / "out" / "x.rec", tmp_path / "in" / "a.jpg")
    assert (done.returncode, done.stdout) == (0, "interrupted []\n"), done.stderr


def test_verify_hears_an_interrupt(tmp_path):
    path = write_shard(tmp_path / "a.rec", [(i, i, jpeg(make_image(i))) for i in range(3)])

    def progress(told):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)

    with pytest.raises(KeyboardInterrupt):
        imrec.verify(path, progress=progress)


def test_closing_ends_another_threads_wait(shard):
    it, ended = open_iter(shard, last_batch="wrap"), []

    def read():
        try:
            while True:
                next(it)
        except imrec.CancelledError as error:
            ended.append(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    time.sleep(0.05)
    it.close()
    thread.join(60)
    assert len(ended) == 1 and "closed" in ended[0]


def test_a_call_that_cannot_be_told_to_end_is_left_and_cleaned_up():
    go, freed = threading.Event(), threading.Event()

    def call():
        os.kill(os.getpid(), signal.SIGINT)
        go.wait(60)
        return 0

    with pytest.raises(KeyboardInterrupt):
        interruptible(call, freed.set)
    assert not freed.is_set()
    go.set()
    assert freed.wait(60)
    assert interruptible(lambda: 7, freed.set) == 7


class Slow:
    """The library, whose seeking takes two seconds."""

    def __getattr__(self, name):
        return getattr(lib, name)

    def imrec_iter_seek(self, *arguments):
        time.sleep(2)
        return lib.imrec_iter_seek(*arguments)


def test_going_to_a_place_that_takes_long_hears_an_interrupt(shard, monkeypatch):
    with open_iter(shard) as it:
        batch, state = next(it), it.state_dict()
        monkeypatch.setattr("imrec._iterator.lib", Slow())
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            it.load_state_dict(state)
        assert time.monotonic() - begin < 1.5 and batch.data.any()
        with pytest.raises(imrec.CancelledError, match="closed"):
            next(it)
    time.sleep(2)  # the call ends, and frees all


def test_opening_that_reads_all_the_data_gives_the_same(shard, tmp_path):
    with open_iter(shard, mean_img=tmp_path / "mean.bin", equal_batches=True) as it, \
            open_iter(shard, mean_img=tmp_path / "mean.bin") as twin:
        assert (next(it).data == next(twin).data).all() and (tmp_path / "mean.bin").exists()
    with pytest.raises(imrec.ArgumentError):
        open_iter(shard, equal_batches=True, batch_size=0)
