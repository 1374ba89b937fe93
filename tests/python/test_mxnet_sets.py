"""Sets that MXNet has written (mxnet_sets/make.py): records, images, labels and identities are what was written, and imrec writes
the same bytes."""
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import imrec
from imrec.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO, pack, unpack, unpack_img
from kept_images import HEIGHT, WIDTH, png, rows

KEPT = Path(__file__).parent / "mxnet_sets"
spec = importlib.util.spec_from_file_location("mxnet_sets_make", KEPT / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


def pixels(i):
    return np.frombuffer(b"".join(rows(i)), np.uint8).reshape(HEIGHT, WIDTH, 3)


def looks_like(seen, i, kind):
    """It is image i: a PNG exactly, a JPEG in its mean colour."""
    if kind == ".png":
        return np.array_equal(seen, pixels(i))
    return seen.shape == pixels(i).shape and abs(seen.mean((0, 1)) - pixels(i).mean((0, 1))).max() < 4


def read(path, **more):
    with imrec.ImageRecordIter(path, **{"data_shape": (3, HEIGHT, WIDTH), "dtype": "uint8", "layout": "NHWC", "batch_size": 4,
                                        "last_batch": "partial", **more}) as batches:
        return [(number, label.tolist(), data) for batch in batches
                for number, label, data in zip(batch.ids.tolist(), batch.labels, batch.data.copy())]


def im2rec(*words):
    subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--quiet", *words], check=True)


def same_files(folder, names):
    for name in names:
        assert (folder / name).read_bytes() == (KEPT / name).read_bytes(), name


def test_records_of_any_bytes_are_read_and_written_as_mxnet_does(tmp_path):
    with MXIndexedRecordIO(KEPT / "payloads.idx", KEPT / "payloads.rec", "r") as reader:
        assert reader.keys == [key for key, _ in make.PAYLOADS]
        assert [reader.read_idx(key) for key, _ in make.PAYLOADS] == [data for _, data in make.PAYLOADS]
    with MXRecordIO(KEPT / "payloads.rec", "r") as reader:
        assert list(reader) == [data for _, data in make.PAYLOADS]
    with MXIndexedRecordIO(tmp_path / "payloads.idx", tmp_path / "payloads.rec", "w") as out:
        for key, data in make.PAYLOADS:
            out.write_idx(key, data)
    same_files(tmp_path, ["payloads.idx", "payloads.rec"])


def test_headers_have_what_was_packed(tmp_path):
    with MXIndexedRecordIO(KEPT / "images.idx", KEPT / "images.rec", "r") as reader, \
            MXIndexedRecordIO(tmp_path / "images.idx", tmp_path / "images.rec", "w") as out:
        for i, (flag, label, number, second, kind) in enumerate(make.HEADERS):
            data = reader.read_idx(number)
            header, image = unpack(data)
            wide = isinstance(label, list)
            assert (header.flag, header.id, header.id2) == (len(label) if wide else 0, number, second)
            assert np.array_equal(header.label, np.float32(label)) and np.ndim(header.label) == wide
            assert looks_like(unpack_img(data)[1][:, :, ::-1], i, kind)
            out.write_idx(number, pack(IRHeader(flag, label, number, second), image))
    same_files(tmp_path, ["images.idx", "images.rec"])


@pytest.mark.parametrize("way", [{}, {"path_imgidx": "auto"}, {"shuffle": True, "seed": 3}, {"shuffle": True, "order": "global"}])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_batches_have_pixels_labels_and_ids(width, way):
    wanted = {number: (i, np.float32(label).ravel().tolist(), kind) for i, (_, label, number, _, kind) in enumerate(make.HEADERS)
              if np.size(label) == width}
    samples = read(KEPT / "images.rec", label_width=width, on_error="skip", **way)  # the others have other numbers of labels
    assert sorted(number for number, _, _ in samples) == sorted(wanted)
    for number, labels, data in samples:
        i, numbers, kind = wanted[number]
        assert np.ravel(labels).tolist() == numbers and looks_like(data, i, kind)


@pytest.mark.parametrize("name", ["faces", "sorted"])
@pytest.mark.parametrize("way", [{}, {"path_imgidx": "auto"}, {"shuffle": True, "path_imgidx": "auto"}])
def test_faces_are_the_images_alone(name, way):
    images, _, _ = make.records_of_faces()
    samples = read(KEPT / f"{name}.rec", label_width=2, **way)
    assert sorted((number, labels) for number, labels, _ in samples) == [(key, labels) for key, labels, _ in images]
    for number, _, data in samples:
        assert np.array_equal(data, pixels(number))


@pytest.mark.parametrize("name", ["faces", "sorted"])
def test_cards_count_identities(name):
    card = imrec.info(KEPT / f"{name}.rec")
    assert (card["images"], card["identities"], card["metadata"], card["unreadable"]) == (sum(make.FACES), len(make.FACES), 4, 0)
    assert card["images_per_identity"]["min"] == 1 and card["images_per_identity"]["max"] == max(make.FACES)
    assert imrec.verify(KEPT / f"{name}.rec")["findings"] == []


def test_parts_of_faces_have_each_image_once():
    numbers = [number for part in range(3) for number, _, _ in read(KEPT / "sorted.rec", label_width=2, num_parts=3, part_index=part)]
    assert sorted(numbers) == list(range(1, 1 + sum(make.FACES)))


@pytest.fixture
def photos(tmp_path):
    make.write_photos(tmp_path / "photos")
    return tmp_path / "photos"


def test_lists_and_sets_of_im2rec_are_the_same_bytes(photos, tmp_path):
    im2rec("--list", "--class-from", "leaf", tmp_path / "photos", photos)
    same_files(tmp_path, ["photos.lst"])
    (tmp_path / "passed.lst").write_bytes((KEPT / "photos.lst").read_bytes())
    im2rec("--pass-through", tmp_path / "passed", photos)
    same_files(tmp_path, ["passed.rec", "passed.idx"])
    (tmp_path / "labels.lst").write_bytes((KEPT / "labels.lst").read_bytes())
    im2rec("--pass-through", "--pack-label", tmp_path / "labels", photos)
    same_files(tmp_path, ["labels.rec", "labels.idx"])


def test_what_im2rec_has_packed_is_read():
    rows_of_list = [line.split("\t") for line in (KEPT / "labels.lst").read_text().splitlines()]
    samples = read(KEPT / "labels.rec", label_width=3)
    assert [(number, labels) for number, labels, _ in samples] == [
        (int(row[0]), [float(value) for value in row[1:4]]) for row in rows_of_list]
    for (_, _, data), row in zip(samples, rows_of_list):
        assert np.array_equal(data, pixels(int(Path(row[4]).stem)))


def test_what_im2rec_has_resized_is_read():
    coded = imrec.open(KEPT / "coded.rec")
    resized = read(KEPT / "passed.rec", resize=16, inter_method=1, data_shape=(3, 16, 19))
    assert [record.id for record in coded] == [number for number, _, _ in resized] and len(coded) == 9
    for record, (_, label, data) in zip(coded, resized):  # OpenCV 4.8 rounds in other places than 3.4
        assert record.label == label and abs(record.pixels().astype(int) - data).max() <= 2


def test_the_images_are_those_of_the_folder(photos):
    for i in range(9):
        assert (photos / make.CLASSES[i % 3] / f"{i}.png").read_bytes() == png(i)
