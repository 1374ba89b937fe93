"""image=, label=, label_offset=, path_root= and container= of what reads records: as of ImageRecordIter."""
import inspect
import io
import pickle
import tarfile

import imrec
import numpy as np
import pytest

PARTS = {"image": "right.jpg", "label": "count", "label_offset": -10}


def jpeg(width, height, value):
    return imrec.encode_jpeg(np.full((height, width, 3), 60 * value, np.uint8))


def _add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


@pytest.fixture
def pairs(tmp_path):
    """Samples of two images and two labels; one lacks the second image."""
    path = str(tmp_path / "pairs.tar")
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for i in range(4):
            _add(archive, f"{i}.jpg", jpeg(20, 16, i))
            if i != 2:
                _add(archive, f"{i}.right.jpg", jpeg(28, 24, i))
            _add(archive, f"{i}.cls", b"7")
            _add(archive, f"{i}.count", b"%d" % (i + 11))
    return path


@pytest.fixture
def photos(tmp_path):
    """A list, the folder that its files are below, and a shard in that folder."""
    root = tmp_path / "photos"
    for i, name in enumerate(("ant/a.jpg", "bee/b.jpg")):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(jpeg(20 + i, 16, i))
    (tmp_path / "list.lst").write_text("4\t1\tbee/b.jpg\n9\t0\tant/a.jpg\n")
    imrec.pack(str(root), str(root / "a.rec"))
    return tmp_path


def test_parts_are_chosen_by_name(pairs):
    records = imrec.open(pairs, **PARTS)
    for again in (records, pickle.loads(pickle.dumps(records))):
        assert again.parameters == PARTS and len(again) == 4
        assert again[3].pixels().shape == (24, 28, 3) and again[3].labels.tolist() == [4] and again[0].labels.tolist() == [1]
        with pytest.raises(imrec.DataError, match="none of its files ends in .right.jpg"):
            again[2]
    assert imrec.open(pairs)[3].pixels().shape == (16, 20, 3) and imrec.open(pairs)[3].label == 7
    assert [head.labels.tolist() for head in imrec.open(pairs, label="count").heads()] == [[11], [12], [13], [14]]


def test_card_check_and_sheet_are_of_the_same_parts(pairs):
    card = imrec.info(pairs, **PARTS)
    assert card["images"] == 3 and card["labels"] == {1: 1, 2: 1, 4: 1} and card["width"]["max"] == 28
    check = imrec.verify(pairs, **PARTS)
    assert check["decoded"] == 3 and [finding["kind"] for finding in check["findings"]] == ["damage"]
    assert "2, id 1" in str(imrec.view(pairs, 2, **PARTS))


def test_what_opens_records_knows_their_parts(pairs):
    records = imrec.open(pairs, **PARTS)
    more = {"data_shape": (3, 24, 28), "batch_size": 4, "on_error": "skip", "dtype": "uint8"}
    with imrec.ImageRecordIter(records, **more) as ours, imrec.ImageRecordIter(pairs, **PARTS, **more) as theirs:
        a, b = next(ours), next(theirs)
        assert np.array_equal(a.data, b.data) and a.labels.tolist() == b.labels.tolist()
        assert ours._repr_html_().count("<img") == 3
    with imrec.ImageRecordIter(records, **{**more, "label": "cls", "label_offset": 0}) as other:
        assert next(other).labels[0] == 7


def test_datasets_of_torch_have_the_same_parts(pairs, photos):
    pytest.importorskip("torch", reason="torch is not installed")
    from imrec.torch import Dataset, Loader

    assert Dataset(imrec.open(pairs, **PARTS), image="numpy")[1][0].shape == (24, 28, 3)
    with Loader(pairs, **PARTS, data_shape=24, batch_size=2, on_error="skip") as loader:
        image, label = loader.dataset[3]
        assert label == 4 and tuple(image.shape) == (3, 24, 28)
    with Loader(photos / "list.lst", path_root=photos / "photos", data_shape=16, batch_size=2) as loader:
        assert loader.dataset.targets == [1, 0] and [name for name, _ in loader.dataset.samples] == ["bee/b.jpg", "ant/a.jpg"]


def test_lists_are_below_a_folder_and_folders_are_of_a_kind(photos):
    records = imrec.open(photos / "list.lst", path_root=photos / "photos")
    assert [record.id for record in records] == [4, 9] and records[0].pixels().shape == (16, 21, 3)
    assert imrec.verify(photos / "list.lst", path_root=photos / "photos")["decoded"] == 2
    assert imrec.info(photos / "photos", container="folder")["source"] == "folder of images"
    assert imrec.info(photos / "photos", container="rec", allow_missing=True)["source"] == "RecordIO shard"
    assert "0: ant, id 0" in str(imrec.view(photos / "photos", container="folder"))
    with pytest.raises(imrec.Error, match="which of them is meant"):
        imrec.open(photos / "photos")


@pytest.mark.parametrize("wrong, words", [
    ({"image": "jpg"}, "image= says which part of a sample is its image"), ({"label": "cls"}, "label= says which"),
    ({"mask": "seg"}, "mask= says which"), ({"path_root": "photos"}, "path_root is the folder of a list's files"),
    ({"container": "tar"}, "must be a tar archive"),
    ({"container": "zip"}, "container='zip': it must be one of auto, rec"), ({"label_offset": 1 << 25}, "label_offset=33554432"),
    ({"lable": "cls"}, "no parameter 'lable'; did you mean label?")])
def test_what_does_not_go_together_is_refused(photos, wrong, words):
    shard = str(photos / "photos" / "a.rec")
    for call in (imrec.open, imrec.info, imrec.verify, imrec.view):
        with pytest.raises(imrec.ArgumentError, match=words):
            call(shard, **wrong)


def test_signatures_are_the_table():
    for function in (imrec.open, imrec.info, imrec.verify, imrec.view):
        names = inspect.signature(function).parameters
        assert {"image", "label", "label_offset", "path_root", "container", "mask"} <= set(names) and "parameters" not in names
