"""Stores of Python objects: what reads them, what fails in them, how long they live."""
import errno
import gc
import multiprocessing
import subprocess
import sys
import threading
import time

import pytest

import imrec
from conftest import jpeg, make_image
from imrec._store import _registered
from tests_support import open_iter


class Held:
    """An object of a Shelf."""

    def __init__(self, shelf, name):
        self.shelf, self.name, self.size = shelf, name, len(shelf.objects[name])

    def read_at(self, offset, n):
        self.shelf.happen("read_at")
        self.shelf.readers.add(threading.get_ident())
        data = self.shelf.objects[self.name] + b"more"
        return memoryview(data)[offset:offset + n + self.shelf.extra]

    def close(self):
        self.shelf.closed += 1


class Shelf:
    """A store in memory, which can be told to fail."""

    held = Held

    def __init__(self, objects):
        self.objects, self.raising, self.extra, self.opened, self.closed, self.readers = objects, {}, 0, 0, 0, set()

    def happen(self, what):
        if what in self.raising:
            raise self.raising[what]

    def open(self, name):
        self.happen("open")
        if name not in self.objects:
            raise FileNotFoundError(name)
        self.opened += 1
        return self.held(self, name)

    def list(self, folder):
        self.happen("list")
        inside = [name[len(folder) + 1:] for name in self.objects if name.startswith(folder + "/")]
        return sorted({name.split("/")[0] + "/" * ("/" in name) for name in inside})


@pytest.fixture
def shelf(shard):
    """Two shards with indexes, and a list, as lab://."""
    objects = {}
    for name in ("set/a", "set/b"):
        for end in (".rec", ".idx"):
            with open(shard[:-4] + end, "rb") as file:
                objects[name + end] = file.read()
    objects["lists/all.lst"] = b"one\ntwo\nthree\n"
    store = Shelf(objects)
    imrec.register_store("lab", store)
    yield store
    gc.collect()
    assert not _registered["lab"].open
    imrec.unregister_store("lab")
    assert store.opened == store.closed


def ids(path, **more):
    with open_iter(path, epoch_size="FULL_DATA_SWEEP", **more) as it:
        return [batch.ids.tolist() for batch in it]


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_store_gives_the_batches_of_the_same_files(shelf, tmp_path, shuffle):
    for name, data in shelf.objects.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    for end in ("set/", "set/*.rec", "set/b.rec"):
        assert ids(f"lab://{end}", shuffle=shuffle) == ids(tmp_path / end, shuffle=shuffle)
    assert list(imrec.InputSplit("lab://lists/")) == [b"one", b"two", b"three"]
    assert [r.id for r in imrec.open("LAB://set/a.rec")] == list(range(1000, 1037))
    assert imrec.verify("lab://set/")["records"] == 74
    assert threading.get_ident() not in shelf.readers or len(shelf.readers) > 1


@pytest.mark.parametrize("raised, kind, code", [
    (PermissionError(errno.EACCES, "locked"), imrec.AccessError, errno.EACCES),
    (OSError(errno.ECONNRESET, "cable"), imrec.StorageError, errno.ECONNRESET),
    (MemoryError("full"), imrec.OutOfMemoryError, None), (NotImplementedError("no"), imrec.UnsupportedError, None),
    (imrec.LimitError("too many", status=7), imrec.LimitError, None), (KeyError("k\n\x1b[1m"), imrec.StorageError, None),
    (RuntimeError("long " * 500), imrec.StorageError, None), (ValueError("\udc80"), imrec.StorageError, None)])
@pytest.mark.parametrize("call", ["open", "read_at"])
def test_an_exception_is_an_error_that_names_uri_and_exception(shelf, shard, raised, kind, code, call):
    shelf.raising[call] = raised
    with pytest.raises(kind) as error:
        open_iter(shard, path_imgidx="lab://set/a.idx")
    said = str(error.value)
    assert "lab://set/a.idx: " in said and type(raised).__name__ in said and error.value.errno == code, said
    assert "\n" not in said and "\x1b" not in said


