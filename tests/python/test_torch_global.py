"""imrec.torch.Loader with order="global": jobs whose number of ranks changes, and ranks that do not agree."""
import json
import logging
import subprocess
import sys

import pytest

import imrec
from conftest import jpeg, make_image, write_shard
from tests_support import SHAPE, warnings_of

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402
from imrec import _agree  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")
needs_distributed = pytest.mark.skipif(not torch.distributed.is_available(), reason="torch is built without torch.distributed")
BATCH, SAMPLES = 12, 100
OPTIONS = {"data_shape": SHAPE, "shuffle": True, "seed": 5, "rand_mirror": True, "preprocess_threads": 1, "order": "global",
           "global_batch_size": BATCH, "weights": True}

# A rank of a training: resumes, writes what each step saw, saves its place after each, and waits for its end after `stop` steps.
RANK = """import json, os, sys, time
import torch, torch.distributed as dist
import imrec.torch
path, ranks, rank, stop, folder, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:]
dist.init_process_group("gloo", init_method=f"file://{folder}/store{ranks}", rank=rank, world_size=ranks)
loader = imrec.torch.Loader(path, **json.loads(options))
place = os.path.join(folder, "checkpoint.pt")
if os.path.exists(place):
    loader.load_state_dict(torch.load(place)["loader"])
for n, (images, labels, weights) in enumerate(loader, 1):
    dist.all_reduce(torch.ones(1))  # hangs unless every rank has a batch
    if rank == ranks - 1:
        torch.save({"loader": loader.state_dict()}, place + ".part")
        os.replace(place + ".part", place)
    dist.barrier()
    print(json.dumps([labels[weights == 1].tolist(), images[weights == 1].flatten(1).tolist()]), flush=True)
    if n == stop:
        time.sleep(1000)
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    for name, some in (("a", range(60)), ("b", range(60, SAMPLES))):
        write_shard(folder / f"{name}.rec", [(i, i, jpeg(make_image(i))) for i in some])
    return str(folder)


def loader(path, rank=0, world=1, **more):
    return imrec.torch.Loader(path, rank=rank, world_size=world, **{**OPTIONS, **more})


def steps_of(loop):
    """Labels and images of each step; without slots that only keep a rank in step with the others."""
    return [(labels[weights == 1].tolist(), images[weights == 1].flatten(1).tolist()) for images, labels, weights in loop]


def start(path, tmp_path, ranks, stop, more=lambda rank: {}, script=RANK):
    (tmp_path / "rank.py").write_text(script)
    return [subprocess.Popen([sys.executable, tmp_path / "rank.py", path, str(ranks), str(r), str(stop), tmp_path,
                              json.dumps({**OPTIONS, **more(r)})], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for r in range(ranks)]


def run_and_kill(path, tmp_path, ranks, stop):
    """The global batches of `stop` steps, after which all ranks are killed (kill -9); 0: to the end."""
    seen = []
    for job in (jobs := start(path, tmp_path, ranks, stop)):
        lines = [job.stdout.readline() for _ in range(stop)] if stop else list(job.stdout)
        assert lines and all(lines), job.stderr.read()
        seen.append([json.loads(line) for line in lines])
    for job in jobs:
        with job:
            job.kill()
    return [(sum((labels for labels, _ in step), []), sum((images for _, images in step), [])) for step in zip(*seen)]


@needs_distributed
def test_a_job_killed_on_4_ranks_continues_on_2_and_then_on_3(packed, tmp_path):
    seen = run_and_kill(packed, tmp_path, 4, 3) + run_and_kill(packed, tmp_path, 2, 2) + run_and_kill(packed, tmp_path, 3, 0)
    with loader(packed) as alone:
        assert seen == steps_of(alone)
    assert sorted(sum((labels for labels, _ in seen), [])) == list(range(SAMPLES))


@pytest.mark.parametrize("stop", [0, 4, 9])
def test_a_state_of_any_rank_resumes_any_number_of_ranks(packed, stop):
    with loader(packed) as one:
        sweeps = [steps_of(one) for _ in range(2)]
    with loader(packed, rank=2, world=4) as ours:
        assert (ours.batch_size, len(ours)) == (3, 9)
        for _ in zip(range(stop), ours):
            pass
        state = json.loads(json.dumps(ours.state_dict()))
    for world in (1, 2, 3, 6, 12):
        ranks = [loader(packed, rank, world) for rank in range(world)]
        for ours in ranks:
            ours.load_state_dict(state)
        for expected in (sweeps[0][stop:], sweeps[1]):
            got = zip(*map(steps_of, ranks))
            assert [(sum((p[0] for p in step), []), sum((p[1] for p in step), [])) for step in got] == expected
        for ours in ranks:
            ours.close()


def test_states_of_the_other_order_and_another_batch_of_the_job_are_refused_by_name(packed):
    local = {"order": "local", "global_batch_size": 0, "batch_size": 4}
    with loader(packed, 1, 2) as ours, loader(packed, 1, 2, **local) as shares, loader(packed, **local) as alone:
        with pytest.raises(imrec.ArgumentError, match="a job of 2 ranks.*order='global'"):
            alone.load_state_dict(shares.state_dict())
        for taker, giver in ((ours, alone), (alone, ours)):
            with pytest.raises(imrec.ArgumentError, match="order"):
                taker.load_state_dict(giver.state_dict())
        with loader(packed, global_batch_size=14) as other, pytest.raises(imrec.ArgumentError, match="global_batch_size"):
            other.load_state_dict(ours.state_dict())
    with pytest.raises(imrec.ArgumentError, match="global_batch_size must be a multiple"):
        loader(packed, 0, 5)


# ---- ranks that do not agree -----------------------------------------------------------------------------------------

def ends_of(jobs):
    """The last line that each wrote before it ended."""
    return [job.communicate(timeout=300)[1].strip().splitlines()[-1] for job in jobs]


@needs_distributed
def test_a_rank_with_another_seed_is_an_error_on_every_rank(packed, tmp_path):
    ends = ends_of(start(packed, tmp_path, 3, 0, lambda rank: {"seed": 6} if rank == 2 else {}))
    assert all("ArgumentError" in end and "rank 2 has seed=6 (not 5), unlike rank 0" in end for end in ends), ends


@needs_distributed
def test_a_rank_without_its_data_is_an_error_on_every_rank(packed, tmp_path):
    script = RANK.replace("loader = ", "path += '.no' * (rank == 1)\nloader = ")
    ends = ends_of(start(packed, tmp_path, 2, 0, script=script))
    assert "MissingFileError" in ends[1] and "rank 1 of 2 could not open its data: MissingFileError: " in ends[0], ends


@needs_distributed
def test_a_rank_that_opens_nothing_is_named_after_the_timeout_of_the_group(packed, tmp_path):
    script = RANK.replace("rank=rank,", "timeout=__import__('datetime').timedelta(seconds=5), rank=rank,").replace(
        "loader = ", "if rank == 1: sys.exit('away')\nloader = ")
    ends = ends_of(start(packed, tmp_path, 2, 0, script=script))
    assert ends[1] == "away" and "rank 1 has opened no Loader" in ends[0], ends


def test_what_differs_is_said_by_name(packed, tmp_path):
    def facts(path=packed, rank=0, world=3, **more):
        with loader(path, rank, world, **more) as ours:
            return _agree.facts(ours._it)

    write_shard(tmp_path / "other.rec", [(0, 0, jpeg(make_image(0)))])
    usual = [facts(rank=rank) for rank in range(3)]
    assert _agree.disagreement(usual) == ""
    for more, words in (({"locality": "chunk"}, "locality=chunk"), ({"global_batch_size": 15}, "batch_size=5"),
                        ({"last_batch": "drop"}, "last_batch=drop"), ({"seed_aug": 3}, "seed_aug=3"), ({"world": 2}, "num_parts=2"),
                        ({"path": str(tmp_path / "other.rec")}, "has other data (")):
        said = _agree.disagreement([facts(**more), *usual])
        assert "rank 0 has " in said and words in said and "unlike rank 1" in said, said
    local = {"order": "local", "global_batch_size": 0, "batch_size": 4}
    assert _agree.disagreement([facts(rank=rank, **local) for rank in range(3)]) == ""
    assert "ranks 0, 2 have seed=1 (not 2)" in _agree.disagreement(
        [{"fingerprint": str(s), "seed": s} for s in (1, 2, 1, 2, 2)])


@needs_distributed
def test_a_loader_of_before_the_process_group_is_told_of_it(packed, tmp_path, monkeypatch, caplog):
    early, said = imrec.torch.Loader(packed, **OPTIONS), imrec.torch.Loader(packed, world_size=1, **OPTIONS)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    with caplog.at_level(logging.WARNING, logger="imrec"):
        for _ in range(2):
            next(iter(said)), next(iter(early))
    assert ["rank 0 of 1, although this process is rank 1 of 2" in w for w in warnings_of(caplog)].count(True) == 1
    early.close(), said.close()
