"""Clusters of engines on this machine, what is at work in them, and a server of buckets."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

LARGE = {"resize": 1200, "quality": 80}  # so that a task takes long enough to be killed
SERVERS = Path(__file__).parents[1] / "servers"


def ray_cluster():
    ray = pytest.importorskip("ray", reason="ray is not installed")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    return None, ray.shutdown


def spark_cluster():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs java: there is none")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    return session, session.stop


def dask_cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    return cluster, cluster.close


@contextlib.contextmanager
def cluster_of(engine):
    """A cluster that ends with the block; None of Ray, to which the process is connected."""
    patch = pytest.MonkeyPatch()
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    close = patch.undo
    try:
        cluster, close = globals()[f"{engine}_cluster"]()
        yield cluster
    finally:
        close()
        patch.undo()


def at_work(folder):
    """Processes that have a file in the folder open: they are in mid-task. Not this one."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:  # processes and files come and go
            if any(os.readlink(entry.path).startswith(f"{folder}/") for entry in os.scandir(f"/proc/{pid}/fd")):
                found.add(int(pid))
        except OSError:
            pass
    return found - {os.getpid()}


@contextlib.contextmanager
def killing_workers(folder, count):
    """Kills so many processes that are at work in the folder, one after the other; they are in the list that it gives."""
    killed, ended = [], threading.Event()

    def kill():
        while len(killed) < count and not ended.wait(0.01):
            for pid in sorted(at_work(folder) - set(killed))[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        ended.set()
        killer.join()


def wait_until(true):
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def start(script, *words, **more):
    """A script by itself, as a user starts it; what it says is in job.log next to it."""
    log = open(script.parent / "job.log", "ab")
    return subprocess.Popen([sys.executable, script, *words], start_new_session=True, stdout=log, stderr=log,
                            env={**os.environ, "RAY_ADDRESS": "local", **more})


@contextlib.contextmanager
def s3_server(tmp_path, monkeypatch):
    """Variables of a server of its own, and the folder of its bucket."""
    monkeypatch.setenv("IMREC_SERVERS_RUN", str(tmp_path / "run"))
    monkeypatch.setenv("IMREC_SERVERS_INSTALL", "no")
    begun = subprocess.run(["bash", "-c", f'set -e; set="$({SERVERS} s3 start)"; eval "$set"; env -0'], capture_output=True,
                           text=True)
    if begun.returncode == 77:
        pytest.skip(begun.stderr.strip().splitlines()[-1])
    assert begun.returncode == 0, begun.stderr
    try:
        yield dict(row.split("=", 1) for row in begun.stdout.split("\0") if row), tmp_path / "run" / "s3" / "data" / "imrec-test"
    finally:
        subprocess.run([SERVERS, "s3", "stop"], check=True)
