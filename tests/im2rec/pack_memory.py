#!/usr/bin/env python3
"""pack_memory.py IM2REC: what a run holds, measured from outside, of small files that take much memory.

The peak is at most --memory, 64 MiB, and 64 MiB a worker; a target of --resize that is too large is refused by
arithmetic; in an address space that is too small a run packs what fits, or ends with a sentence and can be resumed.
Nothing but the standard library.
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
import make_hostile  # noqa: E402

MIB = 1 << 20
CONSTANT, WORKER = 64 * MIB, 64 * MIB  # docs/guide/packing.md
SMALL = 60


def run(command, limit=None):
    """Status, peak of the resident set in bytes, what was said."""
    def confine():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=said, stderr=said, preexec_fn=confine if limit else None)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return child.returncode, usage.ru_maxrss * 1024, said.read().decode()


def make(folder, scale):
    for name, data in make_hostile.files(scale):
        where = folder / name.replace(".", "_")
        where.mkdir(parents=True)
        (where / name).write_bytes(data)
    plain = make_hostile.jpeg(320, 240)
    for i in range(SMALL):
        where = folder / f"small{i % 7}"
        where.mkdir(exist_ok=True)
        (where / f"{i:02}.jpg").write_bytes(plain)
    return folder


def fresh(out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    return out / "x.rec"


def reasons(out):
    found = {}
    for line in (out / "report").read_text().splitlines():
        entry = json.loads(line)
        if entry["result"] == "skipped":
            found[pathlib.Path(entry["path"]).name] = (entry["code"], entry["reason"])
    return found


def check_peak(im2rec, source, out, memory, threads, more):
    rec = fresh(out)
    command = [im2rec, source, rec, "--memory", f"{memory}M", "--threads", str(threads), "--quiet",
               "--report", out / "report"] + more
    status, peak, said = run(command)
    most = memory * MIB + CONSTANT + threads * WORKER
    skipped = reasons(out)
    print(f"memory {memory} MiB, {threads} workers, {' '.join(more)}: peak {peak >> 20} MiB of {most >> 20}, "
          f"{len(skipped)} skipped", flush=True)
    assert status in (0, 3), (status, said)
    assert peak <= most, (peak, most)
    assert not [name for name in skipped if name[0].isdigit()], skipped
    assert all(code != "no_memory" for code, _ in skipped.values()), skipped
    if "--resize" in more and "--center-crop" not in more:
        for name in ("line.jpg", "column.jpg"):
            code, reason = skipped[name]
            assert code == "too_large" and reason.startswith("resized it would have "), skipped[name]
    return skipped


def check_address_space(im2rec, source, out, limit, threads):
    rec = fresh(out)
    command = [im2rec, source, rec, "--resize", "256", "--threads", str(threads), "--quiet", "--report", out / "report"]
    status, peak, said = run(command, limit * MIB)
    print(f"address space {limit} MiB, {threads} workers: status {status}, peak {peak >> 20} MiB, "
          f"{said.strip().splitlines()[-1:]}", flush=True)
    assert status in (1, 3, 127), (status, said)
    if status == 127:  # there was no room for its libraries
        assert list(out.iterdir()) == []
        return False
    if status == 3:
        assert rec.exists() and (out / "x.idx").read_text().count("\n") > 0
        return True
    assert said.startswith("im2rec: "), said
    assert not rec.exists()
    status, _, said = run(command + ["--resume"] if (out / "x.journal.part").exists() else command)
    assert status == 3 and rec.exists(), (status, said)
    return False


def main():
    im2rec = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="imrec-memory-") as name:
        folder = pathlib.Path(name)
        large, out = make(folder / "large", 3), folder / "out"
        few = check_peak(im2rec, large, out, 16, 1, ["--resize", "64"])
        more = check_peak(im2rec, large, out, 1024, 4, ["--resize", "256"])
        assert len(more) < len(few), (more, few)
        check_peak(im2rec, large, out, 512, 2, [])
        check_peak(im2rec, large, out, 512, 4, ["--resize", "64", "--encoding", "png"])
        check_peak(im2rec, large, out, 256, 16, ["--resize", "256"])
        check_peak(im2rec, large, out, 512, 4, ["--augment", "rotate=30 max_random_scale=1.5 data_shape=3,300,300"])
        check_peak(im2rec, large, out, 512, 4, ["--pass-through", "--check", "decode"])
        check_peak(im2rec, large, out, 512, 4, ["--pass-through", "--tile"])
        check_peak(im2rec, large, out, 512, 2, ["--format", "cbf", "--pixels", "--resize", "64", "--center-crop"])
        usual = make(folder / "usual", 1)
        packed = [check_address_space(im2rec, usual, out, limit, threads)
                  for limit, threads in ((24, 1), (40, 1), (44, 2), (56, 2), (80, 2), (160, 4), (400, 64), (8000, 2))]
        assert packed[-1] and not packed[0], packed


main()
