"""Data sets of Spark and Ray, on real clusters: the bytes are those of one process, whoever is killed, and never those of two
evaluations."""
import os
import random
import signal

import pytest

import imrec
import imrec.distributed
from conftest import jpeg, make_image
from engines_support import LARGE, at_work, cluster_of, killing_workers, s3_server, start, wait_until
from tests_support import files_in, warnings_of

SCHEMA = "image binary, label int, id long, caption string"
SCRIPT = """import os, signal, sys, imrec.distributed
%s
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background of a shell
    folder, out, turned = sys.argv[1], sys.argv[2], sys.argv[3:]
    rows = [(open(f"{folder}/{name}", "rb").read(), int(name[:-4]) %% 3, int(name[:-4])) for name in sorted(os.listdir(folder))]
    imrec.distributed.pack(data_of(rows[::-1] if turned else rows), out, workers=2, **%r, **%r)
"""


class Spark:
    """Data sets of an engine."""

    script = SCRIPT % ("""from pyspark.sql import SparkSession
def data_of(rows):
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    return session.createDataFrame(session.sparkContext.parallelize(rows, 8), "image binary, label int, id long")
""", LARGE, {})
    where = r" \(row \d+ of partition \d+\)"
    tasks = {}

    def __init__(self, session):
        self.session = session

    def data(self, rows, parts=5):
        lists = [tuple(row.get(name) for name in ("image", "label", "id", "caption")) for row in rows]
        return self.session.createDataFrame(self.session.sparkContext.parallelize(lists, parts), SCHEMA)

    def mapped(self, data, function):
        """The rows of a partition after a function of their list, which runs each time they are read."""
        return self.session.createDataFrame(data.rdd.mapPartitions(lambda rows: function(list(rows))), data.schema)


class Ray:
    script = SCRIPT % ("""import ray.data
def data_of(rows):
    ray.init(num_cpus=2, include_dashboard=False)
    names = "image", "label", "id"
    return ray.data.from_items([dict(zip(names, row)) for row in rows], override_num_blocks=5)
""", LARGE, {"tasks": 8})
    where = ""
    tasks = {"tasks": 8}

    def __init__(self, session):
        pass

    def data(self, rows, parts=5):
        import ray.data

        return ray.data.from_items(rows, override_num_blocks=parts)

    def mapped(self, data, function):
        return data.map_batches(function, batch_size=None, batch_format="pyarrow", num_cpus=0.25)


@pytest.fixture(scope="module", params=["spark", "ray"])
def engine(request):
    if request.param == "ray":
        pytest.importorskip("ray", reason="ray is not installed")
        pytest.importorskip("ray.data", reason="ray.data lacks pyarrow or pandas", exc_type=ImportError)
    with cluster_of(request.param) as cluster:
        yield {"spark": Spark, "ray": Ray}[request.param](cluster)


