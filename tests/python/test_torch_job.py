"""Jobs of several ranks: equally many batches, every record, and one state for all of them."""
import json
import multiprocessing
import os
import pickle
import traceback

import pytest

import imrec
from conftest import jpeg, make_image, write_shard
from tests_support import SHAPE

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")
OPTIONS = {"data_shape": SHAPE, "batch_size": 4, "preprocess_threads": 2, "shuffle": True, "rand_mirror": True}


def loader(path, **more):
    return imrec.torch.Loader(path, **{**OPTIONS, **more})


@pytest.fixture(params=["index", "windows"])
def sets(request, tmp_path):
    """53 records in two shards; small windows without an index."""
    for name, some in (("a", range(30)), ("b", range(30, 53))):
        write_shard(tmp_path / f"{name}.rec", [(i, i, jpeg(make_image(i, 48))) for i in some], index=request.param == "index")
    return str(tmp_path)


def batches_of(loop):
    return [(images.clone(), labels.tolist()) for images, labels in loop]


def equal(one, other):
    return len(one) == len(other) and all(a[1] == b[1] and torch.equal(a[0], b[0]) for a, b in zip(one, other))


def test_ranks_deliver_every_record_in_equally_many_batches(sets):
    seen, lengths = set(), set()
    for rank in range(3):
        with loader(sets, rank=rank, world_size=3) as ours:
            batches = batches_of(ours)
            assert (ours.rank, ours.world_size) == (rank, 3) and len(ours) == len(batches)
            lengths.add(len(batches))
            seen |= {label for _, labels in batches for label in labels}
    assert seen == set(range(53)) and len(lengths) == 1


@pytest.mark.parametrize("stop", [0, 1, 2, 4, 5, 6, 7])
@pytest.mark.parametrize("send", [pickle, json])
def test_any_ranks_state_restores_all_ranks(sets, stop, send):
    """5 batches a sweep: stops in the first and in the second one, and at their ends."""
    world, followed, states = 3, [], []
    for rank in range(world):
        with loader(sets, rank=rank, world_size=world) as ours:
            loop = ours.sweep()
            for n in range(stop):
                if n == len(ours):
                    loop = ours.sweep()
                next(loop)
            states.append(send.loads(send.dumps(ours.state_dict())))
            followed.append([batches_of(loop), batches_of(ours.sweep())])
    assert len({len(rest) for rest, _ in followed}) == 1
    for saved in range(world):
        for rank in range(world):
            with loader(sets, rank=rank, world_size=world, preprocess_threads=1) as ours:
                next(iter(ours))
                ours.load_state_dict(states[saved])
                rest, after = followed[rank]
                assert equal(batches_of(ours), rest) and equal(batches_of(ours), after), (saved, rank)


def test_a_state_of_another_world_size_is_refused_with_a_sentence(sets):
    with loader(sets, rank=1, world_size=2) as ours:
        state = ours.state_dict()
    assert "rank" not in state and state["world_size"] == 2
    for place in ({"rank": 0, "world_size": 3}, {"world_size": 1}):
        with loader(sets, **place) as ours, pytest.raises(imrec.ArgumentError, match="a job of 2 ranks.*run it with 2 ranks"):
            ours.load_state_dict(state)
    with loader(sets, world_size=1) as alone, loader(sets, rank=0, world_size=2) as ours:
        with pytest.raises(imrec.ArgumentError, match="a job of 1 ranks"):
            ours.load_state_dict(alone.state_dict())


def train(rank, world, folder, sets, stop, out):
    """What a rank of a job sees: to its end, or, with `stop`, up to a checkpoint of rank 0's state alone and then its own ending."""
    try:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store{stop}", rank=rank, world_size=world)
        seen, path = [], os.path.join(folder, "checkpoint.pt")
        with loader(sets) as ours:  # rank and world size are torch.distributed's
            assert (ours.rank, ours.world_size) == (rank, world)
            if stop is None and os.path.exists(path):
                ours.load_state_dict(torch.load(path, weights_only=False)["loader"])
            for _ in range(2):
                for images, labels in ours:
                    step = torch.tensor([float(len(labels))])
                    torch.distributed.all_reduce(step)  # hangs unless every rank has a batch
                    seen.append((labels.tolist(), round(float(images.sum()), 1)))
                    if len(seen) == stop:
                        if rank == 0:
                            torch.save({"loader": ours.state_dict()}, path)
                        torch.distributed.barrier()
                        out.put((rank, seen))
                        return
        out.put((rank, seen))
    except BaseException:
        out.put((rank, traceback.format_exc()))
        raise
    finally:
        torch.distributed.destroy_process_group()


def run_job(world, folder, sets, stop):
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    ranks = [context.Process(target=train, args=(rank, world, str(folder), sets, stop, out)) for rank in range(world)]
    for process in ranks:
        process.start()
    seen = dict(out.get(timeout=300) for _ in ranks)
    for process in ranks:
        process.join(60)
        assert process.exitcode == 0, seen
    return [seen[rank] for rank in range(world)]


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch is built without torch.distributed")
@pytest.mark.parametrize("sets", ["windows"], indirect=True)
def test_a_job_that_keeps_rank_0s_state_goes_on_where_it_was(sets, tmp_path):
    for name in ("whole", "stopped"):
        (tmp_path / name).mkdir()
    whole = run_job(2, tmp_path / "whole", sets, None)
    before = run_job(2, tmp_path / "stopped", sets, 3)
    after = run_job(2, tmp_path / "stopped", sets, None)
    for rank in range(2):
        assert before[rank] == whole[rank][:3]
        assert (before[rank] + after[rank])[:len(whole[rank])] == whole[rank]
