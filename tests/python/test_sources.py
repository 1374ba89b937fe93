"""Data that is no path: objects with samples by index, in the order of an index, with their failures and their ends."""
import gc
import io
import json
import os
import sqlite3
import sys
import threading
import time
import weakref
import zipfile

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png, write_shard
from tests_support import open_iter

COUNT = 37  # the images of the fixture shard, whose ids begin at 1000
WAYS = [{}, {"shuffle": True, "seed": 3}, {"shuffle": True, "num_parts": 3, "part_index": 1},
        {"shuffle": True, "order": "global", "num_parts": 2, "part_index": 0}]


@pytest.fixture(scope="module")
def images():
    return [jpeg(make_image(i)) for i in range(COUNT)]


class Plain:
    """(image, label) by index."""

    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], i


class Many:
    """Dicts by lists of indices."""

    def __init__(self, images):
        self.images, self.asked, self.threads = images, [], set()

    def __len__(self):
        return len(self.images)

    def fetch(self, indices):
        self.asked.append(indices)
        self.threads.add(threading.get_ident())
        return [{"image": self.images[i], "label": np.int64(i), "more": None} for i in indices]


class Torch(Plain):
    """As data sets of PyTorch have it."""

    def __getitems__(self, indices):
        return [self[i] for i in indices]


class Table:
    """A table of SQLite."""

    def __init__(self, images):
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute("create table photos (number integer primary key, file blob, class real)")
        self._db.executemany("insert into photos values (?, ?, ?)", [(i, image, i) for i, image in enumerate(images)])
        self._lock = threading.Lock()

    def __len__(self):
        return self._db.execute("select count(*) from photos").fetchone()[0]

    def fetch(self, indices):
        words = ",".join("?" * len(indices))
        with self._lock:
            rows = self._db.execute(f"select number, file, class from photos where number in ({words})", indices).fetchall()
        found = {number: (file, label) for number, file, label in rows}
        return [found[i] for i in indices]


class Zip:
    """Members of a zip file."""

    def __init__(self, images):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as out:
            for i, image in enumerate(images):
                out.writestr(f"{i}.jpg", image)
        self._zip = zipfile.ZipFile(data)
        self._lock = threading.Lock()  # it counts its open members without one

    def __len__(self):
        return len(self._zip.namelist())

    def __getitem__(self, i):
        with self._lock:
            return memoryview(self._zip.read(f"{i}.jpg")), [i]


def seen(source, sweeps=2, **more):
    with open_iter(source, **more) as it:
        first = 1000 if isinstance(source, str) else 0
        return [((b.ids - first * b.valid).tolist(), b.labels.tolist(), b.data.tobytes()) for _ in range(sweeps) for b in it]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Plain, Many, Torch, Table, Zip])
def test_samples_come_as_those_of_an_indexed_shard(images, shard, kind, way):
    assert seen(kind(images), **way) == seen(shard, **way)


def test_a_list_of_samples_is_a_source(images, shard):
    assert seen([(image, i) for i, image in enumerate(images)]) == seen(shard)


def test_threads_and_sizes_of_calls_change_nothing(images):
    wanted = seen(Plain(images), shuffle=True)
    for threads, records in (1, 1), (7, 3), (2, 1000):
        source = Many(images)
        assert seen(source, shuffle=True, fetch_threads=threads, fetch_records=records) == wanted
        assert max(map(len, source.asked)) <= records and 1 <= len(source.threads) <= threads
        assert threading.get_ident() not in source.threads


def test_names_of_a_dict_are_given(images):
    source = [{"photo": image, "image": b"no", "kind": i, "label": "no"} for i, image in enumerate(images)]
    assert seen(source, image="photo", label="kind") == seen(Plain(images))


def test_labels_of_all_kinds(images):
    kinds = [3, 3.0, True * 3, np.float32(3), np.array([3], np.uint8), [3], (3,), np.uint64(3)]
    with open_iter([(images[0], k) for k in kinds]) as it:
        assert next(it).labels.tolist() == [3] * len(kinds)
    with open_iter([(images[0], [1, 2.5])] * 8, label_width=2) as it:
        assert next(it).labels.tolist() == [[1, 2.5]] * 8
    with open_iter([(images[0], 2**53 + 1)] * 8, dtype_label="int64") as it:
        assert next(it).labels.tolist() == [2**53 + 1] * 8
    with open_iter([{"image": images[0]}] * 8, label_width=2) as it:
        assert next(it).labels.tolist() == [[0, 0]] * 8


def test_masks_come_with_their_images():
    values = np.arange(16 * 16, dtype=np.uint8).reshape(16, 16) % 7
    pixels = np.zeros((16, 16, 3), np.uint8)
    with open_iter([{"image": jpeg(pixels), "label": 1, "mask": png(values)}] * 8, masks="uint8") as it:
        assert (next(it).masks == values).all()
    both = {"image": jpeg(pixels), "label": 1, "mask": png(values), "seg": png(values + 1)}
    with open_iter([both] * 8, masks="uint8", mask="seg") as it:
        assert (next(it).masks == values + 1).all()
    with open_iter([both] * 8, masks="uint8", mask="segments") as it:
        with pytest.raises(imrec.DataError, match="a dict without 'segments'"):
            next(it)


