"""Trainers resume in mid-epoch, through their own checkpoints, on other numbers of ranks: jobs of 4 ranks, killed (kill -9),
continue on 2, killed at the end of a sweep, then on 3, and see each sample once a sweep, as one rank does.

    python -m pytest tests/trainers/trainers.py      # in build/venv_trainers, which tools/dev/python_venv trainers makes
"""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python"))
from conftest import alone, jpeg, make_image, write_shard  # noqa: E402, F401

SAMPLES, BATCH, SWEEPS = 100, 12, 2
STEPS = -(-SAMPLES // BATCH)

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "train.rec"
    return write_shard(path, [(i, i, jpeg(make_image(i))) for i in range(SAMPLES)])


def command(trainer, packed, folder, ranks, stop):
    arguments = [os.path.join(HERE, f"train_{trainer}.py"), packed, str(folder), str(stop)]
    if trainer == "ray":
        return [sys.executable, *arguments, str(ranks)]
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", *arguments]


def diaries(folder, ranks):
    out = []
    for rank in range(ranks):
        path = folder / f"{ranks}.{rank}"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        out.append([json.loads(line) for line in lines if line.endswith("\n")])
    return out


def run(trainer, packed, folder, ranks, steps):
    """The batches of the job, of `steps` steps, before the next of which all ranks are killed; 0: to the end."""
    with open(folder / f"{ranks}.log", "wb") as log:
        job = subprocess.Popen(command(trainer, packed, folder, ranks, steps + 1 if steps else 0), stdout=log, stderr=log,
                               env={**os.environ, "OMP_NUM_THREADS": "1", "RAY_TRAIN_V2_ENABLED": "1"})
    try:
        while job.poll() is None and not (steps and all({"waits": True} in lines for lines in diaries(folder, ranks))):
            time.sleep(0.2)
        ended = job.poll()
        if steps and ended is None:
            for lines in diaries(folder, ranks):
                os.kill(lines[0]["pid"], signal.SIGKILL)
    finally:
        job.wait(300) if steps else job.kill()
    assert ended == (None if steps else 0), (folder / f"{ranks}.log").read_text()[-4000:]
    seen = [[entry["labels"] for entry in lines if "labels" in entry] for lines in diaries(folder, ranks)]
    assert len({len(labels) for labels in seen}) == 1, "ranks have unequally many steps"
    return [sum(step, []) for step in zip(*seen)]


@pytest.mark.parametrize("trainer", ["lightning", "accelerate", "ray"])
def test_a_job_killed_on_4_ranks_continues_on_2_and_then_on_3(trainer, packed, tmp_path):
    import imrec

    with imrec.ImageRecordIter(packed, data_shape=(3, 16, 16), shuffle=True, seed=5, order="global", batch_size=BATCH) as it:
        alone = [batch.ids[batch.valid].tolist() for _ in range(SWEEPS) for batch in it]
    seen = run(trainer, packed, tmp_path, 4, 3)
    assert seen == alone[:3]
    for ranks, last in ((2, STEPS), (3, 0)):  # killed after the sweep's last batch, and before its end is reached
        more = run(trainer, packed, tmp_path, ranks, last and last - 3)
        begin = alone.index(more[0])
        assert 0 < begin <= len(seen), "the job has not continued"
        assert trainer == "ray" or begin == len(seen)  # Ray registers a checkpoint a while after its report
        seen[begin:] = more
        assert seen == alone[:len(seen)]
    assert len(seen) == len(alone)