def test_a_missing_object_is_a_missing_file(shelf):
    for end in ("set/c.rec", "none/", "set/c*.rec"):
        with pytest.raises(imrec.MissingFileError, match="lab://" + end.replace("*", ".")):
            imrec.open(f"lab://{end}")


def test_a_read_that_fails_costs_its_samples(shelf):
    class Scratched(Held):
        def read_at(self, offset, n):
            if self.name.endswith(".rec") and offset + n > self.size // 2:
                raise OSError(errno.EIO, "scratched")
            return super().read_at(offset, n)

    shelf.held = Scratched
    with open_iter("lab://set/a.rec", path_imgidx="lab://set/a.idx", shuffle=False, epoch_size="FULL_DATA_SWEEP") as it:
        with pytest.raises(imrec.DataError, match="lab://set/a.rec: OSError: .*scratched") as error:
            for batch in it:
                assert not batch.failed
        assert error.value.batch.failed


@pytest.mark.parametrize("change, words", [
    ({"extra": -1}, "gave"), ({"extra": 1}, "gave"), ({"size": -1}, "size is -1"), ({"size": 2**64}, "size is"),
    ({"size": 1.5}, "size is 1.5"), ({"modified": "now"}, "modified is 'now'")])
def test_what_a_store_says_is_checked(shelf, shard, monkeypatch, change, words):
    shelf.extra = change.get("extra", 0)
    if "extra" not in change:
        opened = shelf.open

        def other(name):
            held = opened(name)
            held.__dict__.update(change)
            return held

        monkeypatch.setattr(shelf, "open", other)
    with pytest.raises(imrec.StorageError, match=f"lab://set/a.idx: ValueError: .*{words}"):
        open_iter(shard, path_imgidx="lab://set/a.idx")
    shelf.closed = shelf.opened  # an object of the wrong size was never open


@pytest.mark.parametrize("name, words", [("..", "no name in a folder"), ("a/b", "no name in a folder"), ("", "no name in"),
                                         ("a\0.rec", "zero byte"), (7, "TypeError")])
def test_names_that_leave_their_folder_are_refused(shelf, monkeypatch, name, words):
    monkeypatch.setattr(shelf, "list", lambda folder: ["a.rec", name])
    with pytest.raises(imrec.Error, match=f"lab://set: .*{words}"):
        imrec.open("lab://set/")


def test_a_store_without_list_says_so_and_can_be_read(shelf):
    class Plain:
        open = shelf.open

    imrec.register_store("plain-1", Plain())
    try:
        with pytest.raises(imrec.UnsupportedError, match="plain-1://set/.*list"):
            imrec.open("plain-1://set/")
        assert len(imrec.open("plain-1://set/a.rec")) == 37
        with pytest.raises(imrec.UnsupportedError, match="plain-1://o.*written"):
            imrec.pack([(jpeg(make_image(1)), 1)], "plain-1://o.rec")
    finally:
        imrec.unregister_store("plain-1")


@pytest.mark.parametrize("scheme, store, words", [
    ("s3", Shelf({}), "imrec's own"), ("lab", Shelf({}), "registered"), ("la b", Shelf({}), "letters"), (b"x", Shelf({}), "word"),
    ("x\0", Shelf({}), "word"), ("x", object(), "method open")])