@pytest.mark.parametrize("way", WAYS)
def test_a_state_resumes_inside_a_sweep(images, way):
    with open_iter(Many(images), **way) as it:
        first = next(it)
        assert first.count
        state = it.state_dict()
        rest = [b.ids.tolist() for b in it] + [b.ids.tolist() for b in it]
    with open_iter(Plain(images), fetch_threads=1, **way) as it:
        with pytest.raises(imrec.ArgumentError, match="other data"):
            it.load_state_dict(state)
    with open_iter(Many(images), fetch_threads=1, **way) as it:
        it.load_state_dict(state)
        assert [b.ids.tolist() for b in it] + [b.ids.tolist() for b in it] == rest


def test_a_state_of_another_fingerprint_is_refused(images):
    sources = [Plain(images), Plain(images)]
    sources[0].fingerprint, sources[1].fingerprint = "2026-01", "2026-02"
    with open_iter(sources[0]) as a, open_iter(sources[1]) as b:
        with pytest.raises(imrec.ArgumentError, match="other data"):
            b.load_state_dict(a.state_dict())


class Bad(Plain):
    """Sample 5 is what `make` makes of it."""

    def __init__(self, images, make):
        super().__init__(images)
        self.make = make

    def __getitem__(self, i):
        return self.make(super().__getitem__(i)) if i == 5 else super().__getitem__(i)


class BadMany(Bad):
    def fetch(self, indices):
        return [self[i] for i in indices]


def raising(error):
    def make(sample):
        raise error
    return make


@pytest.mark.parametrize("make, words", [
    (raising(KeyError("gone")), "KeyError: 'gone'"), (raising(OSError(5, "torn")), "torn"), (raising(StopIteration()), "StopIteration"),
    (lambda s: None, "its image is of type NoneType"), (lambda s: "text", "its image is of type str"),
    (lambda s: (s[0],), "a tuple of 1"), (lambda s: (s[0], "cat"), "its label is 'cat'"), (lambda s: (b"", 5), "1 to 2"),
    (lambda s: {"img": s[0]}, "a dict without 'image', it has 'img'"), (lambda s: (np.zeros((4, 4)), 5), "an array of shape"),
    (lambda s: (s[0], [1, 2]), "has 2 labels"), (lambda s: (b"no image", 5), "")])
@pytest.mark.parametrize("kind", [Bad, BadMany])
def test_a_bad_sample_costs_itself_alone(images, kind, make, words):
    with open_iter(kind(images, make)) as it:
        with pytest.raises(imrec.DataError, match="record 5, id 5") as error:
            next(it)
        assert words in str(error.value) and error.value.batch.failed == 1
    with open_iter(kind(images, make), on_error="skip", shuffle=True) as it:
        assert sorted(i for b in it for i in b.ids) == [i for i in range(COUNT) if i != 5]


def test_a_call_that_gives_another_number_costs_the_samples_that_are_missing(images):
    class Short(Many):
        def fetch(self, indices):
            return [s for i, s in zip(indices, super().fetch(indices)) if i != 5]

    with open_iter(Short(images), on_error="skip") as it:
        assert sorted(i for b in it for i in b.ids) == [i for i in range(COUNT) if i != 5]
    with open_iter(Short(images)) as it:
        with pytest.raises(imrec.DataError, match="gave 0 samples"):
            next(it)


@pytest.mark.parametrize("error, kind", [(KeyboardInterrupt("stop"), KeyboardInterrupt), (SystemExit(3), SystemExit),
                                         (MemoryError("full"), imrec.OutOfMemoryError)])
@pytest.mark.parametrize("source", [Bad, BadMany])
def test_what_is_not_about_a_sample_ends_the_iterator(images, source, error, kind):
    with open_iter(source(images, raising(error)), on_error="skip") as it:
        with pytest.raises(kind):
            for _ in it:
                pass