@pytest.fixture(autouse=True)
def folders(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()


def rows_of(count):
    return [{"image": jpeg(make_image(i)), "label": i % 3, "id": 100 + i, "caption": f"image {i}"} for i in range(count)]


def same(tmp_path):
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


@pytest.mark.parametrize("how", [{}, {"resize": 20, "shards": 4}, {"resize": 20, "shard_size": 9000, "id": None},
                                 {"label": None, "format": "cbf"},
                                 {"classes": ["ant", "bee", "cat"], "copies": 2, "augment": "rand_mirror=1"}])
def test_the_bytes_are_those_of_one_process(engine, tmp_path, caplog, monkeypatch, how):
    rows, out = rows_of(23), "t.cbf" if "format" in how else "t.rec"
    rows[11]["image"] = b""
    card = imrec.pack(rows, tmp_path / "a" / out, **how)
    told = []
    monkeypatch.chdir(tmp_path)  # where no worker is
    spread = imrec.distributed.pack(engine.data(rows), f"b/{out}", progress=told.append, **how)
    tries = spread.pop("tasks")
    assert spread == card and told[-1]["done"] == told[-1]["total"] == len(tries)
    copies = how.get("copies", 1)
    assert sum(entry["packed"] for entry in tries) == 22 * copies and sum(entry["skipped"] for entry in tries) == copies
    assert "column 'caption'" in " ".join(warnings_of(caplog))
    same(tmp_path)


@pytest.mark.parametrize("how", [{"shards": 4}, {"tasks": 3}])
def test_tasks_are_shards_where_rows_can_be_cut(engine, tmp_path, how):
    data, plan = engine.data(rows_of(22)), tmp_path / "plan"
    if isinstance(engine, Spark) and "tasks" in how:
        with pytest.raises(imrec.ArgumentError, match="tasks=3: the DataFrame has a task for each of its 5 partitions"):
            imrec.distributed.pack(data, tmp_path / "b" / "t.rec", **how)
        return
    card = imrec.distributed.pack(data, tmp_path / "b" / "t.rec", plan=plan, resize=20, **how)
    joins = isinstance(engine, Spark) or "tasks" in how
    assert len(card["tasks"]) == (5 if isinstance(engine, Spark) else how.get("shards", 3))
    assert imrec.distributed.status(plan)["joins"] == joins


def test_arrays_of_a_dataset_are_images(engine, tmp_path):
    if isinstance(engine, Spark):
        pytest.skip("Spark has no arrays of pixels")
    rows = [{"image": make_image(0) + i, "label": i} for i in range(9)]
    imrec.pack(rows, tmp_path / "a" / "t.rec")
    imrec.distributed.pack(engine.data(rows, parts=2), tmp_path / "b" / "t.rec")
    same(tmp_path)


def test_more_partitions_than_rows(engine, tmp_path):
    rows = rows_of(3)
    imrec.pack(rows, tmp_path / "a" / "t.rec", resize=20)
    imrec.distributed.pack(engine.data(rows, parts=6), tmp_path / "b" / "t.rec", resize=20)
    same(tmp_path)


def test_without_rows_there_is_nothing_to_pack(engine, tmp_path):
    data = engine.data(rows_of(3))
    none = data.limit(0) if isinstance(engine, Ray) else data.filter("label > 9")
    with pytest.raises(imrec.ArgumentError, match="there is nothing to pack: the data set has no row"):
        imrec.distributed.pack(none, tmp_path / "b" / "t.rec")


def test_an_error_of_a_row_names_the_row(engine, tmp_path):
    rows = rows_of(24)
    rows[17]["label"] = None
    with pytest.raises(imrec.ArgumentError, match=f"^item 17{engine.where}: label None is not a number"):
        imrec.distributed.pack(engine.data(rows), tmp_path / "b" / "t.rec")
    rows[17]["label"] = 3
    with pytest.raises(imrec.ArgumentError, match=f"^item 17{engine.where}: label 3 is the number of none of the 3 classes"):
        imrec.distributed.pack(engine.data(rows), tmp_path / "b" / "t.rec", classes=["ant", "bee", "cat"])
    rows[17]["label"], rows[17]["image"] = 2, b"no image"
    with pytest.raises(imrec.DataError, match="'item 17': no image of a known format"):
        imrec.distributed.pack(engine.data(rows), tmp_path / "b" / "t.rec", retries=0, resize=20, on_error="stop")


def test_a_function_that_fails_on_the_way_is_named(engine, tmp_path):
    def fail(rows):
        raise OSError("a wire is cut")

    with pytest.raises(imrec.Error, match="the rows of the Data.* cannot be read: .*a wire is cut"):
        imrec.distributed.pack(engine.mapped(engine.data(rows_of(9)), fail), tmp_path / "b" / "t.rec")


def test_a_worker_that_is_killed_loses_its_task_alone(engine, tmp_path):
    rows = rows_of(24)
    with killing_workers(tmp_path / "b", 2) as killed:
        card = imrec.distributed.pack(engine.data(rows, parts=8), tmp_path / "b" / "t.rec", **engine.tasks, **LARGE)
    lost = [entry["error"] for entry in card["tasks"] if entry["error"]]
    assert len(killed) == len(lost) == 2 and all("was lost" in error for error in lost), lost
    imrec.pack(rows, tmp_path / "a" / "t.rec", **LARGE)
    same(tmp_path)


def write_photos(folder, rows):
    folder.mkdir()
    for row in rows:
        (folder / f"{row['id']}.jpg").write_bytes(row["image"])
    return [{**row, "label": row["id"] % 3} for row in rows]


def test_a_driver_that_is_killed_is_continued(engine, tmp_path):
    """By the same rows: others are refused by name."""
    out, script = tmp_path / "b" / "t.rec", tmp_path / "job.py"
    script.write_text(engine.script)
    rows = write_photos(tmp_path / "photos", rows_of(24))
    for number in (signal.SIGKILL, signal.SIGINT):
        with start(script, tmp_path / "photos", out) as job:
            wait_until(lambda: at_work(tmp_path / "b") - {job.pid} or job.poll() is not None)
            assert job.poll() is None, (tmp_path / "job.log").read_text()
            os.kill(job.pid, number)
            if number == signal.SIGINT:
                assert job.wait() != 0
        wait_until(lambda: not at_work(tmp_path / "b"))
    with start(script, tmp_path / "photos", out, "turned") as job:
        assert job.wait() != 0
    said = (tmp_path / "job.log").read_text()
    assert "t.rec.plan is the plan of other items: task 0 had 3 others, or in another order, when it was made" in said, said
    with start(script, tmp_path / "photos", out) as job:
        assert job.wait() == 0, (tmp_path / "job.log").read_text()
    imrec.pack(rows, tmp_path / "a" / "t.rec", **LARGE)
    same(tmp_path)


def test_rows_that_are_others_each_time_are_refused(engine, tmp_path):
    def mix(rows):
        random.seed()
        random.shuffle(rows)
        return iter(rows)

    if isinstance(engine, Ray):  # which keeps the blocks that were counted
        imrec.distributed.pack(engine.data(rows_of(24)).random_shuffle(), tmp_path / "b" / "t.rec", resize=20)
        assert sorted(record.id for record in imrec.open(tmp_path / "b" / "t.rec")) == list(range(100, 124))
        return
    with pytest.raises(imrec.CorruptError, match=r"items of task \d of .* are not those that it had when the plan was made"):
        imrec.distributed.pack(engine.mapped(engine.data(rows_of(24)), mix), tmp_path / "b" / "t.rec", retries=1, resize=20)
    assert os.listdir(tmp_path / "b") == ["t.rec.plan"]


def test_what_was_shuffled_is_packed_once(engine, tmp_path):
    """Rows of a second stage, whose order depends on what came first."""
    data = engine.data(rows_of(24))
    data = data.repartition(6) if isinstance(engine, Spark) else data.repartition(6, shuffle=True)
    imrec.distributed.pack(data, tmp_path / "b" / "t.rec", resize=20)
    assert sorted(record.id for record in imrec.open(tmp_path / "b" / "t.rec")) == list(range(100, 124))


def test_the_order_of_a_dataframe_is_that_which_spark_gives(engine, tmp_path):
    """Without the columns that are not packed Spark may give another one."""
    if isinstance(engine, Ray):
        pytest.skip("blocks of Ray have all columns")
    data = engine.data(rows_of(24)).repartition(5)
    imrec.pack([row.asDict() for row in data.toLocalIterator()], tmp_path / "a" / "t.rec", resize=20)
    imrec.distributed.pack(data, tmp_path / "b" / "t.rec", resize=20)
    same(tmp_path)


def test_the_order_of_a_dataset_is_kept(engine, tmp_path):
    """A block that is made late comes in its place, whatever the context says, which stays as it is."""
    if isinstance(engine, Spark):
        pytest.skip("Spark keeps it")

    def slowly(table):
        import time

        time.sleep(3 if table["id"][0].as_py() == 100 else 0)
        return table

    rows = rows_of(12)
    data = engine.mapped(engine.data(rows, parts=6), slowly)
    imrec.distributed.pack(data, tmp_path / "b" / "t.rec", resize=20)
    assert not data.context.execution_options.preserve_order
    imrec.pack(rows, tmp_path / "a" / "t.rec", resize=20)
    same(tmp_path)


def test_plan_and_output_are_in_a_bucket(engine, tmp_path, monkeypatch):
    script = tmp_path / "job.py"
    script.write_text(engine.script)
    rows = write_photos(tmp_path / "photos", rows_of(24))
    with s3_server(tmp_path, monkeypatch) as (variables, bucket):
        with start(script, tmp_path / "photos", "s3://imrec-test/set/t.rec", **variables) as job:
            assert job.wait() == 0, (tmp_path / "job.log").read_text()
        imrec.pack(rows, tmp_path / "a" / "t.rec", **LARGE)
        assert files_in(tmp_path / "a") == files_in(bucket / "set")


def test_spark_connect_is_refused(engine, tmp_path):
    class Session:
        @property
        def sparkContext(self):
            raise AttributeError("not here")

    class Frame:
        __module__ = "pyspark.sql.connect.dataframe"
        columns, select, sparkSession = ["image", "label"], None, Session()

    if isinstance(engine, Ray):
        pytest.skip("Ray has no such sessions")
    with pytest.raises(imrec.ArgumentError, match="Spark Connect cannot be used"):
        imrec.distributed.pack(Frame(), tmp_path / "b" / "t.rec")
