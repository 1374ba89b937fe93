"""Engines of imrec.distributed.pack(), with real clusters: the bytes are those of one process, whoever is killed."""
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import pytest

import imrec
import imrec.distributed
from conftest import jpeg, make_image
from engines_support import LARGE, at_work, cluster_of, killing_workers, s3_server, start, wait_until
from imrec._engines import _pool, _processes
from tests_support import files_in

# On its own, an engine is found or started by pack().
PACK = """import signal, sys, imrec.distributed
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background of a shell
    imrec.distributed.pack(*sys.argv[1:4], workers=2, tasks=8, **%r)
""" % LARGE


@pytest.fixture(scope="module", params=["processes", "ray", "spark", "dask"])
def engine(request):
    """Engine and cluster of the arguments of pack()."""
    if request.param == "processes":
        yield {"engine": "processes", "workers": 2}
        return
    with cluster_of(request.param) as cluster:
        yield {"engine": request.param, "cluster": cluster}


@pytest.fixture
def folder(tmp_path):
    for i in range(24):
        place = tmp_path / "photos" / ("ant", "bee", "cat")[i % 3]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(jpeg(make_image(i)))
    for name in "ab":
        (tmp_path / name).mkdir()
    return tmp_path / "photos"


def same(tmp_path):
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


def run(engine, folder, out, **more):
    script = folder.parent / "job.py"
    script.write_text(PACK)
    return start(script, folder, out, engine["engine"], **more)


def test_what_an_engine_needs_is_said(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(imrec.ArgumentError, match="needs the Python package ray, .*: pip install ray"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", "ray")
    with pytest.raises(imrec.ArgumentError, match="cluster= is for other engines"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", cluster="auto")
    code = "import sys, imrec.distributed; sys.exit(bool({'ray', 'pyspark', 'distributed'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


class Held:
    """An engine whose first task never ends, and whose others end, or are lost."""

    def __init__(self, lost=None):
        self.begun, self.closed, self.lost = [], False, lost

    def room(self):
        return 2

    def start(self, task):
        self.begun.append(task)
        future = Future()
        if self.begun != [0] and task == self.lost:
            future.set_exception(OSError("no such host"))
        elif self.begun != [0]:
            future.set_result(_pool.attempt(self.plan, task, 1))
        return future

    def close(self):
        self.closed = True


def test_a_slow_task_is_given_out_again_once(folder, tmp_path, monkeypatch):
    engine = Held()
    monkeypatch.setattr(_processes, "Engine", lambda job: setattr(engine, "plan", job.plan) or engine)
    card = imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", tasks=3, resize=20)
    assert engine.begun == [0, 1, 2, 0] and engine.closed
    assert [entry["task"] for entry in card["tasks"]] == [1, 2, 0]


def test_a_task_whose_copies_are_lost_ends_the_call(folder, tmp_path, monkeypatch):
    engine = Held(lost=0)
    monkeypatch.setattr(_processes, "Engine", lambda job: setattr(engine, "plan", job.plan) or engine)
    with pytest.raises(imrec.Error, match="the worker of task 0 was lost: OSError: no such host"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", tasks=2, resize=20, retries=1)
    assert engine.begun == [0, 1, 0, 0] and engine.closed


@pytest.mark.parametrize("how", [{"shards": 4}, {"tasks": 5}, {"shard_size": 9000, "tasks": 3}, {"format": "cbf", "tasks": 2}])
def test_the_bytes_are_those_of_one_process(engine, folder, tmp_path, monkeypatch, how):
    (folder / "ant" / "empty.jpg").write_bytes(b"")
    out = "t.cbf" if "format" in how else "t.rec"
    card = imrec.pack(folder, tmp_path / "a" / out, resize=20, **{key: value for key, value in how.items() if key != "tasks"})
    told = []
    monkeypatch.chdir(tmp_path)  # where no worker is
    spread = imrec.distributed.pack("photos", f"b/{out}", resize=20, progress=told.append, **engine, **how)
    tries = spread.pop("tasks")
    assert spread == card and told[-1]["done"] == told[-1]["total"]
    assert {entry["task"] for entry in tries} == set(range(told[-1]["total"]))
    assert sum(entry["packed"] for entry in tries) == card["packed"]
    assert sum(entry["skipped"] for entry in tries) == card["skipped"] == 1
    same(tmp_path)


def test_an_error_of_a_task_is_raised_and_the_rest_continues(engine, folder, tmp_path):
    (folder / "ant" / "empty.jpg").write_bytes(b"")
    how = {"tasks": 4, "on_error": "stop", **engine}
    with pytest.raises(imrec.DataError, match="empty.jpg.* is empty; on_error=skip"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", retries=1, **how)
    (folder / "ant" / "empty.jpg").write_bytes(jpeg(make_image(99)))
    card = imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", **how)
    assert card["packed"] == 25 and len(card["tasks"]) < 4
    imrec.pack(folder, tmp_path / "a" / "t.rec", on_error="stop")
    same(tmp_path)


def test_a_worker_that_is_killed_loses_its_task_alone(engine, folder, tmp_path):
    with killing_workers(tmp_path / "b", 2) as killed:
        card = imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", tasks=8, **LARGE, **engine)
    assert len(killed) == 2 and card["packed"] == 24
    lost = [entry["error"] for entry in card["tasks"] if entry["error"]]
    assert len(lost) == (0 if engine["engine"] == "dask" else 2), lost  # whose scheduler gives the task to another worker
    assert all("was lost" in error for error in lost)
    imrec.pack(folder, tmp_path / "a" / "t.rec", **LARGE)
    same(tmp_path)


def test_a_driver_that_is_killed_is_continued(engine, folder, tmp_path):
    out = tmp_path / "b" / "t.rec"
    for number in (signal.SIGKILL, signal.SIGINT):
        with run(engine, folder, out) as job:
            wait_until(lambda: at_work(tmp_path / "b") - {job.pid} or job.poll() is not None)
            assert job.poll() is None, (tmp_path / "job.log").read_text()
            os.kill(job.pid, number)
            if number == signal.SIGINT:
                assert job.wait() != 0
        wait_until(lambda: not at_work(tmp_path / "b"))
    with run(engine, folder, out) as job:
        assert job.wait() == 0, (tmp_path / "job.log").read_text()
    imrec.pack(folder, tmp_path / "a" / "t.rec", **LARGE)
    same(tmp_path)


@pytest.mark.parametrize("where", ["files", "bucket"])
def test_plan_and_output_are_in_a_bucket(engine, folder, tmp_path, monkeypatch, where):
    """Images may be there, too."""
    with s3_server(tmp_path, monkeypatch) as (variables, bucket):
        if where == "bucket":
            shutil.copytree(folder, bucket / "photos")
        source = folder if where == "files" else "s3://imrec-test/photos"
        (tmp_path / "job.py").write_text(PACK)
        with start(tmp_path / "job.py", source, "s3://imrec-test/set/t.rec", engine["engine"], **variables) as job:
            assert job.wait() == 0, (tmp_path / "job.log").read_text()
        imrec.pack(folder, tmp_path / "a" / "t.rec", **LARGE)
        assert files_in(tmp_path / "a") == files_in(bucket / "set")