def test_what_ends_the_making_of_a_mean_image_is_raised(images, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        open_iter(Bad(images, raising(KeyboardInterrupt())), mean_img=str(tmp_path / "a.bin"))


def test_boxes_come_with_their_images(images, tmp_path):
    boxes = [[2, 5, i % 3, 0.1, 0.2, 0.6, 0.7] for i in range(COUNT)]
    more = {"preset": "ImageDetRecordIter", "label_pad_width": 20, "last_batch": "partial"}
    path = write_shard(tmp_path / "a.rec", [(1000 + i, boxes[i], images[i]) for i in range(COUNT)])
    assert seen(list(zip(images, boxes)), **more) == seen(path, **more)
    with pytest.raises(imrec.ArgumentError, match="label_pad_width"):
        open_iter(list(zip(images, boxes)), preset="ImageDetRecordIter")


def test_closing_while_a_call_runs_waits_for_it(images):
    running, ended = threading.Event(), []

    class Slow(Plain):
        def __getitem__(self, i):
            running.set()
            time.sleep(0.1)
            ended.append(i)
            return super().__getitem__(i)

    it = open_iter(Slow(images))
    assert running.wait(10)
    it.close()
    done = len(ended)
    assert 1 <= done <= 2 * 4  # each of four threads ends after the sample in hand
    time.sleep(0.3)
    assert len(ended) == done


def living(made, freed):
    """How many are alive. Without the GIL what another thread made is freed later, at the latest by the collector."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        gc.collect()
    return len(made) - len(freed)


def test_nothing_of_a_source_lives_longer_than_its_iterator(images):
    class Data(bytearray):
        pass

    class Fresh(Plain):
        made, freed = [], []  # lists, as threads add to them at the same time

        def __getitem__(self, i):
            data = Data(self.images[i])
            self.made.append(i)
            weakref.finalize(data, self.freed.append, i)
            return data, i

    source = Fresh(images)
    with open_iter(source, fetch_records=4, fetch_threads=2) as it:
        for _ in range(20):
            for batch in it:
                assert batch.count
        most = living(Fresh.made, Fresh.freed)
        assert it._source.held
    assert 0 < most <= 8 * COUNT
    assert not it._source.held and living(Fresh.made, Fresh.freed) == 0
    seen_by = weakref.ref(source)
    del it, source, batch
    gc.collect()
    assert seen_by() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_is_refused(images):
    with open_iter(Plain(images)) as it:
        next(it)
        pid = os.fork()
        if pid == 0:
            try:
                next(it)
            except imrec.ForkedError:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


@pytest.mark.parametrize("more, words", [
    ({"path_imgidx": "a.idx"}, "path_imgidx"), ({"keep_in_memory": True}, "keep_in_memory"), ({"fetch_threads": 257}, "fetch_threads"),
    ({"fetch_records": 1.5}, "fetch_records"), ({"image_": "a"}, "image_")])
def test_parameters_that_do_not_fit_are_refused(images, more, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        open_iter(Plain(images), **more)


@pytest.mark.parametrize("source", [[], {}, {"a": b""}, object(), 5])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(imrec.ArgumentError):
        open_iter(source)


def test_a_subset_is_by_index(images, tmp_path):
    (tmp_path / "some").write_text("3\n30\n7\n")
    with open_iter(Plain(images), order="global", subset=tmp_path / "some") as it:
        assert [i for b in it for i in b.ids] == [3, 7, 30]


def test_a_mean_image_is_made_of_a_source(images, shard, tmp_path):
    more = {"mean_img": str(tmp_path / "a.bin")}
    got = seen(Plain(images), **more)
    assert (tmp_path / "a.bin").exists()
    assert got == seen(shard, mean_img=str(tmp_path / "b.bin"))
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()


def test_a_loader_delivers_tensors_of_a_source(images):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    loader = imrec.torch.Loader(Many(images), data_shape=(3, 16, 16), batch_size=8, world_size=1)
    labels = torch.cat([labels for _, labels in loader])
    assert labels.dtype == torch.int64 and labels.tolist() == list(range(COUNT)) and len(loader) == 5
    with pytest.raises(AttributeError, match="source"):
        loader.dataset


def test_fields_come_out_of_dicts(images):
    class Captions:
        def __len__(self):
            return 10

        def __getitem__(self, i):
            return {"image": images[i], "label": i, "txt": f"ein Text ä {i}", "meta": {"n": [i, "x"]}, "raw": bytes([i, 0, 255]),
                    "numbers": [i, 7], "share": 0.5 * i, "none": None if i % 2 else b"there", "right": images[i]}

    with open_iter(Captions(), shuffle=True, last_batch="partial", fields="txt,meta,raw,numbers,share,none?,gone?",
                   images="image,right") as batches:
        for batch in batches:
            for k, i in enumerate(batch.ids.tolist()):
                assert batch.text("txt")[k] == f"ein Text ä {i}" and json.loads(batch["meta"][k]) == {"n": [i, "x"]}
                assert batch["raw"][k] == bytes([i, 0, 255]) and batch["numbers"][k].tolist() == [i, 7]
                assert batch["share"][k].tolist() == [0.5 * i] and batch["share"][k].dtype == np.float32
                assert batch["none"][k] == (None if i % 2 else b"there") and batch["gone"][k] is None
            assert np.array_equal(batch["right"], batch.data)


def test_a_sample_without_a_field_fails_alone(images):
    class Listed(Plain):
        def __getitem__(self, i):
            return {"image": self.images[i], "label": i, **({"txt": "there"} if i != 3 else {})}

    with open_iter(Listed(images[:6]), batch_size=6, fields="txt", on_error="skip") as batches:
        batch = next(batches)
    assert batch.ids.tolist() == [0, 1, 2, 4, 5] and set(batch.text("txt")) == {"there"}
