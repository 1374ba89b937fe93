"""imrec.distributed: plan, work and finish, step by step; engines are in test_engines.py."""
import io
import tarfile

import pytest

import imrec
import imrec.distributed
from conftest import jpeg, make_image
from tests_support import files_in


@pytest.fixture
def folder(tmp_path):
    for i in range(40):
        place = tmp_path / "photos" / ("ant", "bee", "cat")[i % 3]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(jpeg(make_image(i)))
    (tmp_path / "photos" / "ant" / "empty.jpg").write_bytes(b"")
    for name in "ab":
        (tmp_path / name).mkdir()
    return tmp_path / "photos"


def same(tmp_path):
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


def without_times(card):
    return {key: value for key, value in card.items() if key != "tasks"}


def test_step_by_step(folder, tmp_path):
    card = imrec.pack(folder, tmp_path / "a" / "t.rec", resize=20, shards=3)
    plan = tmp_path / "plan"
    made = imrec.distributed.make(folder, tmp_path / "b" / "t.rec", plan, resize=20, shards=3)
    assert (made["tasks"], made["images"], made["joins"], made["seconds_left"]) == (3, 41, False, None)
    with pytest.raises(imrec.DataError, match="3 of 3 tasks are not done: 0, 1, 2"):
        imrec.distributed.finish(plan)
    assert sum(imrec.distributed.work(plan, k)["packed"] for k in (2, 0)) > 20
    assert imrec.distributed.tasks(plan) == ["done", "missing", "done"]
    assert imrec.distributed.work(plan, 2)["was_complete"]
    imrec.distributed.work(plan, 1, threads=1)
    assert without_times(imrec.distributed.finish(plan)) == card
    assert imrec.distributed.status(plan)["finished"] and imrec.distributed.finish(plan)["was_complete"]
    same(tmp_path)


def write_tar(path, numbers, suffix=".jpg"):
    with tarfile.open(path, "w") as tar:
        for i in numbers:
            for name, data in ((f"x/{i}{suffix}", jpeg(make_image(i))), (f"x/{i}.cls", b"%d" % (i % 3)), (f"x/{i}.txt", b"more")):
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    return path


@pytest.mark.parametrize("how", [{}, {"resize": 20, "shard_size": 8192}, {"label": None}, {"image": "left.jpg"}, {"format": "cbf"}])
def test_archives_are_packed_in_pieces(folder, tmp_path, how):
    tars = [write_tar(tmp_path / f"{k}.tar", range(20 * k, 20 * k + 20), ".left.jpg" if "image" in how else ".jpg") for k in range(2)]
    out = "t.cbf" if "format" in how else "t.rec"
    card = imrec.pack(tars, tmp_path / "a" / out, **how)
    spread = without_times(imrec.distributed.pack(tars, tmp_path / "b" / out, tasks=3, workers=2, **how))
    assert card["other_files"] == (80 if "label" in how else 40)
    assert spread == card and card["packed"] == 40
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")
    assert without_times(imrec.distributed.pack(tars[1], tmp_path / "b" / "one.rec", workers=1))["packed"] == 20


def test_what_cannot_be_is_refused(folder, tmp_path):
    with pytest.raises(imrec.ArgumentError, match="x.tar.gz: tasks read pieces of .tar archives that are not packed"):
        imrec.distributed.pack([write_tar(tmp_path / "x.tar", [1]), tmp_path / "x.tar.gz"], tmp_path / "b" / "t.rec")
    with pytest.raises(imrec.ArgumentError, match="image= and label= for archives"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", image="jpg")
    with pytest.raises(imrec.ArgumentError, match="engine='spork'"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", engine="spork")
    imrec.distributed.make(folder, tmp_path / "b" / "t.rec", tmp_path / "b" / "t.rec.plan", resize=20)
    with pytest.raises(imrec.ArgumentError, match="is the plan of another command: its resize differs"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", resize=30)
    with pytest.raises(imrec.StorageError, match="plan"):
        imrec.distributed.status(tmp_path / "nothing")
