"""imrec.open(): records by number, in any process."""
import multiprocessing
import pickle
import threading

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, write_shard


@pytest.mark.parametrize("index", [True, False])
def test_records_come_by_number(tmp_path, index):
    path = write_shard(tmp_path / "a.rec", [(7 * i, [i, i + 0.5], jpeg(make_image(i))) for i in range(20)], index)
    records = imrec.open(path)
    assert len(records) == 20 and records[3].id == 21 and records[-1].id == 133
    assert records[5].labels.tolist() == [5, 5.5] and records[5].label == 5 and records[5].shard == path
    assert [r.id for r in records[2:11:4]] == [14, 42, 70] and [r.id for r in records] == [7 * i for i in range(20)]
    assert records[4].image == jpeg(make_image(4)) and records[4].mask is None
    assert records[4].pixels().shape == make_image(4).shape
    assert np.abs(records[4].pixels().astype(int) - make_image(4)).mean() < 20
    for wrong in (20, -21):
        with pytest.raises(IndexError, match="20"):
            records[wrong]
    assert "20 records" in repr(records)


def test_several_shards_are_one_sequence(shard, broken):
    records = imrec.open([shard, broken])
    assert len(records) == 57 and records[37].shard == broken and records[0].shard == shard
    with pytest.raises(imrec.UnsupportedError):
        records[37 + 7].pixels()


def total(records, out):
    out.put(sum(r.id for r in records))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_read_them_too(shard, method):
    records, context = imrec.open(shard), multiprocessing.get_context(method)
    out = context.Queue()
    children = [context.Process(target=total, args=(records, out)) for _ in range(2)]
    for child in children:
        child.start()
    sums = [out.get(timeout=60) for _ in children]
    for child in children:
        child.join()
    assert sums == [sum(range(1000, 1037))] * 2


def test_threads_share_them_and_pickles_are_small(shard):
    records, wrong = imrec.open(shard), []

    def read(k):
        for i in range(200):
            at = (k + 1) * i % 37
            if records[at].id != 1000 + at or records[at].pixels().shape != make_image(at).shape:
                wrong.append(at)

    threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(pickle.dumps(records)) < 500 and pickle.loads(pickle.dumps(records))[1].id == 1001


def test_images_are_decoded_and_encoded():
    grey = np.arange(64 * 64, dtype=np.uint8).reshape(64, 64) // 2
    assert imrec.decode(imrec.encode_jpeg(grey, 100), 0).shape == (64, 64, 1)
    assert np.abs(imrec.decode(imrec.encode_jpeg(grey, 100), 1)[:, :, 0].astype(int) - grey).max() <= 3
    with pytest.raises(imrec.UnsupportedError):
        imrec.decode(b"this is no image")
    with pytest.raises(imrec.CorruptError):
        imrec.decode(imrec.encode_jpeg(grey)[:100])
