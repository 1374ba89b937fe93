"""Archives that the package webdataset itself has written are read in place: images, labels, fields, order, text."""
import json
import subprocess
import sys
import tarfile

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png

webdataset = pytest.importorskip("webdataset", reason="no webdataset: tools/dev/python_venv installs it")

CAPTIONS = ["a cat", "zwei Hunde: ä", "", "x" * 3000]


@pytest.fixture
def shards(tmp_path):
    with webdataset.ShardWriter(str(tmp_path / "train-%06d.tar"), maxcount=5, verbose=0) as sink:
        for i in range(12):
            sink.write({"__key__": f"n{i // 4:02d}/{i:05d}", "jpg": jpeg(make_image(i)), "cls": i % 3, "json": {"a": {"class": [i, 7]}},
                        "txt": CAPTIONS[i % 4], "npy": np.arange(i)})
    return tmp_path


def read(path, **more):
    with imrec.ImageRecordIter(path, data_shape=(3, 16, 16), batch_size=5, last_batch="partial", **more) as batches:
        return [batch for batch in batches]


def test_a_line_reads_a_folder_of_archives(shards):
    batches = read(shards)
    assert [len(batch.ids) for batch in batches] == [5, 5, 2]
    assert np.concatenate([batch.ids for batch in batches]).tolist() == list(range(12))
    assert np.concatenate([batch.labels for batch in batches]).tolist() == [i % 3 for i in range(12)]
    assert np.concatenate([batch.data for batch in read(f"{shards}/train-{{000000..000002}}.tar")]).tobytes() == \
        np.concatenate([batch.data for batch in batches]).tobytes()


def test_fields_are_what_was_written(shards):
    for batch in read(shards, fields="txt,json,npy,mask?", shuffle=True, seed=3):
        for i, text, meta, array, mask in zip(batch.ids.tolist(), batch.text("txt"), batch["json"], batch["npy"], batch["mask"]):
            assert text == CAPTIONS[i % 4] and json.loads(meta) == {"a": {"class": [i, 7]}} and mask is None
            assert array.startswith(b"\x93NUMPY")


def test_labels_are_numbers_in_json(shards):
    batch = read(shards, label="json:a.class", label_width=2)[1]
    assert batch.labels.tolist() == [[i, 7] for i in range(5, 10)]
    batch = read(shards, label="json:a.class.0", label_offset=-5, dtype_label="int64")[1]
    assert batch.labels.dtype == np.int64 and batch.labels.tolist() == list(range(5))
    assert read(shards, label="none")[0].labels.tolist() == [0] * 5


def test_text_that_is_not_utf8_is_an_error_that_names_the_sample(tmp_path):
    with webdataset.TarWriter(str(tmp_path / "a.tar")) as sink:
        sink.write({"__key__": "a", "jpg": jpeg(make_image(1)), "cls": 0, "txt": b"ok\xff"})
    batch, = read(tmp_path / "a.tar", fields="txt")
    assert batch["txt"] == [b"ok\xff"]
    with pytest.raises(imrec.DataError, match="'txt' of the sample with id 0 is not UTF-8: invalid start byte at byte 2 of 3"):
        batch.text("txt")


def test_dropped_slots_take_their_fields_along(tmp_path):
    with webdataset.TarWriter(str(tmp_path / "a.tar")) as sink:
        for i in range(5):
            sink.write({"__key__": str(i), "jpg": jpeg(make_image(i)) if i != 1 else b"none", "cls": i, "txt": str(i)})
    batch, = read(tmp_path / "a.tar", fields="txt", on_error="skip")
    assert batch.labels.tolist() == [0, 2, 3, 4] and batch.text("txt") == ["0", "2", "3", "4"]


def test_records_of_an_archive_have_its_files(shards):
    for i, record in enumerate(imrec.Records(shards)):
        assert list(record.fields) == ["cls", "json", "npy", "txt"] and record.fields["txt"].decode() == CAPTIONS[i % 4]


def test_merged_archives_are_records_with_the_same_parts(shards, tmp_path):
    subprocess.run([sys.executable, "-m", "imrec", "merge", *sorted(shards.glob("*.tar")), "--renumber", tmp_path / "all.rec"], check=True)
    for i, (packed, there) in enumerate(zip(imrec.Records(tmp_path / "all.rec"), imrec.Records(shards))):
        assert (packed.id, packed.image, packed.label, packed.fields) == (i, there.image, there.label, there.fields)
    assert i == 11 and imrec.verify(tmp_path / "all.rec")["findings"] == []
    for batch in read(tmp_path / "all.rec", fields="txt", path_imgidx="auto", shuffle=True):
        assert batch.text("txt") == [CAPTIONS[i % 4] for i in batch.ids.tolist()]


def test_cbf_files_keep_the_fields_of_an_archive(shards, tmp_path):
    subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--quiet", "--format", "cbf", "--no-shuffle", "--pass-through", "--fields",
                    "txt,json", *sorted(shards.glob("*.tar")), tmp_path / "all.cbf"], check=True)
    for packed, there in zip(imrec.Records(tmp_path / "all.cbf"), imrec.Records(shards), strict=True):
        assert (packed.image, packed.label) == (there.image, there.label)
        assert packed.fields == {name: there.fields[name] for name in ("txt", "json")}
    assert imrec.verify(tmp_path / "all.cbf")["findings"] == []
    for batch in read(tmp_path / "all.cbf", fields="txt", shuffle=True):
        assert batch.text("txt") == [CAPTIONS[i % 4] for i in batch.ids.tolist()]


