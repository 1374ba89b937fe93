"""imrec.recordio against what the original wrote, and where it is better."""
import hashlib
import json
import multiprocessing
import os
import pickle
import struct

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image
from imrec.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO, pack, pack_img, unpack, unpack_img
from tests_support import shared

RECORDS = [b"", b"a", b"four", b"\x0a\x23\xd7\xce", b"12345678\x0a\x23\xd7\xce" * 3 + b"xy", os.urandom(70000)]


@pytest.fixture
def written(tmp_path):
    idx, rec = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    with MXIndexedRecordIO(idx, rec, "w") as out:
        for i, data in enumerate(RECORDS):
            out.write_idx(10 - i, data)
    return idx, rec


def test_what_is_written_is_read(written):
    idx, rec = written
    assert list(MXRecordIO(rec, "r")) == RECORDS
    reader = MXIndexedRecordIO(idx, rec, "r")
    assert reader.keys == [10, 9, 8, 7, 6, 5]
    for i in (3, 0, 5, 5, 2):
        assert reader.read_idx(10 - i) == RECORDS[i]
        assert reader.read() == (RECORDS[i + 1] if i < 5 else None)
    reader.seek(7)
    assert [reader.read(), reader.read()] == RECORDS[3:5]
    reader.reset()
    assert reader.read() == RECORDS[0]


def test_a_reader_at_the_end_still_seeks(written):
    reader = MXIndexedRecordIO(*written, "r")
    assert len(list(reader)) == 6 and reader.read() is None
    assert reader.read_idx(9) == b"a"


def test_keys_of_any_type_that_come_again(tmp_path):
    paths = tmp_path / "s.idx", tmp_path / "s.rec"
    with MXIndexedRecordIO(*paths, "w", key_type=str) as out:
        for key, data in (("cat one", b"1"), ("dog", b"2"), ("cat one", b"3")):
            out.write_idx(key, data)
        with pytest.raises(ValueError, match="cannot be a key"):
            out.write_idx("a\tb", b"")
    reader = MXIndexedRecordIO(*paths, "r", key_type=str)
    assert reader.keys == ["cat one", "dog", "cat one"]
    assert [reader.read_idx(k) for k in ("cat one", "dog")] == [b"3", b"2"]
    with pytest.raises(KeyError):
        reader.read_idx("mouse")
    with pytest.raises(imrec.CorruptError, match="line 1"):
        MXIndexedRecordIO(*paths, "r")


def test_a_file_has_its_name_when_it_is_whole(tmp_path):
    paths = tmp_path / "a.idx", tmp_path / "a.rec"
    out = MXIndexedRecordIO(*paths, "w")
    out.write_idx(0, b"x")
    assert out.tell() == 12 and not any(map(os.path.exists, paths))
    with pytest.raises(RuntimeError), out:
        raise RuntimeError("no")
    assert os.listdir(tmp_path) == []
    out.open()
    out.write_idx(3, b"y")
    out.close()
    out.close()
    assert paths[0].read_text() == "3\t0\n" and list(MXRecordIO(paths[1], "r")) == [b"y"]


def test_what_is_asked_of_the_wrong_kind_is_refused(written):
    idx, rec = written
    with pytest.raises(ValueError, match="'a'"):
        MXRecordIO(rec, "a")
    reader = MXIndexedRecordIO(idx, rec, "r")
    for call in (lambda: reader.write(b""), reader.tell, lambda: reader.write_idx(0, b"")):
        with pytest.raises(ValueError, match="reading"):
            call()
    reader.close()
    with pytest.raises(imrec.CancelledError):
        reader.read()
    with pytest.raises(imrec.Error, match="nothere"):
        MXRecordIO("nothere.rec", "r")


def test_damage_is_an_error_and_reading_goes_on(tmp_path, written):
    idx, rec = written
    data = bytearray(open(rec, "rb").read())
    data[8:12] = b"\0\0\0\0"  # the second record's head
    with open(rec, "wb") as f:
        f.write(data)
    reader = MXIndexedRecordIO(idx, rec, "r")
    assert reader.read() == b""
    with pytest.raises(imrec.DataError, match="a.rec"):
        reader.read()
    assert reader.read() == b"four"
    with pytest.raises(imrec.CorruptError, match="byte 8"):
        reader.read_idx(9)


