"""python -m imrec: the programs that come with the package."""
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import imrec
from conftest import jpeg, make_image

MAIN = Path(imrec.__file__).parent / "__main__.py"


def run(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "imrec", *map(str, arguments)], capture_output=True, text=True, timeout=60, **more)


@pytest.mark.parametrize("program", ["imrec", "im2rec", "ctf2bin"])
def test_each_program_runs(program):
    done = run(program, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{program} {imrec.__version__}\n", "")


def test_arguments_without_a_program_are_those_of_imrec(shard):
    done = run("ls", "--limit", 2, shard)
    assert done.returncode == 0 and "1001" in done.stdout
    done = run("nope")
    assert done.returncode == 2 and "unknown command 'nope'" in done.stderr
    itself = subprocess.run([MAIN.parent / "bin" / "imrec", "info", "/nothing.rec"], capture_output=True, text=True, timeout=60)
    done = run("info", "/nothing.rec")
    assert (done.returncode, done.stderr) == (itself.returncode, itself.stderr) and done.returncode != 0


def test_what_im2rec_skips_is_its_exit_status(tmp_path):
    (tmp_path / "photos" / "a").mkdir(parents=True)
    (tmp_path / "photos" / "a" / "1.jpg").write_bytes(jpeg(make_image(1)))
    (tmp_path / "photos" / "a" / "2.jpg").write_bytes(b"none")
    done = run("im2rec", "--on-error", "skip", tmp_path / "photos", tmp_path / "a.rec")
    assert done.returncode == 3 and len(imrec.open(tmp_path / "a.rec")) == 1


def test_a_closed_pipe_ends_it_by_the_signal_that_ends_a_program(shard):
    statuses = []
    for command in ([sys.executable, "-m", "imrec"], [str(MAIN.parent / "bin" / "imrec")]):
        read, write = os.pipe()
        os.close(read)
        # bash: Python ignores SIGPIPE, and so would what it starts
        done = subprocess.run(["bash", "-c", 'trap - PIPE; "$@"', "bash", *command, "ls", shard], stdout=write,
                              stderr=subprocess.PIPE, timeout=60, restore_signals=True)
        os.close(write)
        statuses.append(done.returncode)
    assert statuses[0] == statuses[1] != 0


def test_what_is_not_there_is_an_error(tmp_path, capsys, monkeypatch):
    script = tmp_path / "scripts" / "im2rec"  # which runs the package's own; to run it would never end
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))
    copy = tmp_path / "__main__.py"
    copy.write_bytes(MAIN.read_bytes())
    before = {name: signal.getsignal(name) for name in (signal.SIGPIPE, signal.SIGXFSZ)}
    try:
        assert runpy.run_path(str(copy))["run"]("im2rec", []) == 127
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    assert f"im2rec: cannot run {tmp_path}/bin/im2rec" in capsys.readouterr().err
