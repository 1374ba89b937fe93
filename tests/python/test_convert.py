"""imrec.convert(): records into archives, TFRecord files and records, in one file and in several."""
import tarfile

import pytest

import imrec


def same(a, b):
    x, y = ([(r.id, r.labels.tolist(), bytes(r.image)) for r in imrec.open(path)] for path in (a, b))
    return len(x) == 37 and x == y


def test_records_come_back_from_archives_in_shards(shard, tmp_path):
    told = []
    result = imrec.convert(shard, tmp_path / "a.tar", shards=3, progress=told.append)
    assert result["records"] == 37 and result["shards"] == 3 and result["findings"] == [] and result["left_out"] == 0
    assert told[-1]["records"] == result["records"]
    names = sorted(p.name for p in tmp_path.glob("*.tar"))
    assert names == [f"a-0000{k}-of-00003.tar" for k in range(3)]
    with tarfile.open(tmp_path / names[0]) as archive:
        assert archive.getnames()[0] == "000000000.jpg"
    back = imrec.convert(tmp_path / "a-*.tar", tmp_path / "b.rec")
    assert back["shards"] == 1 and same(shard, tmp_path / "b.rec")


def test_a_range_and_a_size_write_several_files(shard, tmp_path):
    result = imrec.convert(shard, f"{tmp_path}/a-{{0..1}}.tfrecord")
    assert result["shards"] == 2 and (tmp_path / "a-1.tfrecord").exists()
    sized = imrec.convert(shard, tmp_path / "b.tfrecord", shard_size=result["bytes"] // 4)
    assert sized["shards"] >= 4 and sized["bytes"] == result["bytes"]


def test_damage_ends_it_or_is_left_out(shard, tmp_path):
    imrec.convert(shard, tmp_path / "a.tfrecord")
    whole = bytearray((tmp_path / "a.tfrecord").read_bytes())
    whole[100] ^= 1
    (tmp_path / "a.tfrecord").write_bytes(whole)
    with pytest.raises(imrec.DataError, match="checksum"):
        imrec.convert(tmp_path / "a.tfrecord", tmp_path / "b.tar")
    assert not list(tmp_path.glob("b*"))
    result = imrec.convert(tmp_path / "a.tfrecord", tmp_path / "b.tar", on_error="skip")
    assert result["left_out"] == 1 and result["findings"][0]["begin"] == 0


@pytest.mark.parametrize("output, more, words", [
    ("b.zip", {}, "written into .tar"), ("b.tar", {"shards": 2, "shard_size": 9}, "say the same twice"),
    ("b.tar", {"on_error": "replace"}, "it must be 'stop' or 'skip'"), ("b.rec", {}, "is a RecordIO shard already")])
def test_what_cannot_be_converted_is_refused(shard, tmp_path, output, more, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        imrec.convert(shard, tmp_path / output, **more)
    assert not list(tmp_path.iterdir())
