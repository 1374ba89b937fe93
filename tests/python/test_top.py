"""imrec top: what it says of loaders that run is what they do."""
import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

import imrec
from tests_support import open_iter

PROGRAM = Path(imrec.__file__).parent / "bin" / "imrec"


def top(*arguments, status=0):
    done = subprocess.run([PROGRAM, "top", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout


class Running:
    """Reads batches of 8 in a thread, `pause` seconds apart."""

    def __init__(self, shard, where, pause=0.02, **more):
        self.it = open_iter(shard, metrics=where, last_batch="wrap", **more)
        self.ends = False
        self.thread = threading.Thread(target=self.read, args=(pause,))
        self.thread.start()

    def read(self, pause):
        while not self.ends:
            next(self.it)
            time.sleep(pause)

    def __enter__(self):
        return self.it

    def __exit__(self, *what):
        self.ends = True
        self.thread.join()
        self.it.close()


@pytest.mark.parametrize("kind", ["http", "unix", "file"])
def test_a_running_loader_is_seen_wherever_its_metrics_are(shard, tmp_path, kind):
    where = {"http": "127.0.0.1:0", "unix": f"unix:{tmp_path}/m.sock", "file": str(tmp_path / "m.prom")}[kind]
    with Running(shard, where) as it:
        where = it.metrics
        said = json.loads(top("--once", "--json", "--interval", 1, it.metrics))
    (loader,) = said["loaders"]
    assert not said["errors"] and (loader["rank"], loader["ranks"], loader["set"]) == ("0", "1", "train.rec")
    assert loader["images"] > 0 and loader["failed"] == 0 and loader["source"] == where
    assert 50 < loader["images_per_s"] < 500 and loader["limit"] == "training"  # 8 of them each 20 ms or more
    assert loader["consumer_wait_share"] < 0.2 and loader["all_ready_share"] > 0.5


def test_several_loaders_are_a_line_each_and_a_sum(shard, tmp_path):
    with Running(shard, "127.0.0.1:0", num_parts=2, part_index=0) as one, Running(
            shard, f"unix:{tmp_path}/m.sock", num_parts=2, part_index=1) as two:
        text = top("--once", "--interval", 0.5, one.metrics, two.metrics)
        lines = text.splitlines()
        assert lines[0].startswith("2 loaders: ") and len(lines) == 4 and "\033" not in text
        assert lines[2].startswith("0/2 ") and lines[3].startswith("1/2 ") and lines[3].endswith("train.rec")
        rows = [json.loads(line) for line in top("--json", "--count", 3, "--interval", 0.3, one.metrics).splitlines()]
        assert len(rows) == 3 and rows[0]["loaders"][0]["images"] < rows[2]["loaders"][0]["images"]
        assert "images_per_s" not in rows[0]["loaders"][0] and rows[2]["loaders"][0]["images_per_s"] > 0
        said = json.loads(top("--once", "--json", "--interval", 0.3, one.metrics, tmp_path / "none", status=3))
        assert len(said["loaders"]) == 1 and "none: cannot be read: No such file" in said["errors"][0]


def test_failed_samples_are_counted(broken):
    with Running(broken, "127.0.0.1:0", on_error="skip") as it:
        time.sleep(0.5)
        assert json.loads(top("--once", "--json", "--interval", 0.3, it.metrics))["loaders"][0]["failed"] > 0


def test_a_file_that_is_no_longer_renewed_is_no_news(shard, tmp_path):
    path = tmp_path / "m.prom"
    with open_iter(shard, metrics=str(path)) as it:
        next(it)
    os.utime(path, (time.time() - 60,) * 2)
    said = json.loads(top("--json", "--count", 1, path))
    assert said["loaders"][0]["limit"] == "no news" and "images_per_s" not in said["loaders"][0]


ANSWERS = [b"", b"no HTTP", b"HTTP/1.1 404 Not Found\r\n\r\n", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\nnothing of a loader\n",
           b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (1 << 21), b"HTTP/1.1 200 OK\r\n\r\nimrec_images_total{rank=\"\x1b[2J"]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_server_that_is_no_loader_is_an_error(answer):
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            client, _ = server.accept()
            with client:
                client.recv(4096)
                try:
                    client.sendall(answer)
                except OSError:
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        text = top("--count", 1, f"127.0.0.1:{server.getsockname()[1]}", status=1)
        thread.join()
    assert text.startswith("0 loaders") and "127.0.0.1" in text and "\x1b" not in text


def test_a_server_that_is_silent_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as server:
        begin = time.monotonic()
        assert "timed out" in top("--count", 1, f"127.0.0.1:{server.getsockname()[1]}", status=1)
        assert 2 < time.monotonic() - begin < 20


def test_a_terminal_is_painted_and_ctrl_c_gives_the_cursor_back(shard):
    pty = pytest.importorskip("pty")
    with Running(shard, "127.0.0.1:0") as it:
        main, end = pty.openpty()
        process = subprocess.Popen([PROGRAM, "top", "--interval", "0.2", it.metrics], stdout=end)
        os.close(end)
        seen = b""
        while seen.count(b"1 loader:") < 3:
            seen += os.read(main, 4096)
        process.send_signal(2)
        try:
            while more := os.read(main, 4096):
                seen += more
        except OSError:
            pass  # Linux says so at the end
        assert process.wait(20) == 0
        os.close(main)
    assert seen.startswith(b"\x1b[?25l") and seen.endswith(b"\x1b[?25h") and b"training" in seen
