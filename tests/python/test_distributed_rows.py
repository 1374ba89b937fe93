"""Data sets of engines, without an engine: rows in lists, whose tasks are done here, one after the other."""
import logging
import os
import subprocess
import sys
from concurrent.futures import Future

import numpy as np
import pytest

import imrec
import imrec.distributed
from conftest import jpeg, make_image
from imrec._engines import _pool, _rows, _spark
from tests_support import files_in, warnings_of


class Frame:
    """What is taken for a DataFrame of Spark: `parts` has the rows of each partition; `later`, if there is one, those that it has
    when they are packed."""

    __module__ = "pyspark.sql.dataframe"
    sparkSession = select = None

    def __init__(self, *parts, later=None):
        self.parts, self.later = parts, parts if later is None else later

    @property
    def columns(self):
        return list({name: None for part in self.parts for row in part for name in row}) or ["image", "label"]

    def rows(self):
        return [row for part in self.parts for row in part]


class Here:
    """An engine that works in this thread."""

    def __init__(self, job):
        self.job, self.begun = job, []
        Here.last = self

    def plan_rows(self):
        rows = self.job.rows
        self.chosen = rows.chosen(rows.source.columns)
        rows.plan([_rows.count(self.of(part), rows.columns) for part in rows.source.parts], "partition")

    def of(self, part):
        return ({name: row[name] for name in self.chosen} for row in part)

    def room(self):
        return 1

    def start(self, task):
        self.begun.append(task)
        rows, future = self.job.rows, Future()
        future.set_result(_rows.attempt(self.job.plan, task, 1, self.of(rows.source.later[task]), rows.columns, rows.first[task]))
        return future

    def close(self):
        pass


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.setattr(_spark, "Engine", Here)
    for name in "ab":
        (tmp_path / name).mkdir()


def rows_of(count, **more):
    return [{"image": jpeg(make_image(i)), "label": i % 3, **{name: value(i) for name, value in more.items()}} for i in range(count)]


def cut(rows, *sizes):
    return Frame(*(rows[sum(sizes[:k]):sum(sizes[:k + 1])] for k in range(len(sizes))))


def pack(frame, out, **how):
    return imrec.distributed.pack(frame, out, retries=0, **how)


def expect_same(tmp_path, frame, out="t.rec", **how):
    card = imrec.pack(frame.rows(), tmp_path / "a" / out, **how)
    spread = pack(frame, tmp_path / "b" / out, **how)
    tries = spread.pop("tasks")
    assert spread == card and len(tries) == len(frame.parts)
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")
    return card


@pytest.mark.parametrize("sizes", [(12,), (0, 5, 0, 7, 0), (4, 4, 4)])
@pytest.mark.parametrize("how", [{}, {"resize": 20, "shards": 3}, {"resize": 20, "shard_size": 4000, "id": None}, {"label": None},
                                 {"format": "cbf"}, {"augment": "rand_mirror=1", "copies": 2, "quality": 80}])
def test_the_bytes_are_those_of_one_process(tmp_path, sizes, how):
    expect_same(tmp_path, cut(rows_of(12, id=lambda i: 1000 - i), *sizes), "t.cbf" if "format" in how else "t.rec", **how)


@pytest.mark.parametrize("how", [{}, {"encoding": "jpg", "quality": 70}, {"pass_through": True, "color": 0}, {"resize": 16}])
def test_arrays_and_bytes_are_encoded_as_in_one_process(tmp_path, how):
    rows = rows_of(9)
    for i in range(0, 9, 2):
        rows[i]["image"] = make_image(i)
    expect_same(tmp_path, cut(rows, 2, 7), **how)


def test_classes_are_names(tmp_path):
    names = ["cat", "ant", "bee"]
    rows = [{**row, "label": names[row["label"]]} for row in rows_of(9)]
    assert expect_same(tmp_path, cut(rows, 4, 5), classes=names, resize=20)["classes"] == 3
    (tmp_path / "classes.txt").write_text("cat\nant\nbee\n")
    for name in "ab":
        for file in os.listdir(tmp_path / name):
            os.remove(tmp_path / name / file)
    expect_same(tmp_path, cut(rows, 4, 5), classes=tmp_path / "classes.txt", resize=20)


def test_labels_may_be_several_and_images_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("photos")
    rows = [{**row, "image": f"{i}.jpg", "label": np.array([i, 0.5])} for i, row in enumerate(rows_of(5))]
    for i in range(4):
        (tmp_path / "photos" / f"{i}.jpg").write_bytes(jpeg(make_image(i)))
    card = expect_same(tmp_path, cut(rows, 3, 2), root="photos")
    assert card["skipped"] == 1 and card["first_skips"][0]["path"] == "4.jpg"


