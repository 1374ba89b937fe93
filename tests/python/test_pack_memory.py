"""imrec.pack() of a long iterable: bounded memory, no file but the set's own, and Ctrl-C."""
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import imrec
from conftest import jpeg, make_image

HEAD = """
    import os, resource, sys, time
    import numpy as np
    import imrec
    out = sys.argv[1]
    def peak():  # KiB
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def run(code, *arguments, **more):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(HEAD) + textwrap.dedent(code), *map(str, arguments)],
                          capture_output=True, text=True, timeout=240, **more)


def test_a_long_iterable_costs_the_memory_that_was_given_and_no_temporary_file(tmp_path):
    """600 MB of items of 3 MB, with 32 MiB: before, all of it lay in files beside the set until it was packed."""
    (tmp_path / "a.jpg").write_bytes(jpeg(make_image(0)))
    done = run("""
        small = open(sys.argv[2], "rb").read()
        names, sizes = set(), []
        def items(n):
            for i in range(n):
                if i % 20 == 10:
                    names.update(os.listdir(os.path.dirname(out)))
                    sizes.append(sum(e.stat().st_size for e in os.scandir(os.path.dirname(out))) - 3000000 * i)
                yield small + bytes(3000000), i % 2
        imrec.pack(items(10), out, memory=32 << 20, threads=2)
        before = peak()
        card = imrec.pack(items(200), out, memory=32 << 20, threads=2, force=True)
        assert card["packed"] == 200 and card["encoded"] == {}, card
        print((peak() - before) >> 10, max(sizes) >> 20, *sorted(names))
        """, tmp_path / "set" / "o.rec", tmp_path / "a.jpg")
    assert done.returncode == 0, done.stderr
    grown, ahead, *names = done.stdout.split()
    assert int(grown) < 100, "MiB over what ten items took"
    assert int(ahead) < 64, "MiB on disk over what the items had"
    assert {n.replace(".part", "") for n in names} <= {"o.rec", "o.idx", "o.crc", "o.lst", "o.manifest.json", "o.journal", "o.lock"}


def test_arrays_cost_the_memory_that_was_given(tmp_path):
    done = run("""
        def items(n):
            for i in range(n):
                yield np.full((1000, 1000, 3), i % 251, np.uint8), i % 2
        imrec.pack(items(4), out, memory=16 << 20, threads=2)
        before = peak()
        imrec.pack(items(150), out, memory=16 << 20, threads=2, force=True)
        print((peak() - before) >> 10)
        """, tmp_path / "o.rec")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100


@pytest.mark.parametrize("where", ["in the iterable", "in C"])
def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path, where):
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(HEAD) + textwrap.dedent("""
        def items():
            try:
                for i in range(10 ** 9):
                    if i == 50:
                        print("begun", flush=True)
                        for _ in range(1000 if sys.argv[2] == "in the iterable" else 0):
                            time.sleep(0.1)  # short: without the GIL, a sleep may begin before Python looks at a signal
                    yield np.zeros((300, 300, 3), np.uint8), 0
            except KeyboardInterrupt:
                print("heard by the iterable", flush=True)
                raise
        try:
            imrec.pack(items(), out, threads=2)
        except KeyboardInterrupt:
            print("ended", sorted(os.listdir(os.path.dirname(out))), flush=True)
        """), str(tmp_path / "o.rec"), where], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert told.endswith("ended []\n"), told
    assert ("heard by the iterable" in told) == (where == "in the iterable") or where == "in C"


def test_a_killed_run_is_named_and_force_begins_again(tmp_path):
    out = tmp_path / "o.rec"
    done = run("""
        import signal
        def items():
            for i in range(50):
                yield np.zeros((30, 30, 3), np.uint8), 0
            os.kill(os.getpid(), signal.SIGKILL)
        imrec.pack(items(), out)
        """, out)
    assert done.returncode == -signal.SIGKILL and not out.exists()
    with pytest.raises(imrec.ArgumentError, match="a run was interrupted; force begins again"):
        imrec.pack([(make_image(0), 0)], out)
    imrec.pack([(make_image(0), 0)], out, force=True)
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