def test_what_cannot_be_registered_is_named(shelf, scheme, store, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        imrec.register_store(scheme, store)


def test_a_store_in_use_stays(shelf):
    with open_iter("lab://set/") as it:
        next(it)
        with pytest.raises(imrec.ArgumentError, match="in use") as error:
            imrec.unregister_store("LAB")
        assert error.value.errno == errno.EBUSY and next(it).ids[0] == 1008
    imrec.unregister_store("LAB")
    with pytest.raises(imrec.ArgumentError, match="no store"):
        imrec.unregister_store("lab")
    with pytest.raises(imrec.Error, match="lab://set/a.rec"):
        imrec.open("lab://set/a.rec")
    imrec.register_store("Lab", shelf)  # the fixture ends it


def test_the_registration_keeps_the_store_alive(shard):
    with open(shard, "rb") as file:
        imrec.register_store("kept", Shelf({"a.rec": file.read()}))
    assert sum(map(len, ids("kept://a.rec", path_imgidx="none"))) >= 37
    imrec.unregister_store("kept")


def count_in_child(out):
    out.put(len(imrec.open("lab://set/")))
    out.put(sum(map(len, ids("lab://set/"))))


def test_a_forked_child_reads_while_the_parent_does(shelf):
    context = multiprocessing.get_context("fork")
    with open_iter("lab://set/") as it:
        next(it)
        out = context.Queue()
        child = context.Process(target=count_in_child, args=(out,))
        child.start()
        assert [out.get(timeout=120), out.get(timeout=120)] == [74, 74]
        child.join(60)
        assert child.exitcode == 0 and next(it).ids[0] == 1008


LEFT_OPEN = '''
import atexit, sys, time
opened, closed = [], []
atexit.register(lambda: print(len(opened) > 1, len(opened) - len(closed)))  # after those of imrec
import imrec
class Held:
    def __init__(self, data):
        self.data, self.size = data, len(data)
        opened.append(self)
    def read_at(self, offset, n):
        time.sleep(0.05)
        return self.data[offset:offset + n]
    def close(self):
        closed.append(self)
class Store:
    def open(self, name):
        with open("/" + name, "rb") as file:
            return Held(file.read())
imrec.register_store("left", Store())
it = imrec.ImageRecordIter("left:/" + sys.argv[1], path_imgidx="none", data_shape=(3, 16, 16), batch_size=2, preprocess_threads=2)
split = imrec.InputSplit("left:/" + sys.argv[1], type="recordio", chunk_bytes=4096)
next(it), next(split)
it.me, split.me = it, split
'''


def test_python_ends_while_threads_read(shard):
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN, shard], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 0\n", "")


def test_the_collector_may_find_a_split_in_a_thread_that_reads_for_it(shelf):
    """close() waits for the threads of the split, so it must not run in one of them."""
    dropped = threading.Event()

    class Collecting(Held):
        def read_at(self, offset, n):
            if offset > 0:
                dropped.wait()
                gc.collect()
            return super().read_at(offset, n)

    shelf.held = Collecting
    shelf.objects["long"] = b"line\n" * 10000
    gc.disable()
    try:
        split = imrec.InputSplit("lab://long", chunk_bytes=1024)
        next(split)
        split.me = split
        del split
        dropped.set()
        while shelf.closed < shelf.opened:
            time.sleep(0.01)
    finally:
        gc.enable()


@pytest.mark.parametrize("root, uri", [("", "mem2://bucket/set/"), ("/bucket", "mem2://set/"), ("bucket/", "mem2://set")])
def test_a_file_system_of_fsspec(shard, root, uri):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    fs = fsspec.filesystem("memory")
    for end in (".rec", ".idx"):
        fs.put(shard[:-4] + end, f"/bucket/set/a{end}")
        fs.put(shard[:-4] + end, f"/bucket/set/deep/b{end}")
    imrec.register_store("mem2", imrec.FsspecStore(fs, root))
    try:
        assert ids(uri, shuffle=True) == ids(shard, shuffle=True)
        assert len(imrec.open(uri.rstrip("/") + "/*/*.rec")) == 37
        with pytest.raises(imrec.MissingFileError, match="none"):
            imrec.open("mem2://none/")
        assert list(imrec.FsspecStore(fs, root).list(uri[7:].rstrip("/") + "/a.rec")) == []  # a file is no folder
        fs.rm("/bucket", recursive=True)
        with pytest.raises(imrec.MissingFileError):
            imrec.open(uri)
    finally:
        gc.collect()
        imrec.unregister_store("mem2")