def test_the_folder_of_the_output_is_made(tmp_path):
    pack(cut(rows_of(3), 3), tmp_path / "b" / "new" / "t.rec")
    assert len(imrec.open(tmp_path / "b" / "new" / "t.rec")) == 3


def test_other_columns_are_named_once(tmp_path, caplog):
    frame = cut(rows_of(6, caption=str, size=float), 3, 3)
    with caplog.at_level(logging.WARNING, "imrec"):
        pack(frame, tmp_path / "b" / "t.rec")
    assert [said for said in warnings_of(caplog) if "not packed" in said] == ["not packed: column 'caption', column 'size'"]
    pack(Frame([{"content": row["image"], "class": row["label"], "label": 5, "key": 7} for row in rows_of(6)]),
         tmp_path / "b" / "u.rec", image="content", label="class", id="key")
    assert [(record.id, record.label) for record in imrec.open(tmp_path / "b" / "u.rec")] == [(7, i % 3) for i in range(6)]


@pytest.mark.parametrize(("how", "says"), [
    ({"image": "picture"}, "the data set has no column 'picture': it has 'image', 'label'; write image='image'"),
    ({"label": "class"}, "no column 'class': .*write label='label', or label=None"), ({"id": "key"}, "no column 'key'"),
    ({"shuffle": True}, "shuffle is for folders"), ({"classes": ["a"], "label": None}, "names of labels, and label=None"),
    ({"engine": "ray"}, "a Frame of spark is packed where it is, by engine='spark'"), ({"masks": "m"}, "masks and annotations"),
    ({"resize": -1}, "resize"), ({"classes": ["a", "b"]}, r"item 2 \(row 2 of partition 0\): label 2 is the number of none of")])
def test_what_cannot_be_is_refused(tmp_path, how, says):
    with pytest.raises(imrec.ArgumentError, match=says):
        pack(cut(rows_of(6), 3, 3), tmp_path / "b" / "t.rec", **how)
    assert not os.listdir(tmp_path / "b")


def test_other_sources_are_refused(tmp_path):
    class Rdd:
        __module__ = "pyspark.core.rdd"
        toDF = None

    with pytest.raises(imrec.ArgumentError, match="Rdd of Spark has no columns: pack its toDF"):
        pack(Rdd(), tmp_path / "t.rec")
    with pytest.raises(imrec.ArgumentError, match="a list is not packed by tasks: .*imrec.pack"):
        pack(rows_of(3), tmp_path / "t.rec")
    with pytest.raises(imrec.ArgumentError, match="image=, label= and id= are for data sets"):
        pack(tmp_path, tmp_path / "t.rec", image="content")
    with pytest.raises(imrec.ArgumentError, match=r"a Frame of spark is packed where its rows are: imrec.distributed.pack\(\)"):
        imrec.pack(Frame(rows_of(3)), tmp_path / "t.rec")
    with pytest.raises(imrec.ArgumentError, match="there is nothing to pack: the data set has no row"):
        pack(Frame([], []), tmp_path / "t.rec")


@pytest.mark.parametrize(("change", "says"), [
    ({"label": None}, "label None is not a number; label=None packs without labels"), ({"label": "ant"}, "label 'ant' is a text"),
    ({"label": float("inf")}, "label inf is not finite"), ({"label": 2**24 + 1}, "label 16777217 changes"),
    ({"label": [1, 2]}, "2 labels, where the first item has 1"), ({"image": None}, "its image is NoneType"), ({"id": -1}, "id -1 is")])
def test_an_error_of_a_row_names_the_row_before_anything_is_packed(tmp_path, change, says):
    rows = rows_of(12, id=int)
    rows[9].update(change)
    rows[11]["label"] = None  # the first one is named
    with pytest.raises(imrec.ArgumentError, match=rf"^item 9 \(row 2 of partition 2\): {says}"):
        pack(cut(rows, 5, 2, 3, 2), tmp_path / "b" / "t.rec")
    assert not Here.last.begun and not os.listdir(tmp_path / "b")
    with pytest.raises(imrec.ArgumentError, match=f"^item 9: {says}"):  # as one process names it
        imrec.pack(rows, tmp_path / "a" / "t.rec")


def test_partitions_that_disagree_are_refused(tmp_path):
    rows = rows_of(12, id=int)
    rows[5:] = [{**row, "id": None} for row in rows[5:]]
    with pytest.raises(imrec.ArgumentError, match="item 5 has no id, and the first item has one; id=None numbers the items"):
        pack(cut(rows, 5, 0, 7), tmp_path / "b" / "t.rec")
    rows = [{**row, "label": [0, 1, 2][:1 + (i > 4)]} for i, row in enumerate(rows_of(12))]
    with pytest.raises(imrec.ArgumentError, match="the items of task 2 have 2 labels each, and those of task 0 have 1"):
        pack(cut(rows, 5, 0, 7), tmp_path / "b" / "t.rec")


