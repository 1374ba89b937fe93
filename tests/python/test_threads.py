"""Many threads of Python at once, with the GIL and without: iterators, batches and errors of each are its own.

Each test lets all threads begin together, gives each many turns, and compares what every turn gave. A free-threaded
interpreter must not have turned its GIL on for the package."""
import sys
import sysconfig
import threading

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image
from tests_support import open_iter

THREADS, TURNS = 12, 20


def hammer(work, threads=THREADS, turns=TURNS):
    """work(thread, turn) in all threads at once; the first exception of any is raised."""
    begin, failed = threading.Barrier(threads), []

    def body(number):
        try:
            begin.wait(60)
            for turn in range(turns):
                if failed:
                    return
                work(number, turn)
        except BaseException as error:
            failed.append(error)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # with the GIL, it changes hands in the middle of everything
    try:
        running = [threading.Thread(target=body, args=(i,), daemon=True) for i in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join(240)
            assert not thread.is_alive(), "a thread hangs"
    finally:
        sys.setswitchinterval(switch)
    if failed:
        raise failed[0]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has a GIL")
def test_the_gil_stays_off():
    assert not sys._is_gil_enabled()


def test_iterators_of_many_threads_give_what_one_gives(shard):
    def batches(seed):
        with open_iter(shard, shuffle=True, seed=seed, rand_mirror=True) as it:
            return [(b.data.copy(), b.ids.copy()) for b in it]

    alone = [batches(seed) for seed in range(3)]

    def work(number, turn):
        for (data, ids), (same, named) in zip(batches((number + turn) % 3), alone[(number + turn) % 3]):
            np.testing.assert_array_equal(ids, named)
            np.testing.assert_array_equal(data, same)

    hammer(work, turns=6)


def test_a_shared_iterator_gives_each_batch_to_one_thread(shard):
    given, lock = [], threading.Lock()
    with open_iter(shard, shuffle=True, epoch_size=imrec.INFINITELY_REPEAT, max_samples=37 * 40, batch_size=4) as it:
        def work(number, turn):
            for _ in range(3):
                batch = next(it, None)
                if batch is None:
                    return
                kept = batch.data, batch.data.copy()  # the iterator goes on in other threads, and does not write there
                numbers = it.stats()["images"], it.state_dict()["position"]
                assert numbers[0] >= len(batch.ids) and numbers[1]
                np.testing.assert_array_equal(*kept)
                with lock:
                    given.append((batch.number, batch.ids[batch.valid].tolist()))

        hammer(work)
    numbers = [number for number, _ in given]
    assert sorted(numbers) == list(range(len(numbers)))
    ids = [i for _, some in sorted(given) for i in some]
    for sweep in range(len(ids) // 37):
        assert sorted(ids[sweep * 37:sweep * 37 + 37]) == list(range(1000, 1037))


class Notes:
    """Samples with objects that the library's threads make and drop; the last has a label too many."""

    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        label = [1, 2] if i == len(self) - 1 else np.float32(i)
        return {"image": self.images[i], "label": label, "note": [str(i)] * i}


def test_threads_of_c_come_and_go(caplog):
    """The threads that call a source live for one iterator: Python meets new ones all the time."""
    source = Notes([jpeg(make_image(i)) for i in range(9)])

    def work(number, turn):
        with open_iter(source, batch_size=4, fetch_records=1, fetch_threads=3, on_error="skip") as it:
            labels = [label for b in it for label in b.labels[b.valid].ravel().tolist()]
        assert labels == list(range(8))

    hammer(work, threads=4, turns=200)
    assert sum("record 8, id 8" in record.getMessage() for record in caplog.records) == 4 * 200


def test_batches_outlive_iterators_that_other_threads_close(shard):
    def work(number, turn):
        it = open_iter(shard, seed=turn)
        batch = next(it)
        data, wanted = batch.data, batch.data.copy()
        closer = threading.Thread(target=it.close)
        closer.start()
        try:
            for _ in range(2):
                next(it)
        except (imrec.CancelledError, StopIteration):
            pass
        closer.join(60)
        del it, batch
        np.testing.assert_array_equal(data, wanted)

    hammer(work, threads=6, turns=8)


def test_each_thread_gets_its_own_error(broken, tmp_path):
    def work(number, turn):
        name = str(tmp_path / f"none-{number}-{turn}.rec")
        with pytest.raises(imrec.MissingFileError, match=f"none-{number}-{turn}") as missing:
            open_iter(name)
        assert missing.value.filename == name
        with pytest.raises(imrec.ArgumentError, match=f"unknown_{number}_{turn}|batch_sizes"):
            open_iter(broken, **{f"unknown_{number}_{turn}": 1})
        with pytest.raises(imrec.CorruptError), open(__file__, "rb") as text:
            imrec.decode(jpeg(make_image(number))[:20 + turn] + text.read(64))
        with open_iter(broken, batch_size=4) as it:
            good = []
            with pytest.raises(imrec.DataError) as failed:
                for batch in it:
                    good += batch.ids.tolist()
            assert failed.value.id == 7 and failed.value.shard == broken
            assert good == [0, 1, 2, 3]

    hammer(work, turns=8)


def test_images_are_decoded_in_many_threads(shard):
    images = [jpeg(make_image(i)) for i in range(8)]
    alone = [imrec.decode(image) for image in images]
    opened = imrec.open(shard)
    records = [opened[i] for i in range(8)]

    def work(number, turn):
        i = (number + turn) % 8
        np.testing.assert_array_equal(imrec.decode(images[i]), alone[i])
        assert opened[i].image == records[i].image and opened[i].id == 1000 + i

    hammer(work, turns=100)


def test_packing_in_many_threads_gives_the_bytes_of_one(tmp_path):
    items = [(make_image(i), i) for i in range(12)]
    imrec.pack(items, str(tmp_path / "alone.rec"))
    alone = (tmp_path / "alone.rec").read_bytes()

    def work(number, turn):
        path = tmp_path / f"{number}-{turn}.rec"
        imrec.pack(items, str(path))
        assert path.read_bytes() == alone

    hammer(work, threads=6, turns=3)
