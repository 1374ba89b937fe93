"""imrec.pack(): folders, lists, iterables, tars."""
import inspect
import os

import pytest

import imrec
from conftest import jpeg, make_image
from imrec import _tables
from tests_support import left


@pytest.fixture
def folder(tmp_path):
    for i in range(12):
        place = tmp_path / "photos" / ("ant", "bee", "cat")[i % 3]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(jpeg(make_image(i)))
    return tmp_path / "photos"


def test_a_folder_of_classes(folder, tmp_path):
    told = []
    card = imrec.pack(folder, tmp_path / "train.rec", pass_through=True, progress=told.append)
    assert card["packed"] == 12 and card["classes"] == 3 and card["kinds"] == {"jpeg baseline": 12} or card["kinds"]
    assert told and told[-1]["done"] == 12
    assert left(tmp_path) == ["photos", "train.classes.txt", "train.crc", "train.idx", "train.lst", "train.manifest.json",
                              "train.rec"]
    assert {r.image for r in imrec.open(tmp_path / "train.rec")} == {jpeg(make_image(i)) for i in range(12)}
    with pytest.raises(imrec.ArgumentError, match="force"):
        imrec.pack(folder, tmp_path / "train.rec")
    with imrec.ImageRecordIter(tmp_path / "train.rec", data_shape=(3, 16, 16), batch_size=12) as it:
        assert sorted(next(it).labels) == [0] * 4 + [1] * 4 + [2] * 4


def test_what_was_skipped_is_named_with_its_reason(folder, tmp_path, caplog):
    for i in range(12):
        (folder / "bee" / f"bad{i:02d}.jpg").write_bytes(b"")
    (folder / "ant" / os.fsdecode(b"\xff.jpg")).write_bytes(b"x")
    card = imrec.pack(folder, tmp_path / "train.rec", shuffle=False)
    assert card["skipped"] == 13 and card["reasons"] == {"empty": 12, "name_not_utf8": 1}
    assert [(s["path"], s["reason"]) for s in card["first_skips"]] == [
        (os.fsdecode(b"ant/\xff.jpg"), "the name is not UTF-8")] + [(f"bee/bad{i:02d}.jpg", "is empty") for i in range(9)]
    line = next(r.getMessage() for r in caplog.records if r.name == "imrec")
    assert "13 of 25 images are not in" in line and ": 12 empty, 1 name_not_utf8; " in line and "bee/bad00.jpg: is empty" in line
    with pytest.raises(imrec.DataError, match="none of 25 images could be packed; the first, .*: the name is not UTF-8"):
        imrec.pack(folder, tmp_path / "none.rec", max_pixels=1)


def test_a_list_with_the_folder_that_it_is_relative_to(folder, tmp_path):
    (tmp_path / "some.lst").write_text("5\t2.5\tbee/1.jpg\n9\t4\tant/0.jpg\n")
    imrec.pack(tmp_path / "some.lst", tmp_path / "some.rec", root=folder, resize=16, quality=80)
    assert [(r.id, r.label, min(r.pixels().shape[:2])) for r in imrec.open(tmp_path / "some.rec")] == [(5, 2.5, 16), (9, 4, 16)]


def test_bytes_are_stored_as_they_are_and_arrays_are_encoded(tmp_path):
    imrec.pack(((jpeg(make_image(i)), i, 50 + i) for i in range(5)), tmp_path / "a.rec")
    assert [(r.id, r.label, r.image) for r in imrec.open(tmp_path / "a.rec")] == [(50 + i, i, jpeg(make_image(i))) for i in range(5)]
    imrec.pack([(make_image(i), [i, 1, 2]) for i in range(5)], tmp_path / "b.rec", encoding="png", quality=3)
    records = imrec.open(tmp_path / "b.rec")
    assert all((r.pixels() == make_image(i)).all() and r.labels.tolist() == [i, 1, 2] for i, r in enumerate(records))
    assert left(tmp_path) == sorted(f"{s}.{e}" for s in "ab" for e in ("crc", "idx", "lst", "manifest.json", "rec"))


def test_data_sets_of_dicts(tmp_path, folder):
    rows = [{"img": make_image(1), "fine": 3}, {"img": {"bytes": jpeg(make_image(2)), "path": None}, "fine": 4},
            {"img": {"bytes": None, "path": str(folder / "ant" / "0.jpg")}, "fine": 5}, {"img": make_image(3)[:, :, 0], "fine": 6}]
    imrec.pack(rows, tmp_path / "h.rec", image="img", label="fine")
    assert [r.label for r in imrec.open(tmp_path / "h.rec")] == [3, 4, 5, 6]
    with pytest.raises(imrec.ArgumentError, match="item 0 has no 'image': it has 'img', 'fine'; write image='img'"):
        imrec.pack(rows, tmp_path / "i.rec")


def test_what_the_iterable_and_progress_raise_is_the_callers(folder, tmp_path):
    def items():
        yield make_image(0), 0
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        imrec.pack(items(), tmp_path / "x.rec")

    def progress(told):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        imrec.pack(folder, tmp_path / "y.rec", progress=progress)
    assert not [name for name in left(tmp_path) if name.startswith(("x", "."))]


def test_the_signature_is_the_table():
    names = set(inspect.signature(imrec.pack).parameters)
    assert names == {r.name for r in _tables.PACK} | {"source", "out", "root", "image", "label", "id", "allow_damaged",
                                                     "append", "progress"}
    with pytest.raises(imrec.ArgumentError, match="did you mean resize"):
        imrec.pack([(make_image(0), 0)], "x.rec", resise=3)


def test_progress_is_shown_by_tqdm(folder, tmp_path, capsys):
    pytest.importorskip("tqdm")
    imrec.pack(folder, tmp_path / "t.rec", progress=True)
    assert "img" in capsys.readouterr().err
