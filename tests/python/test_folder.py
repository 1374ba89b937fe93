"""Folders of images and lists of them, read in place: what is delivered is that of the packed set."""
import os

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image
from tests_support import open_iter, pack_photos

CLASSES = ["ant", "bee", "cow"]
DRAWN = {"rand_crop": True, "rand_mirror": True, "brightness": 0.4, "draw_key": "id"}


@pytest.fixture
def photos(tmp_path):
    pack_photos(tmp_path, 26, CLASSES, "default.rec")
    imrec.pack(tmp_path / "photos", tmp_path / "train.rec", pass_through=True, shuffle=False)
    return tmp_path / "photos"


def arrays(path, **more):
    """All batches of two sweeps."""
    with open_iter(path, shuffle=True, seed=3, **more) as it:
        return [[np.array(a) for a in (b.data, b.labels, b.ids)] for _ in range(2) for b in it]


def must_equal(a, b):
    assert len(a) == len(b) > 6
    for x, y in zip(a, b, strict=True):
        for p, q in zip(x, y, strict=True):
            np.testing.assert_array_equal(p, q)


def test_a_folder_is_its_packed_set(photos, tmp_path):
    must_equal(arrays(photos), arrays(tmp_path / "train.rec", path_imgidx="auto"))
    must_equal(arrays(photos, **DRAWN), arrays(tmp_path / "train.rec", path_imgidx="auto", **DRAWN))


def test_a_list_below_a_root_is_the_folder(photos, tmp_path):
    must_equal(arrays(tmp_path / "train.lst", path_root=photos, **DRAWN), arrays(photos, **DRAWN))


def test_records_have_the_order_of_an_image_folder(photos):
    datasets = pytest.importorskip("torchvision.datasets")
    (photos / "bee" / "zzz.PNG").write_bytes((photos / "bee" / "1.jpg").read_bytes())
    (photos / "bee" / "notes.txt").write_text("no image")
    theirs = datasets.ImageFolder(str(photos))
    ours = imrec.open(photos)
    assert [int(r.label) for r in ours] == [label for _, label in theirs.samples]
    assert [bytes(r.image) for r in ours] == [open(path, "rb").read() for path, _ in theirs.samples]


def test_classes_are_the_folders(photos):
    torch = pytest.importorskip("torch")
    from imrec.torch import Loader
    with Loader(photos, data_shape=(3, 16, 16), batch_size=8) as loader:
        assert loader.classes == CLASSES
        assert loader.num_classes == 3
        assert len(loader.dataset) == 26
        labels = torch.cat([y for _, y in loader])
        assert labels.tolist() == [label for label, c in enumerate(CLASSES) for _ in os.listdir(photos / c)]


def test_a_file_that_is_no_image_fails_alone(photos):
    (photos / "bee" / "1.jpg").write_bytes(b"")
    (photos / "bee" / "4.jpg").write_bytes(b"no image")
    with open_iter(photos, on_error="skip") as it:
        assert sorted(int(i) for b in it for i in b.ids) == [i for i in range(26) if i not in (9, 16)]  # 1, 10, ... 25, 4, 7
    result = imrec.verify(photos)
    assert result["records"] == 25 and len(result["findings"]) == 2
    assert any("bee/1.jpg" in f["reason"] for f in result["findings"])


def test_shards_next_to_folders_need_a_word(photos, tmp_path):
    os.rename(tmp_path / "train.rec", photos / "train.rec")
    with pytest.raises(imrec.ArgumentError, match=r"train\.rec.*ant"):
        open_iter(photos)
    with open_iter(photos, container="folder") as a, open_iter(photos, container="rec") as b:
        np.testing.assert_array_equal(next(a).data, next(b).data)


def test_roots_are_of_lists(photos):
    with pytest.raises(imrec.ArgumentError, match="path_root"):
        open_iter(photos, path_root=photos)
    (photos / "odd\nname.jpg").write_bytes(jpeg(make_image(1)))
    with open_iter(photos) as it:
        assert sum(len(b.ids) for b in it) == 26