def test_pickled_readers_go_on_where_they_were(written):
    reader = MXIndexedRecordIO(*written, "r")
    assert next(iter(pickle.loads(pickle.dumps(reader)))) == RECORDS[0]
    reader.read(), reader.read()
    again = pickle.loads(pickle.dumps(reader))
    assert again.read() == reader.read() == RECORDS[2]
    again.seek(6)
    assert pickle.loads(pickle.dumps(again)).read() == RECORDS[4]
    reader.close()
    assert not pickle.loads(pickle.dumps(reader)).is_open


def test_a_writer_is_not_pickled(tmp_path):
    with MXRecordIO(tmp_path / "a.rec", "w") as out, pytest.raises(TypeError, match="empty it"):
        pickle.dumps(out)


def _in_child(reader, writer, out):
    try:
        writer.write(b"child")
        out.put("written")
    except imrec.ForkedError:
        out.put([reader.read(), reader.read_idx(5), reader.read()])
    writer.close()


def test_a_forked_child_reads_on_and_leaves_its_parents_writer_alone(tmp_path, written):
    context = multiprocessing.get_context("fork")
    reader, out = MXIndexedRecordIO(*written, "r"), context.Queue()
    reader.read()
    with MXRecordIO(tmp_path / "w.rec", "w") as writer:
        writer.write(b"before")
        child = context.Process(target=_in_child, args=(reader, writer, out))
        child.start()
        assert out.get(timeout=60) == [RECORDS[1], RECORDS[5], None]
        child.join()
        writer.write(b"after")
        assert reader.read() == RECORDS[1]
    assert list(MXRecordIO(tmp_path / "w.rec", "r")) == [b"before", b"after"]


@pytest.mark.parametrize("label", [3, 2.5, np.float32(1.5), np.int64(7)])
def test_single_labels_are_in_the_header(label):
    header, content = unpack(pack((9, label, 2**64 - 1, 5), b"jpg"))
    assert header == (0, float(label), 2**64 - 1, 5) and content == b"jpg"


@pytest.mark.parametrize("label", [[1, 2], (0.5,), np.arange(6, dtype=np.float64).reshape(2, 3), []])
def test_arrays_of_labels_are_behind_it(label):
    header, content = unpack(pack(IRHeader(0, label, 1, 0), memoryview(b"jpg")))
    assert header.flag == np.size(label) and content == b"jpg"
    assert np.array_equal(np.ravel(header.label), np.ravel(label) if np.size(label) else [0])


def test_records_too_short_or_out_of_range_are_refused():
    with pytest.raises(imrec.CorruptError, match="24 bytes"):
        unpack(b"short")
    with pytest.raises(imrec.CorruptError, match="5 labels"):
        unpack(struct.pack("<IfQQ", 5, 0, 0, 0) + b"1234")
    for header in ((0, 0, -1, 0), (0, 1e300, 0, 0), (0, 0, 0.5, 0)):
        with pytest.raises(ValueError, match="does not fit"):
            pack(header, b"")


@pytest.mark.parametrize("shape", [(20, 30), (20, 30, 1), (20, 30, 3), (20, 30, 4)])
def test_png_keeps_pixels(shape):
    pixels = np.random.default_rng(1).integers(0, 255, shape).astype(np.uint8)
    header, out = unpack_img(pack_img(IRHeader(0, 4.0, 2, 0), pixels, quality=9, img_fmt=".png"))
    assert header.label == 4 and np.array_equal(out, pixels.reshape(out.shape))
    assert out.ndim == (2 if np.prod(shape) == 600 else 3)


def test_jpeg_is_blue_green_red():
    pixels = np.zeros((32, 32, 3), np.uint8)
    pixels[:, :, 0] = 250
    low, high = (pack_img((0, 0, 0, 0), pixels + np.arange(32, dtype=np.uint8)[:, None, None] % 5, quality=q) for q in (20, 95))
    assert len(low) < len(high)
    assert unpack_img(high)[1].mean((0, 1)).argmax() == 0
    assert unpack_img(high, iscolor=0)[1].shape == (32, 32)
    red = imrec.decode(unpack(high)[1])
    assert red.mean((0, 1)).argmax() == 2
    assert np.array_equal(unpack_img(pack((0, 0, 0, 0), jpeg(make_image(3))), 1)[1][:, :, ::-1], imrec.decode(jpeg(make_image(3))))
    for what in (lambda: pack_img((0, 0, 0, 0), pixels, img_fmt=".bmp"), lambda: pack_img((0, 0, 0, 0), pixels / 2),
                 lambda: unpack_img(high, 7)):
        with pytest.raises(ValueError):
            what()


# ---- the original's files ----------------------------------------------------------------------------------------------

def _vector(name):
    folder = shared("vectors/mxnet")
    return folder, json.loads((folder / f"{name}.json").read_text())


