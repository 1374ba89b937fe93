"""imrec.distributed: plan, work and finish, and processes that share the tasks."""
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

import imrec
import imrec.distributed
from conftest import jpeg, make_image
from tests_support import left

PACK = """import sys, imrec.distributed
if __name__ == "__main__":
    imrec.distributed.pack(sys.argv[1], sys.argv[2], workers=2, tasks=int(sys.argv[3]), resize=200, threads=1)
"""


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


def files(path):
    return {name: (path / name).read_bytes() for name in left(path)}


def same(tmp_path):
    assert files(tmp_path / "a") == files(tmp_path / "b")


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


@pytest.mark.parametrize("how", [{"shards": 4}, {"tasks": 5}, {"shard_size": 9000, "tasks": 3}, {"format": "cbf", "tasks": 2}])
def test_processes_make_the_same_bytes(folder, tmp_path, how):
    out = "t.cbf" if "format" in how else "t.rec"
    options = {key: value for key, value in how.items() if key != "tasks"}
    card = imrec.pack(folder, tmp_path / "a" / out, resize=20, **options)
    told = []
    spread = imrec.distributed.pack(folder, tmp_path / "b" / out, workers=2, resize=20, progress=told.append, **how)
    assert without_times(spread) == card and told[-1]["done"] == told[-1]["total"]
    assert {entry["task"] for entry in spread["tasks"]} == set(range(told[-1]["total"]))
    assert sum(entry["packed"] for entry in spread["tasks"]) == card["packed"]
    same(tmp_path)


def test_what_cannot_be_is_refused(folder, tmp_path):
    with pytest.raises(imrec.ArgumentError, match="engine='spork'"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", engine="spork")
    imrec.distributed.make(folder, tmp_path / "b" / "t.rec", tmp_path / "b" / "t.rec.plan", resize=20)
    with pytest.raises(imrec.ArgumentError, match="is the plan of another command: its resize differs"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", resize=30)
    with pytest.raises(imrec.StorageError, match="plan"):
        imrec.distributed.status(tmp_path / "nothing")


def test_an_error_of_a_task_is_raised_and_the_rest_continues(folder, tmp_path):
    with pytest.raises(imrec.DataError, match="empty.jpg.* is empty; on_error=skip"):
        imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", workers=2, tasks=4, retries=1, on_error="stop")
    (folder / "ant" / "empty.jpg").write_bytes(jpeg(make_image(99)))
    card = imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", workers=2, tasks=4, on_error="stop")
    assert card["packed"] == 41 and len(card["tasks"]) < 4
    imrec.pack(folder, tmp_path / "a" / "t.rec", on_error="stop")
    same(tmp_path)


def test_a_worker_that_is_killed_loses_its_task_alone(folder, tmp_path):
    imrec.pack(folder, tmp_path / "a" / "t.rec", resize=200)
    killed = []

    def kill(told):
        if told["done"] < told["total"] and len(killed) < 2:
            worker = multiprocessing.active_children()[0]
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    card = imrec.distributed.pack(folder, tmp_path / "b" / "t.rec", workers=2, tasks=9, resize=200, progress=kill)
    assert len(killed) == 2 and card["packed"] == 40
    same(tmp_path)


def test_a_job_that_is_killed_is_continued(folder, tmp_path):
    imrec.pack(folder, tmp_path / "a" / "t.rec", resize=200)
    (tmp_path / "job.py").write_text(PACK)
    run = [sys.executable, tmp_path / "job.py", folder, tmp_path / "b" / "t.rec", "9"]
    for seconds in (0.4, 0.8, 1.2):
        with subprocess.Popen(run, start_new_session=True, stderr=subprocess.DEVNULL) as job:
            time.sleep(seconds)
            os.killpg(job.pid, signal.SIGKILL)
    if not (tmp_path / "b" / "t.manifest.json").exists() or (tmp_path / "b" / "t.rec.plan").exists():
        subprocess.run(run, check=True)
    same(tmp_path)
