"""Exceptions: a class each, and what they know."""
import errno
import os
import pickle

import numpy as np
import pytest

import imrec
from conftest import write_shard
from imrec._ffi import error_of, lib, new_error
from tests_support import open_iter


@pytest.mark.parametrize("more, kind, words, field", [
    ({"batch_sise": 3}, imrec.ArgumentError, "did you mean batch_size", "batch_sise"),
    ({"batch_size": 0}, imrec.ArgumentError, "batch_size", "batch_size"),
    ({"batch_size": None}, imrec.ArgumentError, "batch_size", None),
    ({"last_batch": "padd"}, ValueError, "pad", "last_batch"),
    ({"memory_limit": 1000}, imrec.LimitError, "memory_limit", None),
    ({"preset": "nothing"}, imrec.ArgumentError, "preset", "preset"),
    ({"path_imglist": "a\0b"}, imrec.ArgumentError, "path_imglist", "path_imglist"),
])
def test_wrong_options_are_errors_that_say_what_is_right(shard, more, kind, words, field):
    with pytest.raises(kind, match=words) as raised:
        open_iter(shard, **more)
    assert raised.value.field == field


def test_an_error_knows_shard_byte_and_id(broken):
    with open_iter(broken) as it, pytest.raises(imrec.DataError) as raised:
        list(it)
    error = raised.value
    where = next(record.offset for record in imrec.open(broken) if record.id == 7)
    assert (error.shard, error.id, error.offset, error.field) == (broken, 7, where, None)
    again = pickle.loads(pickle.dumps(imrec.TransformError("x", shard="a.rec", id=3, slot=1, field="collate")))
    assert (again.shard, again.id, again.slot, again.field) == ("a.rec", 3, 1, "collate")


def test_what_is_missing_or_no_shard_is_an_error_that_names_it(tmp_path):
    missing = tmp_path / "nothing.rec"
    for call in (open_iter, imrec.open, imrec.info, imrec.verify):
        with pytest.raises(FileNotFoundError, match="nothing.rec") as raised:
            call(missing)
        error = raised.value
        assert isinstance(error, imrec.StorageError) and isinstance(error, imrec.MissingFileError)
        assert (error.errno, error.filename, error.strerror) == (errno.ENOENT, str(missing), os.strerror(errno.ENOENT))
        assert str(error) == f"{missing}: there is no such file"
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.errno, again.filename) == (type(error), str(error), error.errno, error.filename)
    with pytest.raises(FileNotFoundError, match="nothing matches this pattern") as raised:
        imrec.open(tmp_path / "no*.rec")
    assert raised.value.filename == str(tmp_path / "no*.rec")
    for name in ("nothing", "nothing.rec", "nothing.lst", "nothing.tar"):
        with pytest.raises(FileNotFoundError, match=name) as raised:
            imrec.pack(tmp_path / name, tmp_path / "out.rec")
        assert raised.value.filename == str(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="train.idx"):
        imrec.recordio.MXIndexedRecordIO(tmp_path / "train.idx", write_shard(tmp_path / "a.rec", [(1, 0, b"")]), "r")
    with pytest.raises(FileNotFoundError, match="other.lst"):
        open_iter(tmp_path / "a.rec", path_imglist=tmp_path / "other.lst")
    with pytest.raises(imrec.ArgumentError, match="path_imgrec"):
        imrec.ImageRecordIter(data_shape=(3, 8, 8), batch_size=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_a_permission_error(shard, tmp_path):
    path = tmp_path / "mine.rec"
    path.write_bytes(open(shard, "rb").read())
    path.chmod(0)
    with pytest.raises(PermissionError, match="mine.rec") as raised:
        open_iter(path)
    assert isinstance(raised.value, imrec.StorageError) and raised.value.errno == errno.EACCES


@pytest.mark.parametrize("number, kind", [(errno.EACCES, imrec.AccessError), (errno.EPERM, imrec.AccessError),
                                          (errno.ENOENT, imrec.MissingFileError), (errno.EIO, imrec.StorageError)])
def test_errors_of_the_system_are_pythons_too(number, kind):
    err = new_error()
    err.sys_errno, err.shard, err.message = number, b"/data/a: b.rec", b"/data/a: b.rec: cannot open: it says no"
    error = error_of(lib.IMREC_ERR_IO, err)
    assert type(error) is kind and error.errno == number and str(error) == "/data/a: b.rec: cannot open: it says no"
    if kind is not imrec.StorageError:
        assert isinstance(error, {imrec.AccessError: PermissionError}.get(kind, FileNotFoundError)) and error.filename == "/data/a: b.rec"


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
