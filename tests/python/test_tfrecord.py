"""TFRecord files that TensorFlow and the package tfrecord have written (tfrecords/make.py) are read in place: images, labels,
fields; converted ones are what TensorFlow would read."""
import hashlib
from pathlib import Path

import numpy as np
import pytest

import imrec
import imrec.distributed

KEPT = Path(__file__).parent / "tfrecords"


@pytest.fixture(params=["tensorflow", "tfrecord"])
def written(request):
    return KEPT / f"{request.param}.tfrecord"


def read(path, **more):
    with imrec.ImageRecordIter(path, data_shape=(3, 16, 16), batch_size=4, last_batch="partial", **more) as batches:
        return [batch for batch in batches]


def check_features(batches, n):
    seen = []
    for batch in batches:
        for slot, i in enumerate(batch.ids.tolist()):
            encoded, sha = batch["image/encoded"][slot], batch["image/sha"][slot]
            assert hashlib.sha256(encoded).digest() == sha
            assert batch["wide"][slot].tolist() == [i, -i, 2**40 + i]
            assert batch["score"][slot].tolist() == [i / 4, -1.5]
            assert batch["empty"][slot] == b"" and batch["none"][slot] is None
            assert batch.labels[slot] == i % 3
            seen.append(i)
        assert batch.text("image/class/text") == ["zwei Hunde: ä"] * len(batch.ids)
    assert sorted(seen) == list(range(n))


FIELDS = "image/encoded,image/sha,wide,score,empty,image/class/text,none?"


def test_every_feature_is_what_was_written(written):
    check_features(read(written, image="image/copy", label_offset=-1, fields=FIELDS, shuffle=True, seed=5), 6)


def test_both_writers_give_the_same_batches():
    one, other = (read(KEPT / f"{name}.tfrecord") for name in ("tensorflow", "tfrecord"))
    assert [batch.data.tobytes() for batch in one] == [batch.data.tobytes() for batch in other]
    assert np.concatenate([batch.labels for batch in one]).tolist() == [1, 2, 3, 1, 2, 3]


def test_labels_may_be_wide_and_of_64_bits(written):
    batch = read(written, label="wide", label_width=3, dtype_label="int64")[0]
    assert batch.labels.tolist() == [[i, -i, 2**40 + i] for i in range(4)]
    assert read(written, label="score", label_width=2)[0].labels.tolist() == [[i / 4, -1.5] for i in range(4)]
    assert read(written, label="none")[0].labels.tolist() == [0] * 4


def test_a_name_that_no_feature_has_names_those_that_there_are(written):
    with pytest.raises(imrec.DataError, match="no feature 'jpeg' .image=NAME names another one.: it has '"):
        read(written, image="jpeg")


def test_a_folder_and_a_glob_are_sets(tmp_path):
    for i, name in enumerate(("b.tfrecords", "a.tfrecords")):
        (tmp_path / name).write_bytes((KEPT / "tensorflow.tfrecord").read_bytes())
    for i in range(2):
        (tmp_path / f"train-{i:05d}-of-00002").write_bytes((KEPT / "tfrecord.tfrecord").read_bytes())
    for path in (tmp_path, tmp_path / "train-*", f"{tmp_path}/train-{{00000..00001}}-of-00002"):
        assert np.concatenate([batch.ids for batch in read(path)]).tolist() == list(range(12))
    assert len(read(tmp_path, container="tfrecord")) == 3


def ids_of(path, **more):
    with imrec.ImageRecordIter(path, data_shape=(3, 16, 16), batch_size=1, shuffle=True, seed=2, last_batch="partial", **more) as batches:
        return [batch.ids.tolist()[0] for batch in batches]


@pytest.mark.parametrize("order", ["local", "global"])
def test_partitions_have_each_record_once(written, order):
    parts = [ids_of(written, order=order, num_parts=3, part_index=part) for part in range(3)]
    assert sorted(sum(parts, [])) == list(range(6)) and [len(part) for part in parts] == [2, 2, 2]


def test_a_reader_resumes_where_it_was(written):
    whole = ids_of(written, preprocess_threads=1)
    for at in range(1, 6):
        with imrec.ImageRecordIter(written, data_shape=(3, 16, 16), batch_size=1, shuffle=True, seed=2) as batches:
            head = [next(batches).ids.tolist()[0] for _ in range(at)]
            state = batches.state_dict()
        with imrec.ImageRecordIter(written, data_shape=(3, 16, 16), batch_size=1, shuffle=True, seed=2) as batches:
            batches.load_state_dict(state)
            assert head + [batch.ids.tolist()[0] for batch in batches] == whole


def test_a_damaged_record_is_reported_or_skipped(written, tmp_path):
    raw = bytearray(written.read_bytes())
    raw[500] ^= 1  # in the first record's content
    path = tmp_path / "a.tfrecord"
    path.write_bytes(raw)
    with pytest.raises(imrec.DataError, match="checksum of the record's 3[0-9]+ bytes is wrong"):
        ids_of(path)
    assert sorted(ids_of(path, on_error="skip")) == [1, 2, 3, 4, 5]


def test_files_are_packed_as_their_records(written, tmp_path):
    card = imrec.pack(written, tmp_path / "t.rec", fields="image/sha,wide,none?")
    packed, read_in_place = list(imrec.open(tmp_path / "t.rec")), list(imrec.open(written))
    assert card["packed"] == len(packed) == 6 and card["encoded"] == {}
    assert [(r.id, r.label, r.image) for r in packed] == [(r.id, r.label, r.image) for r in read_in_place]
    for ours, theirs in zip(packed, read_in_place):
        assert set(ours.fields) == {"image/sha", "wide"} and ours.fields["image/sha"] == theirs.fields["image/sha"]
        assert ours.fields["wide"].tolist() == theirs.fields["wide"].tolist()
    imrec.pack([written, written], tmp_path / "u.rec", label="score", image="image/copy", resize=8)
    assert [r.label for r in imrec.open(tmp_path / "u.rec")] == [i / 4 for i in range(6)] * 2
    imrec.distributed.pack([written, written], tmp_path / "v.rec", label="score", image="image/copy", resize=8, tasks=3, workers=1)
    assert (tmp_path / "u.rec").read_bytes() == (tmp_path / "v.rec").read_bytes()
    with pytest.raises(imrec.ArgumentError, match="has TFRecords, which is no tar archive"):
        next(imrec.webdataset(written))
