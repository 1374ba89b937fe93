"""order="global": a job that is killed on 4 ranks continues on 2, then on 3, and sees each sample once."""
import json
import subprocess
import sys

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image
from tests_support import SHAPE

BATCH, SAMPLES = 12, 100

# A rank of a training: writes what it saw and, after each batch, where it is; waits to be killed after `stop` batches.
RANK = """import json, os, sys, time
import imrec
path, ranks, rank, stop, folder, locality = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:]
it = imrec.ImageRecordIter(path, data_shape=(3, 16, 16), batch_size=12 // ranks, shuffle=True, seed=5, rand_mirror=True,
                           order="global", locality=locality, num_parts=ranks, part_index=rank, preprocess_threads=1)
place = os.path.join(folder, "place.json")
if os.path.exists(place):
    it.load_state_dict(json.load(open(place)))
for n, batch in enumerate(it, 1):
    print(json.dumps([it.state_dict(), batch.ids[batch.valid].tolist(), float(batch.data.sum())]), flush=True)
    if n == stop:
        time.sleep(1000)
"""


@pytest.fixture
def packed(tmp_path):
    imrec.pack([(jpeg(make_image(i)), i % 7, i) for i in range(SAMPLES)], tmp_path / "t.rec", shard_size=20000)
    (tmp_path / "rank.py").write_text(RANK)
    return str(tmp_path / "t.manifest.json")


def open_rank(path, ranks, rank, **more):
    return imrec.ImageRecordIter(path, **{"data_shape": SHAPE, "batch_size": BATCH // ranks, "shuffle": True, "seed": 5,
                                          "rand_mirror": True, "order": "global", "num_parts": ranks, "part_index": rank,
                                          "preprocess_threads": 1, **more})


def start(path, tmp_path, ranks, stop, locality):
    return [subprocess.Popen([sys.executable, tmp_path / "rank.py", path, str(ranks), str(r), str(stop), tmp_path, locality],
                             stdout=subprocess.PIPE, text=True) for r in range(ranks)]


def run_and_kill(path, tmp_path, ranks, stop, locality):
    """`stop` batches of each rank, which is then killed; 0: to the end. Ids of the global batches; the place is kept."""
    jobs, lines = start(path, tmp_path, ranks, stop, locality), []
    for job in jobs:
        with job:
            lines.append([json.loads(job.stdout.readline()) for _ in range(stop)] if stop else
                         [json.loads(line) for line in job.stdout])
            job.kill()
    (tmp_path / "place.json").write_text(json.dumps(lines[-1][-1][0]))
    assert len({json.dumps(seen[-1][0]) for seen in lines}) == 1, "ranks are at different places"
    return [sum((entry[1] for entry in entries), []) for entries in zip(*lines)]


@pytest.mark.parametrize("locality", ["record", "chunk"])
def test_a_job_killed_on_4_ranks_continues_on_2_and_then_on_3(packed, tmp_path, locality):
    seen = run_and_kill(packed, tmp_path, 4, 3, locality)
    seen += run_and_kill(packed, tmp_path, 2, 2, locality)
    seen += run_and_kill(packed, tmp_path, 3, 0, locality)
    with open_rank(packed, 1, 0, locality=locality) as it:
        alone = [batch.ids[batch.valid].tolist() for batch in it]
    assert seen == alone and sorted(sum(seen, [])) == list(range(SAMPLES))


def test_every_sweep_is_another_and_pixels_are_those_of_one_rank(packed):
    with open_rank(packed, 1, 0) as one:
        assert len(one) == 9
        sweeps = [[(batch.ids.copy(), batch.data.copy()) for batch in one] for _ in range(2)]
    assert not np.array_equal(sweeps[0][0][0], sweeps[1][0][0])
    ranks = [open_rank(packed, 3, r) for r in range(3)]
    assert [len(it) for it in ranks] == [9] * 3
    for sweep in sweeps:
        for ids, data in sweep:
            parts = [next(it) for it in ranks]
            assert np.array_equal(np.concatenate([p.ids[p.valid] for p in parts]), ids)
            assert np.array_equal(np.concatenate([p.data[p.valid] for p in parts]), data)
        for it in ranks:
            with pytest.raises(StopIteration):
                next(it)
    for it in ranks:
        it.close()


def test_a_place_of_numbers_is_that_of_a_rank(packed):
    with open_rank(packed, 4, 1) as it:
        for _ in range(5):
            next(it)
        there = it.state_dict()
        assert json.loads(it.position_at(0, 60)["position"]) == json.loads(there["position"])
        follows = next(it).ids.copy()
        it.load_state_dict(it.position_at(0, 60))
        assert np.array_equal(next(it).ids, follows)
        with pytest.raises(imrec.ArgumentError, match="101"):
            it.position_at(0, 101)


def test_ranks_that_disagree_have_other_fingerprints(packed):
    def of(ranks, rank, **more):
        with open_rank(packed, ranks, rank, **more) as it:
            return it.fingerprint()

    assert of(3, 0) == of(3, 2) and len(of(3, 0)) == 16
    assert len({of(3, 0), of(2, 0), of(3, 0, seed=6), of(3, 0, locality="chunk"), of(3, 0, last_batch="drop")}) == 5


def test_what_does_not_fit_is_refused_by_name(packed):
    with pytest.raises(imrec.ArgumentError, match="global_batch_size"):
        open_rank(packed, 3, 0, global_batch_size=13)
    with pytest.raises(imrec.ArgumentError, match="mix_group"):
        open_rank(packed, 4, 0, mixup=0.5, num_classes=7, mix_group=2)
    with pytest.raises(imrec.UnsupportedError, match="imrec index"):
        open_rank(packed, 3, 0, path_imgidx="none")
