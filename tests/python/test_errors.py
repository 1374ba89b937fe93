"""Exceptions: a class each, and what they know."""
import pickle

import numpy as np
import pytest

import imrec
from tests_support import open_iter


@pytest.mark.parametrize("more, kind, words", [
    ({"batch_sise": 3}, imrec.ArgumentError, "did you mean batch_size"),
    ({"batch_size": 0}, imrec.ArgumentError, "batch_size"),
    ({"batch_size": None}, imrec.ArgumentError, "batch_size"),
    ({"last_batch": "padd"}, ValueError, "pad"),
    ({"memory_limit": 1000}, imrec.LimitError, "memory_limit"),
    ({"preset": "nothing"}, imrec.ArgumentError, "preset"),
    ({"path_imglist": "a\0b"}, imrec.ArgumentError, "path_imglist"),
])
def test_wrong_options_are_errors_that_say_what_is_right(shard, more, kind, words):
    with pytest.raises(kind, match=words):
        open_iter(shard, **more)


def test_what_is_missing_or_no_shard_is_an_error_that_names_it(tmp_path):
    with pytest.raises(imrec.Error, match="nothing.rec"):
        open_iter(tmp_path / "nothing.rec")
    with pytest.raises(imrec.ArgumentError, match="path_imgrec"):
        imrec.ImageRecordIter(data_shape=(3, 8, 8), batch_size=1)


def test_a_failed_sample_is_told_with_its_batch_and_the_next_one_follows(broken):
    with open_iter(broken) as it:
        with pytest.raises(imrec.DataError, match="id 7") as caught:
            next(it)
        batch = caught.value.batch
        assert batch.failed == 1 and batch.status[7] and not batch.valid[7] and not batch.data[7].any()
        assert batch.valid[:7].all()
        assert (caught.value.shard, caught.value.id) == (broken, 7)
        assert caught.value.offset == imrec.open(broken)[7].offset
        assert next(it).ids.tolist() == list(range(8, 16))
    with open_iter(broken, on_error="skip") as it:
        assert sum(b.failed for b in it) == 1 and it.stats()["failed"] >= 1


def test_a_closed_iterator_says_so(shard):
    it = open_iter(shard)
    it.close()
    for call in (lambda: next(it), it.reset, it.state_dict, it.stats, lambda: len(it)):
        with pytest.raises(imrec.CancelledError, match="closed"):
            call()
    assert "closed" in repr(it)


def test_an_iterator_cannot_be_pickled_and_says_what_can(shard):
    with open_iter(shard) as it, pytest.raises(TypeError, match="state_dict"):
        pickle.dumps(it)


def test_a_wrong_keyword_leaves_nothing_open():
    for _ in range(50):
        with pytest.raises(imrec.ArgumentError):
            imrec.ImageRecordIter(np.nan, data_shape=(3, 8, 8), batch_size=1)