def test_an_image_that_stops_the_run_has_its_number_in_the_data_set(tmp_path):
    rows = rows_of(12)
    rows[8]["image"] = b"no image"
    with pytest.raises(imrec.DataError, match="^'item 8': .*on_error=skip packs the others"):
        pack(cut(rows, 5, 7), tmp_path / "b" / "t.rec", resize=20, on_error="stop")


@pytest.mark.parametrize(("change", "says"), [
    (lambda rows: rows[:-1], "task 1 of .* has 6 items, and had 7 when the plan was made"),
    (lambda rows: rows + rows[:1], "task 1 of .* has at least 8 items, and had 7"),
    (lambda rows: rows[::-1], "the 7 items of task 1 of .*, or their order, are not those that it had"),
    (lambda rows: [*rows[:3], {**rows[3], "label": 1}, *rows[4:]], "the 7 items of task 1 of .* are not those"),
    (lambda rows: [*rows[:3], {**rows[3], "image": rows[0]["image"]}, *rows[4:]], "the 7 items of task 1 of .* are not those")])
def test_rows_that_are_others_the_second_time_are_refused(tmp_path, change, says):
    frame = cut(rows_of(12), 5, 7)
    frame.later = [frame.parts[0], change(frame.parts[1])]
    with pytest.raises(imrec.CorruptError, match=says):
        pack(frame, tmp_path / "b" / "t.rec")
    assert os.listdir(tmp_path / "b") == ["t.rec.plan"]
    frame.later = frame.parts
    card = pack(frame, tmp_path / "b" / "t.rec")
    assert [entry["task"] for entry in card["tasks"]] == [1]  # the other one was done
    imrec.pack(frame.rows(), tmp_path / "a" / "t.rec")
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


def test_a_row_that_is_bad_the_second_time_is_named(tmp_path):
    frame = cut(rows_of(12), 5, 7)
    frame.later = [frame.parts[0], [*frame.parts[1][:3], {**frame.parts[1][3], "label": None}]]
    with pytest.raises(imrec.ArgumentError, match="^item 8: label None is not a number"):
        pack(frame, tmp_path / "b" / "t.rec")


def test_the_same_call_continues_and_another_is_refused(tmp_path):
    frame, out = cut(rows_of(12), 5, 7), tmp_path / "b" / "t.rec"
    frame.later = [frame.parts[0], frame.parts[1][1:]]
    with pytest.raises(imrec.CorruptError):
        pack(frame, out)
    for other, says in ((cut(rows_of(12), 4, 8), "the plan of other items: task 0 had 5 when it was made, and has 4"),
                        (cut(rows_of(12)[::-1], 5, 7), "the plan of other items: task 0 had 5 others, or in another order"),
                        (cut(rows_of(12), 5, 6, 1), "its number of tasks differs")):
        with pytest.raises(imrec.ArgumentError, match=says):
            pack(other, out)
    with pytest.raises(imrec.ArgumentError, match="its numbering of ids differs"):
        pack(cut(rows_of(12, id=int), 5, 7), out)
    with pytest.raises(imrec.ArgumentError, match="its resize differs"):
        pack(frame, out, resize=20)
    frame.later = frame.parts
    pack(frame, out)
    assert Here.last.begun == [1]


def test_the_program_has_no_rows(tmp_path):
    frame, plan = cut(rows_of(12), 5, 7), tmp_path / "b" / "t.rec.plan"
    frame.later = [frame.parts[0], frame.parts[1][1:]]
    with pytest.raises(imrec.CorruptError):
        pack(frame, tmp_path / "b" / "t.rec")
    for words in ["1"], ["0/2"], []:
        done = subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--work", plan, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and done.stderr.count("are made of items, which the program that made it has") == 1
    done = subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--status", plan], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "done 1, running 0, missing 1" in done.stdout and "done 5" in done.stdout


def test_what_the_rows_raise_is_about_the_worker(tmp_path, monkeypatch):
    def broken():
        yield from rows_of(2)
        raise OSError("a wire is cut")

    with pytest.raises(OSError, match="a wire is cut"):
        _rows.count(broken(), _rows.Columns("image", "label", "id"))
    frame = cut(rows_of(12), 5, 7)
    frame.later = [frame.parts[0], broken()]
    with pytest.raises(OSError, match="a wire is cut"):
        pack(frame, tmp_path / "b" / "t.rec")
    assert [name for name in os.listdir(tmp_path / "b" / "t.rec.plan") if "0000001" in name] == []


def test_attempts_of_files_are_as_they_were(tmp_path):
    assert _pool.attempt(str(tmp_path / "nothing"), 0, 1).error is not None
