"""imrec.io: batches as code for mxnet.io expects them."""
import hashlib
import json
import pickle

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, write_shard
from imrec import io
from tests_support import SHAPE, shared

SMALL = {"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2}


def open_io(path, kind=io.ImageRecordIter, **more):
    return kind(path_imgrec=path, **{**SMALL, **more})


def test_a_pass_ends_until_it_is_reset(shard):
    with open_io(shard) as it:
        assert (it.batch_size, len(it)) == (8, 5)
        for _ in range(3):
            it.reset()
            batches = list(it)
            assert [b.pad for b in batches] == [0, 0, 0, 0, 3]
            assert list(it) == [] and not it.iter_next()
            ids = np.concatenate([b.index[:8 - b.pad] for b in batches])
            assert sorted(ids) == list(range(1000, 1037))


def test_batches_are_lists_of_arrays(shard):
    with open_io(shard, data_name="images", label_name="classes") as it:
        assert it.provide_data == [("images", (8, *SHAPE))] and it.provide_label == [("classes", (8,))]
        assert it.provide_data[0].dtype == np.float32 and it.provide_data[0].layout == "NCHW"
        batch = it.next()
        (data,), (labels,) = batch.data, batch.label
        assert data.shape == (8, *SHAPE) and list(labels) == list(range(8))  # the first one, though shapes were asked for
        assert list(batch.index) == list(range(1000, 1008)) and batch.provide_data == it.provide_data
        copy = data.asnumpy()
        assert type(copy) is np.ndarray and np.array_equal(copy, data) and not np.shares_memory(copy, data)
        kept = [b.data[0] for b in it]
        assert np.array_equal(copy, data) and len(kept) == 4 and "(8, 3, 16, 16)" in repr(batch)


def test_the_steps_of_a_batch(shard):
    with open_io(shard) as it:
        with pytest.raises(ValueError, match="no batch"):
            it.getdata()
        seen = 0
        while it.iter_next():
            assert np.array_equal(it.getlabel()[:8 - it.getpad()] + 1000, it.getindex()[:8 - it.getpad()])
            assert it.getdata().shape == (8, *SHAPE)
            seen += 1
        assert seen == 5


def test_reset_in_the_middle_begins_the_next_pass(shard):
    with open_io(shard) as it:
        it.reset()
        it.next()
        it.reset()
        assert list(it.next().label[0]) == list(range(8))
        it.reset()
        assert it.provide_data and len(list(it)) == 5


@pytest.mark.parametrize("off", [False, 0, "0", "False"])
def test_without_round_batch_the_rest_is_zero(shard, off):
    with open_io(shard, round_batch=off) as it:
        last = list(it)[-1]
        assert last.pad == 3 and not last.data[0][5:].any() and last.data[0][:5].any()
    with open_io(shard, round_batch=True) as it:
        last = list(it)[-1]
        assert last.pad == 3 and last.data[0][5:].any()


@pytest.mark.parametrize("kind, dtype", [(io.ImageRecordIter, np.float32), (io.ImageRecordUInt8Iter, np.uint8),
                                         (io.ImageRecordInt8Iter, np.int8), (io.ImageRecordIter_v1, np.float32)])
def test_kinds_have_their_types(shard, kind, dtype):
    more = {"mean_r": 100, "mean_g": 100, "mean_b": 100} if dtype == np.int8 else {}
    with open_io(shard, kind, **more) as it:
        assert it.next().data[0].dtype == dtype
    with open_io(shard, dtype=np.uint8) as it:
        assert it.next().data[0].dtype == np.uint8


def test_boxes(tmp_path):
    labels = [2, 5, 1, 0.1, 0.1, 0.5, 0.6]
    path = write_shard(tmp_path / "b.rec", [(i, labels + [2, 0.2, 0.3, 0.7, 0.9] * (i % 2), jpeg(make_image(i))) for i in range(6)])
    with io.ImageDetRecordIter(path_imgrec=path, data_shape=SHAPE, batch_size=4, rand_mirror_prob=0.5) as it:
        assert it.provide_label == [("label", (4, 16))]
        label = it.next().label[0]
        assert list(label[0, :4]) == [3, 16, 16, 7] and list(label[0, -5:]) == [-1] * 5
        assert it.next().pad == 2


def test_a_keyword_that_does_not_exist_is_an_error(shard):
    with pytest.raises(ValueError, match="rand_mirror"):
        open_io(shard, and_mirror=True)


def test_descriptions_and_batches_by_hand():
    desc = pickle.loads(pickle.dumps(io.DataDesc("data", [2, 3], np.uint8, "NHWC")))
    name, shape = desc
    assert (name, shape, desc.dtype, desc.layout) == ("data", (2, 3), np.uint8, "NHWC")
    assert io.DataDesc.get_batch_axis("TNC") == 1
    assert repr(desc) == "DataDesc[data,(2, 3),uint8,NHWC]"
    with pytest.raises(ValueError, match="list"):
        io.DataBatch(np.zeros(3))


def test_pixels_are_the_originals():
    """First batches that the original delivered for keywords that draw nothing."""
    folder, seen = shared("vectors/mxnet"), 0
    for name, case in json.loads((folder / "pixels.json").read_text()).items():
        args = {k: v if not k.startswith(("path_", "mean_img")) else folder / v for k, v in case["args"].items()}
        if "draws" in case or "mean_img" in args:
            continue
        with io.ImageRecordIter(**args) as it:
            batch = it.next()
        data = batch.data[0].asnumpy()
        assert list(data.shape) == case["shape"] and str(data.dtype) == case["dtype"], name
        assert list(np.ravel(batch.label[0])) == list(np.float32(np.ravel(case["labels"]))), name
        if case["tolerance"] == 0:
            assert hashlib.sha256(data.tobytes()).hexdigest() == case["sha256"], name
        seen += 1
    assert seen > 50


def test_the_iterator_below_has_states(shard):
    with open_io(shard, shuffle=True, seed=3) as it:
        it.next()
        state = it.iterator.state_dict()
        then = it.next()
    with open_io(shard, shuffle=True, seed=3) as it:
        it.iterator.load_state_dict(state)
        assert np.array_equal(it.next().index, then.index)
    assert isinstance(it.iterator, imrec.ImageRecordIter)