def test_records_around_the_magic_are_the_originals(tmp_path):
    folder, facts = _vector("magic")
    reader = MXIndexedRecordIO(folder / "magic.idx", folder / "magic.rec", "r")
    with MXIndexedRecordIO(tmp_path / "m.idx", tmp_path / "m.rec", "w") as out:
        for fact in facts["records"]:
            data = reader.read_idx(fact["key"])
            assert (len(data), hashlib.sha256(data).hexdigest()) == (fact["size"], fact["sha256"]), fact["name"]
            out.write_idx(fact["key"], data)
    assert len(list(MXRecordIO(folder / "magic.rec", "r"))) == len(facts["records"])
    for ours, theirs in (("m.rec", "sha256"), ("m.idx", "idx_sha256")):
        assert hashlib.sha256((tmp_path / ours).read_bytes()).hexdigest() == facts[theirs]


def test_headers_are_the_originals(tmp_path):
    folder, facts = _vector("pack")
    reader = MXIndexedRecordIO(folder / "pack.idx", folder / "pack.rec", "r")
    with MXIndexedRecordIO(tmp_path / "p.idx", tmp_path / "p.rec", "w") as out:
        for fact in facts["records"]:
            data = reader.read_idx(fact["key"])
            assert hashlib.sha256(data).hexdigest() == fact["packed_sha256"]
            header, content = unpack(data)
            bits = [f"{v:08x}" for v in np.atleast_1d(np.float32(header.label)).view(np.uint32)]
            assert bits == fact["unpacked"]["label_bits"] and header.flag == fact["unpacked"]["flag"], fact["name"]
            assert (str(header.id), str(header.id2)) == (fact["header"]["id"], fact["header"]["id2"])
            out.write_idx(fact["key"], pack(header, content))
    assert (tmp_path / "p.rec").read_bytes() == (folder / "pack.rec").read_bytes()
    assert (tmp_path / "p.idx").read_bytes() == (folder / "pack.idx").read_bytes()


@pytest.mark.parametrize("name", ["256", "crop128", "gray", "multi", "pass", "png"])
def test_what_im2rec_packed_is_read(name):
    folder, facts = _vector(f"im2rec_im4_{name}")
    folder = folder / f"im2rec_im4_{name}"
    reader = MXIndexedRecordIO(folder / "a.idx", folder / "a.rec", "r")
    assert len(reader.keys) == len(facts["records"])
    for key, fact in zip(reader.keys, facts["records"]):
        header, content = unpack(reader.read_idx(key))
        assert (header.flag, header.id, reader.idx[key]) == (fact["flag"], fact["id"], fact["offset"])
        assert np.array_equal(np.atleast_1d(header.label), np.atleast_1d(np.float32(fact["label"])))
        assert hashlib.sha256(content).hexdigest() == fact["content_sha256"]
        assert list(unpack_img(reader.read_idx(key))[1].shape) == fact["shape"]


@pytest.mark.parametrize("label", [2**24 + 1, -(2**24) - 1, np.int64(2**24 + 1), 16777217.0, 10**30, 10**400, 1e40, 2**31 - 1,
                                   [1, 2**24 + 1], np.array([0.5, 2**25 + 1]), np.array([2**63 - 1])])
def test_a_whole_label_that_float32_changes_is_refused(label):
    for call in (pack, lambda header, _: pack_img(header, np.zeros((2, 2, 3), np.uint8))):
        with pytest.raises(imrec.ArgumentError, match="exactly up to 16,777,216"):
            call((0, label, 1, 0), b"")


@pytest.mark.parametrize("label", [None, "x", "3", [1, None], ["1"], np.array(["a"]), 1j, {}])
def test_a_label_that_is_no_number_is_refused_and_named(label):
    with pytest.raises(imrec.ArgumentError, match="the label .* is not a number: ") as raised:
        pack((0, label, 1, 0), b"")
    assert repr(label) in str(raised.value)


@pytest.mark.parametrize("label", [2**24, 2**24 + 2, -(2**24), 2**53, 0.1, 1e9 + 0.5, [2**24, 0.3], np.float32(3e9),
                                   np.float32([3e9]), float("nan"), float("inf"), 7, True, []])
def test_labels_that_float32_holds_and_fractions_are_packed(label):
    header, _ = unpack(pack((0, label, 1, 0), b"x"))
    expected = 0.0 if isinstance(label, list) and not label else label
    assert np.array_equal(np.float32(header.label), np.float32(expected), equal_nan=True)