def test_names_of_fields_may_be_a_list(shards):
    assert list(read(shards, fields=["txt", "json?"])[0].fields) == ["txt", "json"]


def members(path):
    with tarfile.open(path) as archive:
        return [(member.name, archive.extractfile(member).read()) for member in archive if member.isfile()]


@pytest.mark.parametrize("middle", ["rec", "tfrecord"])
def test_archives_come_back_with_names_bytes_and_order(shards, tmp_path, middle):
    for n, source in enumerate(sorted(shards.glob("*.tar"))):
        subprocess.run([sys.executable, "-m", "imrec", "convert", source, tmp_path / f"{n}.{middle}"], check=True)
        subprocess.run([sys.executable, "-m", "imrec", "convert", tmp_path / f"{n}.{middle}", tmp_path / f"again{n}.tar"], check=True)
        assert members(tmp_path / f"again{n}.tar") == members(source)
    subprocess.run([sys.executable, "-m", "imrec", "convert", ";".join(map(str, sorted(shards.glob("train*.tar")))), tmp_path / "all.tar"],
                   check=True)
    assert members(tmp_path / "all.tar") == [member for path in sorted(shards.glob("train*.tar")) for member in members(path)]


def test_masks_of_archives_are_those_of_records(tmp_path):
    rng = np.random.default_rng(2)
    with webdataset.TarWriter(str(tmp_path / "a.tar")) as sink:
        for i in range(9):
            pixels, mask = make_image(i), rng.integers(0, 7, make_image(i).shape[:2]).astype(np.uint8)
            sink.write({"__key__": f"{i}", "mask.png": png(mask), "jpg": jpeg(pixels), "cls": i})
    for name in "a.rec", "a.tfrecord":
        subprocess.run([sys.executable, "-m", "imrec", "convert", tmp_path / "a.tar", tmp_path / name], check=True)
    same = {"masks": "uint8", "rand_crop": True, "rand_mirror": True, "draw_key": "id"}
    expected = read(tmp_path / "a.rec", **same)
    assert any(batch.masks.any() for batch in expected) and sum(batch.failed for batch in expected) == 0
    for name in "a.tar", "a.tfrecord":
        for batch, other in zip(read(tmp_path / name, **same), expected):
            assert np.array_equal(batch.masks, other.masks) and np.array_equal(batch.data, other.data)
    subprocess.run([sys.executable, "-m", "imrec", "convert", tmp_path / "a.rec", tmp_path / "b.tar"], check=True)
    assert members(tmp_path / "b.tar") == members(tmp_path / "a.tar")
    for name in "a.tar", "a.tfrecord":
        subprocess.run([sys.executable, "-m", "imrec", "merge", tmp_path / name, tmp_path / f"merged-{name}.rec"], check=True)
        assert [record.mask for record in imrec.Records(tmp_path / f"merged-{name}.rec")] == [r.mask for r in imrec.Records(tmp_path / "a.rec")]


def test_masks_are_chosen_by_name(tmp_path):
    rng = np.random.default_rng(3)
    for name, extension in ("a.tar", "mask.png"), ("b.tar", "parts.png"):
        rng = np.random.default_rng(3)
        with webdataset.TarWriter(str(tmp_path / name)) as sink:
            for i in range(9):
                size = make_image(i).shape[:2]
                mask = png(rng.integers(0, 7, size).astype(np.uint8))
                other = png(np.full(size, 9, np.uint8))
                parts = {"mask.png": other, "parts.png": mask} if extension == "parts.png" else {"mask.png": mask}
                sink.write({"__key__": f"{i}", **parts, "jpg": jpeg(make_image(i)), "cls": i})
    subprocess.run([sys.executable, "-m", "imrec", "convert", tmp_path / "b.tar", tmp_path / "b.tfrecord"], check=True)
    expected = read(tmp_path / "a.tar", masks="uint8")
    assert any(batch.masks.any() for batch in expected)
    for name in "b.tar", "b.tfrecord":
        for batch, other in zip(read(tmp_path / name, masks="uint8", mask="parts.png"), expected):
            assert np.array_equal(batch.masks, other.masks) and np.array_equal(batch.data, other.data)
        assert (read(tmp_path / name, masks="uint8")[0].masks == 9).all()
        assert [r.mask for r in imrec.open(tmp_path / name, mask="parts.png")] == [r.mask for r in imrec.open(tmp_path / "a.tar")]
        with pytest.raises(imrec.DataError, match="has no mask"):
            read(tmp_path / name, masks="uint8", mask="pars.png")


def test_the_package_reads_what_records_become(shard, tmp_path):
    subprocess.run([sys.executable, "-m", "imrec", "convert", shard, tmp_path / "a.tar"], check=True)
    records = list(imrec.Records(shard))
    samples = list(webdataset.WebDataset(str(tmp_path / "a.tar"), shardshuffle=False))
    assert len(samples) == len(records) > 0
    for i, (sample, record) in enumerate(zip(samples, records)):
        assert sample["__key__"] == f"{i:09d}" and (sample.get("jpg") or sample.get("png")) == record.image
        assert [float(word) for word in sample["cls"].split()] == np.atleast_1d(record.label).tolist()
    subprocess.run([sys.executable, "-m", "imrec", "convert", tmp_path / "a.tar", tmp_path / "b.rec"], check=True)
    for again, record in zip(imrec.Records(tmp_path / "b.rec"), records):
        assert (again.id, again.image) == (record.id, record.image)
        assert np.array_equal(again.label, record.label)
