"""imrec.InputSplit: lines and records of parts, chunks, places."""
import os
import pickle

import pytest

import imrec
from imrec.recordio import MXIndexedRecordIO
from tests_support import shared

LINES = [f"{i}\t{i * 7}\timage_{i:03}.jpg".encode() for i in range(500)]


@pytest.fixture
def lists(tmp_path):
    (tmp_path / "b.lst").write_bytes(b"\n".join(LINES[300:]))
    (tmp_path / "a.lst").write_bytes(b"\r\n".join(LINES[:300]) + b"\r\n\r\n")
    return tmp_path


@pytest.fixture
def records(tmp_path):
    made = [os.urandom(i % 90) for i in range(200)]
    made[5] = b"1234\x0a\x23\xd7\xce\x0a\x23\xd7\xce5678"
    with MXIndexedRecordIO(str(tmp_path / "r.idx"), str(tmp_path / "r.rec"), "w") as out:
        for i, data in enumerate(made):
            out.write_idx(i, data)
    return str(tmp_path / "r.rec"), made


@pytest.mark.parametrize("parts", [1, 3, 7, 400])
def test_parts_of_lines_are_all_lines_in_order(lists, parts):
    read = [line for part in range(parts) for line in imrec.InputSplit(lists, part, parts, chunk_bytes=1024)]
    assert read == LINES
    assert [line for line in imrec.InputSplit([lists / "a.lst", f"file://{lists}/b.*"])] == LINES


@pytest.mark.parametrize("kind", ["recordio", "indexed_recordio"])
def test_records_with_and_without_an_index(records, kind):
    uri, made = records
    assert [r for part in range(4) for r in imrec.InputSplit(uri, part, 4, kind)] == made
    split = imrec.InputSplit(uri, type=kind, shuffle=True, seed=3, chunk_bytes=512)
    first, second = list(split), list(split)
    assert first != made and second != first and sorted(first) == sorted(second) == sorted(made)
    assert list(imrec.InputSplit(uri, type=kind, shuffle=True, seed=3, chunk_bytes=512, threads=5, prefetch=9)) == first


def test_loops_continue_and_begin_again(lists):
    split = imrec.InputSplit(lists)
    assert next(split) == LINES[0]
    assert list(split) == LINES[1:]
    assert list(split) == LINES
    next(iter(split))
    split.rewind()
    assert next(split) == LINES[0]


def test_chunks_are_the_bytes_of_the_files(lists):
    split = imrec.InputSplit(lists, chunk_bytes=4096)
    chunks = list(split.chunks())
    assert len(chunks) > 3 and b"".join(chunks) == b"".join((lists / n).read_bytes() for n in ("a.lst", "b.lst"))
    next(split.chunks())
    assert len(list(split.chunks())) == len(chunks) - 1


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_position_continues_elsewhere(lists, shuffle):
    options = {"part_index": 1, "num_parts": 2, "shuffle": shuffle, "chunk_bytes": 512}
    split = imrec.InputSplit(lists, **options)
    for _ in range(77):
        next(split)
    place, copy = split.position(), pickle.loads(pickle.dumps(split))
    rest = list(split)
    other = imrec.InputSplit(lists, threads=4, **options)
    other.restore(place)
    assert list(other) == list(copy) == rest
    with pytest.raises(imrec.ArgumentError, match="num_parts=2, this split has num_parts=3"):
        imrec.InputSplit(lists, 1, 3, shuffle=shuffle, chunk_bytes=512).restore(place)


def test_another_part_of_the_same_split(lists):
    split = imrec.InputSplit(lists)
    next(split)
    read = []
    for part in range(3):
        split.reset_partition(part, 3)
        read += split
    assert read == LINES
    with pytest.raises(imrec.ArgumentError, match="part_index is 3; it is 0 to 2"):
        split.reset_partition(3, 3)
    assert pickle.loads(pickle.dumps(split)).position() == split.position()


def test_damage_is_raised_or_counted(records):
    uri, made = records
    with open(uri, "r+b") as file:
        file.seek(0)
        file.write(b"damage!!")
    split = imrec.InputSplit(uri, type="recordio")
    with pytest.raises(imrec.DataError, match="r.rec: bytes 0 to ") as error:
        next(split)
    assert error.value.offset == 0 and error.value.shard == uri
    assert list(split) == made[1:] and split.lost == 1
    skipping = imrec.InputSplit(uri, type="recordio", on_error="skip")
    assert list(skipping) == made[1:] and skipping.lost == 1


@pytest.mark.parametrize("arguments, words", [
    ({"type": "lines"}, "type='lines': it must be 'text' or"), ({"on_error": "replace"}, "on_error='replace'"),
    ({"part_index": -1}, "part_index=-1"), ({"part_index": 1}, "part_index is 1; it is 0 to 0"),
    ({"threads": 2**32}, "threads=4294967296"), ({"num_parts": 1.5}, "num_parts=1.5"),
    ({"type": "recordio"}, "a.lst"), ({"index_uri": "a.idx"}, "index_uri is for type indexed_recordio")])
def test_what_is_wrong_is_named(lists, arguments, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        imrec.InputSplit(lists / "a.lst", **arguments)


def test_what_is_missing_or_closed_is_named(lists):
    with pytest.raises(imrec.MissingFileError):
        imrec.InputSplit(lists / "none")
    split = imrec.InputSplit(lists)
    split.close()
    split.close()
    with pytest.raises(imrec.CancelledError):
        next(split)


def test_images_of_the_shared_set(tmp_path):
    """Records of RecordIO as dmlc-core delivers them: unpack() takes them."""
    rec = shared("vectors/mxnet/split/magic.rec")
    read = [r for part in range(5) for r in imrec.InputSplit(rec, part, 5, "recordio")]
    assert read == list(imrec.InputSplit(rec, type="recordio")) and len(read) == 34
