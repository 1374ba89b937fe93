"""Opening: files that are no shards, sets without a record, missing shards."""
import errno
import logging

import pytest

import imrec
from conftest import jpeg, picture
from imrec.recordio import MXIndexedRecordIO, MXRecordIO
from tests_support import open_iter

KINDS = {
    "photo.jpg": (jpeg(picture(1)), "is a JPEG image, not a RecordIO shard"),
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
        (place / f"{i}.jpg").write_bytes(jpeg(picture(i)))
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
