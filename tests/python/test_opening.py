"""Opening: files that are no shards, sets without a record, missing shards, insightface's metadata."""
import errno
import logging
import struct

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, write_shard
from imrec.recordio import MXIndexedRecordIO, MXRecordIO
from tests_support import open_iter

KINDS = {
    "photo.jpg": (jpeg(make_image(1)), "is a JPEG image, not a RecordIO shard"),
    "data.zip": (b"PK\x03\x04 and so on", "is a ZIP archive, not a RecordIO shard"),
    "train.idx": (b"0\t0\n1\t560\n", "is the index of a shard, not a RecordIO shard"),
    "array.npy": (b"\x93NUMPY\x01\x00", "is a NumPy array, not a RecordIO shard"),
    "text.rec": (b"hello\n", "holds no record: no RecordIO head in its 6 bytes"),
    "empty.rec": (b"", "holds no record: it has 0 bytes"),
    "empty.cbf": (b"", "holds no record: it has 0 bytes"),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("call", [imrec.open, imrec.info, imrec.verify, imrec.view, open_iter])
def test_what_is_no_shard_is_called_what_it_is(name, call, tmp_path):
    data, says = KINDS[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises((imrec.ArgumentError, imrec.CorruptError), match=f"{name} {says}"):
        call(tmp_path / name)


def test_an_empty_file_is_a_file_of_no_records_to_mxnets_reader(tmp_path):
    (tmp_path / "empty.rec").write_bytes(b"")
    (tmp_path / "empty.idx").write_bytes(b"")
    with MXRecordIO(tmp_path / "empty.rec", "r") as reader:
        assert reader.read() is None
        reader.reset()
        assert reader.read() is None
    with MXIndexedRecordIO(tmp_path / "empty.idx", tmp_path / "empty.rec", "r") as reader:
        assert reader.keys == [] and reader.read() is None


@pytest.fixture
def numbered(tmp_path):
    """A set of 4 shards of 5 images, packed from a folder."""
    for i in range(20):
        place = tmp_path / "photos" / "abcd"[i % 4]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(jpeg(make_image(i)))
    (tmp_path / "set").mkdir()
    imrec.pack(tmp_path / "photos", tmp_path / "set" / "train.rec", pass_through=True, shards=4)
    return tmp_path / "set"


def sizes(call):
    """How many images it sees."""
    return {imrec.info: lambda out: out["images"], imrec.verify: lambda out: out["images"]}.get(call, len)


def count(path, **more):
    with open_iter(path, last_batch="partial", **more) as it:
        return range(sum(batch.count for batch in it))


WAYS = ("set", "set/*.rec", "set/train.manifest.json")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("call", [imrec.open, imrec.info, imrec.verify, count])
def test_a_missing_shard_is_an_error_and_allow_missing_a_warning(numbered, way, call, caplog):
    path = str(numbered.parent / way)
    with caplog.at_level(logging.WARNING, "imrec"):
        assert sizes(call)(call(path)) == 20
    assert not caplog.records
    (numbered / "train-00002-of-00004.rec").unlink()
    if call is imrec.verify:
        found = call(path)["findings"]
        assert [f["kind"] for f in found] == ["set"] and "train-00002-of-00004.rec" in found[0]["reason"]
    else:
        with pytest.raises(imrec.StorageError, match="1 is missing: train-00002-of-00004.rec") as caught:
            call(path)
        assert caught.value.errno == errno.ENOENT
    with caplog.at_level(logging.WARNING, "imrec"):
        out = call(path, allow_missing=True)
    assert sizes(call)(out) == 15
    assert call is not imrec.verify or out["findings"] == []
    assert any("1 is missing: train-00002-of-00004.rec" in r.getMessage() for r in caplog.records)


def test_a_list_is_read_as_it_is_with_a_warning(numbered, caplog):
    some = [numbered / f"train-0000{i}-of-00004.rec" for i in (0, 3)]
    with caplog.at_level(logging.WARNING, "imrec"):
        assert len(imrec.open(some)) == 10
    assert "2 are not listed: train-00001-of-00004.rec, train-00002-of-00004.rec" in caplog.text


def test_names_say_what_is_missing_where_there_is_no_manifest(numbered):
    (numbered / "train.manifest.json").unlink()
    assert imrec.verify(numbered)["findings"] == []
    (numbered / "train-00003-of-00004.rec").unlink()
    found = imrec.verify(sorted(numbered.glob("*.rec")))["findings"]
    assert len(found) == 1 and "1 is missing: train-00003-of-00004.rec" in found[0]["reason"]
    with pytest.raises(imrec.StorageError, match="its name says 4 shards"):
        open_iter(numbered)


# ---- insightface's train.rec ---------------------------------------------------------------------------------------

SIZES = [4, 1, 3, 5]


@pytest.fixture(params=["indexed", "bare"])
def faces(request, tmp_path):
    """As the script of insightface writes it: images 1 to N, a header of key 0, identities from N + 1 on."""
    key, rows = 1, []
    for who, size in enumerate(SIZES):
        rows += [(key + i, [who, 1], jpeg(make_image(key + i))) for i in range(size)]
        key += size
    ranges, first = [], 1
    for i, size in enumerate(SIZES):
        ranges.append((key + i, [first, first + size], b""))
        first += size
    path = tmp_path / "train.rec"
    write_shard(path, [*rows, (0, [key, key + len(SIZES)], b""), *ranges], index=request.param == "indexed")
    return path


@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_hold_the_images(faces, shuffle):
    index = faces.with_suffix(".idx")
    ways = [{}, {"path_imgidx": index}] if index.exists() else [{}]
    for way in ways:
        with open_iter(faces, label_width=2, shuffle=shuffle, last_batch="partial", **way) as it:
            assert len(it) == 2
            batches = list(it)
        ids = np.concatenate([b.ids for b in batches])
        assert sorted(ids) == list(range(1, 1 + sum(SIZES))) and all(b.valid.all() for b in batches)


def test_records_by_number_are_the_images_and_mxnets_reader_sees_all(faces):
    records = imrec.open(faces)
    assert [r.id for r in records] == list(range(1, 1 + sum(SIZES))) and all(r.image for r in records)
    with MXRecordIO(faces, "r") as reader:
        heads = [struct.unpack("<IfQQ", s[:24]) for s in iter(reader.read, None)]
    assert len(heads) == sum(SIZES) + 1 + len(SIZES) and heads[sum(SIZES)][2] == 0


def test_card_and_verify_show_identities(faces):
    card = imrec.info(faces)
    assert card["identities"] == 4 and card["metadata"] == 5 and card["images"] == 13 and not card["unreadable"]
    assert card["images_per_identity"] == {"min": 1, "median": 3, "max": 5}
    result = imrec.verify(faces)
    assert result["findings"] == [] and result["metadata"] == 5 and result["decoded"] == 13


def test_a_record_of_two_labels_without_an_image_is_a_damaged_sample(tmp_path):
    path = write_shard(tmp_path / "pairs.rec", [(i, [1, 3], b"" if i == 0 else jpeg(make_image(i))) for i in range(8)])
    assert imrec.info(path)["metadata"] == 0 and imrec.info(path)["unreadable"] == 1 and len(imrec.open(path)) == 8
    with open_iter(path, label_width=2) as it, pytest.raises(imrec.DataError):
        next(it)


def test_loader_and_data_set_have_the_images(faces):
    pytest.importorskip("torch")
    from imrec.torch import Dataset, Loader

    data = Dataset(faces)
    assert len(data) == 13 and all(image.shape[0] == 3 for image, _ in data)
    with Loader(faces, batch_size=4, data_shape=(3, 16, 16), label_width=2, preprocess_threads=1) as loader:
        assert sum(len(labels) for _, labels in loader) == 13
