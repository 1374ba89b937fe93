"""The index beside a shard: it is found, said, and a position restores the order that it was taken in."""
import json
import os
import shutil

import pytest

import imrec
from conftest import jpeg, make_image, write_shard
from tests_support import SHAPE, labels_of

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def indexed(tmp_path):
    path = write_shard(tmp_path / "train.rec", [(i, i, jpeg(make_image(i))) for i in range(40)])
    return path, path[:-4] + ".idx"


def sweep_of(open_kind, path, **more):
    with open_kind(path, **more) as it:
        return labels_of(it.sweep())


def test_the_index_is_found_and_said(open_kind, indexed):
    path, idx = indexed
    by_name, without = sweep_of(open_kind, path, path_imgidx=idx), sweep_of(open_kind, path, path_imgidx="none")
    assert by_name != without
    with open_kind(path) as it:
        assert labels_of(it) == by_name
        assert it.stats()["indexed"] is True and it.stats()["index"] == idx and f"shuffled in the order of {idx}" in repr(it)
        assert it.state_dict()["indexed"] is True and imrec.info(path)["indexed"] is True
    with open_kind(path, path_imgidx="none") as it:
        assert labels_of(it) == without
        assert it.stats()["indexed"] is False and it.stats()["index"] is None and "shuffled without an index" in repr(it)
        assert it.state_dict()["indexed"] is False
    os.remove(idx)
    assert sweep_of(open_kind, path) == without and imrec.info(path)["indexed"] is False


def state_of(open_kind, path, **more):
    """A state after two batches, and what followed it."""
    with open_kind(path, **more) as it:
        loop = it.sweep()
        next(loop), next(loop)
        state = json.loads(json.dumps(it.state_dict()))
        return state, labels_of(loop), labels_of(it)


def test_a_state_without_an_index_is_gone_on_with_where_there_is_one_now(open_kind, indexed):
    path, idx = indexed
    shutil.move(idx, idx + ".away")
    state, rest, after = state_of(open_kind, path)
    shutil.move(idx + ".away", idx)
    with open_kind(path, batch_size=8) as it:
        kept = next(iter(it))
        before = labels_of([kept])
        it.load_state_dict(state)
        assert labels_of(it) == rest and labels_of(it) == after and it.stats()["indexed"] is False
        assert labels_of([kept]) == before
        back, rest, after = state_of(open_kind, path)  # and one with it again, in the same object
        it.load_state_dict(back)
        assert labels_of(it) == rest and labels_of(it) == after and it.stats()["index"] == idx


def test_a_state_with_an_index_that_is_gone_names_it_and_changes_nothing(open_kind, indexed):
    path, idx = indexed
    state, rest, _ = state_of(open_kind, path)
    os.remove(idx)
    with open_kind(path) as it:
        expected = sweep_of(open_kind, path)
        next(iter(it))
        with pytest.raises(imrec.ArgumentError, match=f"{idx} is missing"):
            it.load_state_dict(state)
        assert labels_of(it) == expected[1:]


def test_what_was_said_in_so_many_words_is_not_changed(open_kind, indexed):
    path, idx = indexed
    with_index, without = state_of(open_kind, path)[0], state_of(open_kind, path, path_imgidx="none")[0]
    with open_kind(path, path_imgidx=idx) as it, pytest.raises(imrec.ArgumentError, match="path_imgidx=none"):
        it.load_state_dict(without)
    with open_kind(path, path_imgidx="none") as it, pytest.raises(imrec.ArgumentError, match="path_imgidx=auto"):
        it.load_state_dict(with_index)


def test_a_state_of_other_data_leaves_the_iterator_as_it_is(open_kind, indexed, shard, tmp_path):
    path, _ = indexed
    other = str(shutil.copy(shard, tmp_path / "other.rec"))  # no index
    state = state_of(open_kind, other)[0]
    expected = sweep_of(open_kind, path)
    with open_kind(path) as it:
        next(iter(it))
        with pytest.raises(imrec.ArgumentError, match="other data"):
            it.load_state_dict(state)
        assert labels_of(it) == expected[1:] and it.stats()["indexed"] is True


def test_mxnets_iterators_take_an_index_only_if_it_is_given(indexed):
    path, idx = indexed
    for more, there in (({}, False), ({"path_imgidx": None}, False), ({"path_imgidx": idx}, True), ({"path_imgidx": "auto"}, True)):
        with imrec.io.ImageRecordIter(path_imgrec=path, data_shape=SHAPE, batch_size=8, **more) as it:
            assert it.iterator.stats()["indexed"] is there
