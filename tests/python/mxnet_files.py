"""RecordIO, with MXNet: it writes the kept sets again; what either writes the other reads, and both write the same bytes. tests/long
mxnet runs it."""
import json
import random
import subprocess
import sys

import mxnet as mx
import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png
from imrec import recordio
from test_mxnet_sets import KEPT, make

COUNT = 12


def test_the_kept_sets_are_written_again(tmp_path):
    (tmp_path / "again").mkdir()
    make.write_all(tmp_path / "again", tmp_path / "photos")
    kept = [path.name for path in KEPT.iterdir() if path.suffix in (".rec", ".idx", ".lst")]
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == sorted(kept) and len(kept) == 16
    for name in kept:
        assert (tmp_path / "again" / name).read_bytes() == (KEPT / name).read_bytes(), name


def random_payload(rng):
    pieces = [rng.choice([make.MAGIC, rng.randbytes(rng.randrange(9)), b"\0" * rng.randrange(9)]) for _ in range(rng.randrange(9))]
    return b"".join(pieces)


def read_with(module, idx, rec):
    reader = module.MXIndexedRecordIO(str(idx), str(rec), "r")
    by_key = [reader.read_idx(key) for key in reader.keys]
    reader.close()
    return reader.keys, by_key


def test_records_of_any_bytes_are_the_same(tmp_path):
    rng = random.Random(5)
    records = [(key, random_payload(rng)) for key in rng.sample(range(10**9), 2000)]
    for name, module in ("theirs", mx.recordio), ("ours", recordio):
        out = module.MXIndexedRecordIO(str(tmp_path / f"{name}.idx"), str(tmp_path / f"{name}.rec"), "w")
        for key, data in records:
            out.write_idx(key, data)
        out.close()
    for end in ("rec", "idx"):
        assert (tmp_path / f"ours.{end}").read_bytes() == (tmp_path / f"theirs.{end}").read_bytes()
    wanted = [key for key, _ in records], [data for _, data in records]
    for reader, name in (mx.recordio, "ours"), (recordio, "theirs"):
        assert read_with(reader, tmp_path / f"{name}.idx", tmp_path / f"{name}.rec") == wanted


def test_headers_are_the_same():
    rng = random.Random(6)
    for _ in range(2000):
        label = rng.choice([rng.randrange(2**24), rng.uniform(-9, 9), [rng.uniform(-9, 9) for _ in range(rng.randrange(1, 9))]])
        header = rng.choice([0, 0, 5]), label, rng.randrange(2**64), rng.randrange(2**64)
        image = random_payload(rng)
        packed = mx.recordio.pack(mx.recordio.IRHeader(*header), image)
        assert recordio.pack(recordio.IRHeader(*header), image) == packed
        ours, theirs = recordio.unpack(packed), mx.recordio.unpack(packed)
        assert ours[1] == theirs[1] == image and ours[0][2:] == theirs[0][2:] and ours[0].flag == theirs[0].flag
        assert np.array_equal(ours[0].label, theirs[0].label)


@pytest.fixture
def packed(tmp_path):
    """A set with fields, and one with masks and fields."""
    for folder in ("photos", "masks"):
        (tmp_path / folder / "a").mkdir(parents=True)
    for i in range(COUNT):
        pixels = make_image(i)
        at = tmp_path / "photos" / "a" / f"{i:02d}"
        at.with_suffix(".jpg").write_bytes(jpeg(pixels))
        at.with_suffix(".txt").write_text(f"sample {i}")
        at.with_suffix(".json").write_text(json.dumps({"i": i, "bytes": make.MAGIC.hex() * i}))
        (tmp_path / "masks" / "a" / f"{i:02d}.png").write_bytes(png(pixels[:, :, 0] % 7))
    common = [sys.executable, "-m", "imrec", "im2rec", "--quiet", "--pass-through"]
    subprocess.run([*common, tmp_path / "photos", tmp_path / "plain.rec"], check=True)
    subprocess.run([*common, "--fields", "txt,json", tmp_path / "photos", tmp_path / "fields.rec"], check=True)
    subprocess.run([*common, "--masks", tmp_path / "masks", tmp_path / "photos", tmp_path / "masks.rec"], check=True)
    return tmp_path


def mxnet_batches(path):
    batches = mx.io.ImageRecordIter(path_imgrec=str(path), data_shape=(3, 16, 16), batch_size=4, preprocess_threads=1)
    return [(batch.data[0].asnumpy(), batch.label[0].asnumpy().ravel()) for batch in batches]


@pytest.mark.parametrize("name", ["plain", "fields", "masks"])
def test_mxnet_reads_what_im2rec_has_packed(packed, name):
    extra = {"fields": {"fields": "txt,json"}, "masks": {"masks": "uint8"}}.get(name, {})
    with imrec.ImageRecordIter(packed / f"{name}.rec", data_shape=(3, 16, 16), batch_size=4, **extra) as batches:
        ours = [(batch.data.astype(np.float32), batch.labels.astype(np.float32)) for batch in batches]
    theirs = mxnet_batches(packed / f"{name}.rec")
    assert len(ours) == len(theirs) == COUNT // 4
    for (data, labels), (their_data, their_labels) in zip(ours, theirs):
        assert np.array_equal(data, their_data) and np.array_equal(labels, their_labels)


@pytest.mark.parametrize("name", ["fields", "masks"])
def test_mxnet_decodes_images_in_front_of_fields_and_masks(packed, name):
    keys, plain = read_with(mx.recordio, packed / "plain.idx", packed / "plain.rec")
    more_keys, more = read_with(mx.recordio, packed / f"{name}.idx", packed / f"{name}.rec")
    assert keys == more_keys and len(keys) == COUNT
    for one, other in zip(plain, more):
        assert len(other) > len(one)  # what follows the image
        header, image = mx.recordio.unpack_img(one)
        other_header, other_image = mx.recordio.unpack_img(other)
        assert header == other_header and np.array_equal(image, other_image)


@pytest.mark.parametrize("name", ["images", "faces", "sorted", "passed", "coded", "labels"])
def test_images_are_decoded_alike(name):
    for record in map(recordio.unpack, read_with(mx.recordio, KEPT / f"{name}.idx", KEPT / f"{name}.rec")[1]):
        if not record[1]:
            continue  # of faces: an identity
        data = recordio.pack(recordio.IRHeader(0, 0, 0, 0), record[1])
        ours, theirs = recordio.unpack_img(data)[1].astype(int), mx.recordio.unpack_img(data)[1]
        assert np.array_equal(ours, theirs) if record[1].startswith(b"\x89PNG") else abs(ours - theirs).max() <= 2
