"""One rule for ImageRecordIter and Loader: a loop continues where the last one stopped, and none is short in silence."""
import itertools
import logging

import pytest

import imrec
from tests_support import labels_of

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def told(caplog):
    caplog.set_level(logging.WARNING, logger="imrec")
    return lambda: [r.getMessage() for r in caplog.records if r.name == "imrec"]


def sweeps_of(open_kind, shard, count=3, **more):
    with open_kind(shard, **more) as it:
        return [labels_of(it) for _ in range(count)]


def test_after_break_the_rest_of_the_sweep_comes_first(open_kind, shard, told):
    sweeps = sweeps_of(open_kind, shard)
    with open_kind(shard) as it:
        for n, _ in enumerate(it):
            if n == 1:
                break
        assert labels_of(it) == sweeps[0][2:] and labels_of(it) == sweeps[1]
    assert len(told()) == 1 and "16 samples into sweep 0" in told()[0]
    assert "rewind()" in told()[0] and "sweep()" in told()[0]


def test_a_loop_in_mid_sweep_is_told_once_an_object(open_kind, shard, told):
    for _ in range(2):
        with open_kind(shard) as it:
            for _ in range(3):
                next(iter(it))
    assert len(told()) == 2


def test_a_sweep_of_which_every_batch_was_read_is_followed_by_the_next(open_kind, shard, told):
    sweeps = sweeps_of(open_kind, shard)
    with open_kind(shard) as it:
        for k in range(3):  # the end itself is never met
            assert labels_of(itertools.islice(it, len(it))) == sweeps[k]
    with open_kind(shard, last_batch="drop") as it:  # 5 samples are left, and dropped
        for k in range(3):
            assert labels_of(itertools.islice(it, 4)) == sweeps[k][:4]
    assert told() == []


def test_rewind_goes_to_the_next_sweep_and_sweep_is_a_whole_one(open_kind, shard, told):
    sweeps = sweeps_of(open_kind, shard, 5)
    with open_kind(shard) as it:
        it.rewind()  # at a start it changes nothing
        next(iter(it))
        it.rewind()
        assert labels_of(it) == sweeps[1]
        assert labels_of(it.sweep()) == sweeps[2]
        next(iter(it))
        loop = it.sweep()
        assert labels_of(loop) == sweeps[4] and list(loop) == []
    assert told() == []


def test_a_state_is_gone_on_with_and_not_told(open_kind, shard, told):
    sweeps = sweeps_of(open_kind, shard)
    with open_kind(shard) as it, open_kind(shard) as other:
        for stop in range(6):
            list(itertools.islice(it, stop))
            state = it.state_dict()
            list(it.sweep())
            other.load_state_dict(state)
            rest = labels_of(other)
            assert rest == sweeps_of(open_kind, shard, 20)[state_sweep(state)][stop:], stop
    assert sum("samples into" in line for line in told()) == 0


def state_sweep(state):
    import json
    return json.loads(state["position"])["sweep"]


def test_a_sweep_is_over_when_something_else_moves_the_place(open_kind, shard):
    with open_kind(shard) as it:
        for move in (lambda: next(iter(it)), it.rewind, lambda: next(it.sweep()), lambda: it.load_state_dict(it.state_dict())):
            loop = it.sweep()
            next(loop)
            move()
            with pytest.raises(RuntimeError, match="one place in the data"):
                next(loop)


def test_a_sweep_goes_on_after_samples_that_failed(open_kind, broken):
    with open_kind(broken, shuffle=False) as it:
        loop = it.sweep()
        with pytest.raises(imrec.DataError):
            next(loop)
        assert labels_of(loop) == [list(range(8, 16)), list(range(16, 20))] and list(loop) == []


def test_where_batches_run_on_there_is_no_sweep_and_nothing_is_told(open_kind, shard, told):
    for more in ({"last_batch": "wrap"}, {"epoch_size": "INFINITELY_REPEAT"}):
        with open_kind(shard, **more) as it:
            list(itertools.islice(it, 7))
            list(itertools.islice(it, 7))
            with pytest.raises(TypeError, match="without an end"):
                it.sweep()
    assert told() == []


def test_epochs_follow_the_rule_too(open_kind, shard, told):
    with open_kind(shard, epoch_size=24) as it:
        assert [len(labels_of(it)) for _ in range(3)] == [3, 3, 3]
        next(iter(it))
        assert len(labels_of(it)) == 2 and len(labels_of(it.sweep())) == 3
    assert len(told()) == 1 and "8 samples into sweep 3" in told()[0]


def test_an_empty_partition_and_a_source_that_is_over_give_empty_loops(open_kind, tmp_path, shard):
    with open_kind(shard, epoch_size="FULL_DATA_SWEEP") as it:
        assert [len(labels_of(it)) for _ in range(3)] == [5, 0, 0]
    with open_kind(shard, max_samples=10) as it:
        assert [len(labels_of(it)) for _ in range(3)] == [2, 0, 0]


# ---- Loader alone ------------------------------------------------------------------------------------------------------

@pytest.fixture
def loader(open_kind, request):
    if "Loader" not in request.node.name.rpartition("[")[2]:
        pytest.skip("of Loader alone")
    return open_kind


def test_with_restart_every_loop_is_a_whole_sweep_as_a_dataloaders(loader, shard, told):
    sweeps = sweeps_of(loader, shard, 4)
    with loader(shard, restart=True) as it:
        next(iter(it))
        iter(it)  # a loop that is never begun costs nothing
        assert labels_of(it) == sweeps[1]
        loop = iter(it)
        next(loop)
        state = it.state_dict()
        assert labels_of(it) == sweeps[3]
        it.load_state_dict(state)
        assert labels_of(it) == sweeps[2][1:]
        assert labels_of(it) == sweeps[3]
    assert told() == []


def test_the_warning_of_a_loader_names_restart(loader, shard, told):
    with loader(shard) as it:
        next(iter(it))
        next(iter(it))
    assert "restart=True" in told()[0]


def test_of_two_loops_the_older_one_ends_with_a_word(loader, shard):
    with loader(shard) as it:
        old, new = iter(it), iter(it)
        next(new)
        with pytest.raises(RuntimeError, match="another loop"):
            next(old)
