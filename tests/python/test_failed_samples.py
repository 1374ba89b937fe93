"""No sample that failed and no padding reaches a loop as if it were one."""
import logging

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png, write_shard
from tests_support import SHAPE, open_iter

pytestmark = pytest.mark.usefixtures("alone")


def shard_with(path, count, bad, **more):
    """`count` records, labels 100 + i; those in `bad` are no images."""
    return write_shard(path, [(i, 100 + i, b"no image" if i in bad else jpeg(make_image(i))) for i in range(count)], **more)


@pytest.fixture
def holed(tmp_path):
    """20 records in batches of 8: 3 and 7 of the first fail, all of the second, 17 of the last."""
    return shard_with(tmp_path / "holed.rec", 20, {3, 7, *range(8, 16), 17}, index=False)


GOOD = [[0, 1, 2, 4, 5, 6], [16, 18, 19]]


def ids_of(batches):
    return [b.ids.tolist() for b in batches]


def test_a_batch_is_shorter_by_what_failed_and_one_without_samples_is_passed_over(holed):
    with open_iter(holed, on_error="skip") as it:
        for _ in range(2):
            batches = list(it)
            assert ids_of(batches) == GOOD
            assert [b.labels.tolist() for b in batches] == [[100 + i for i in ids] for ids in GOOD]
            for b in batches:
                assert b.valid.all() and not b.status.any() and b.data.reshape(b.slots, -1).any(1).all()
                assert b.count == b.slots == len(b.ids) and b.pad == 0
            assert [(b.failed, b.dropped) for b in batches] == [(2, 2), (1, 1)]
            assert "2 dropped" in repr(batches[0])


@pytest.mark.parametrize("more", [
    {}, {"num_views": 2, "rand_crop": True}, {"multi_crop": "2x16,3x8", "random_resized_crop": True}, {"layout": "NHWC"},
    {"dtype": "uint8"}, {"copy": True}, {"last_batch": "pad"}, {"last_batch": "wrap", "max_samples": 20}])
def test_what_is_left_is_what_was_there(holed, more):
    more = {"record_draws": True, "shuffle": True, "batch_size": 8, **more}
    with open_iter(holed, on_error="skip", **more) as it, open_iter(holed, on_error="stop", **more) as twin:
        for kept in it:
            while True:
                try:
                    whole = next(twin)
                except imrec.DataError as error:
                    whole = error.batch
                if whole.valid.any():
                    break
            good = whole.status == 0
            for ours, theirs in [(kept.labels, whole.labels), (kept.ids, whole.ids), (kept.valid, whole.valid),
                                 *zip(kept.views, whole.views), *zip(kept.view_draws, whole.view_draws)]:
                assert np.array_equal(ours, theirs[good])
            assert kept.data is kept.views[0] and kept.slots == good.sum()
            assert kept.count + kept.pad == kept.slots and kept.failed == kept.dropped == (~good).sum()


def test_rows_of_a_sample_go_together(holed):
    with open_iter(holed, on_error="skip", num_views=2) as it:
        for batch in it:
            assert batch.repeats == 2 and (batch.ids[::2] == batch.ids[1::2]).all()
    with open_iter(holed, num_views=2, on_error="skip", last_batch="pad") as it:
        batch = next(it)
    batch.valid[1] = False  # as if one view alone had failed
    before = batch.ids.tolist()
    batch._drop(~batch.valid)
    assert batch.ids.tolist() == before[2:] and batch.dropped >= 2


def test_masks_go_with_their_images(tmp_path):
    values = [np.arange(24 * 24).reshape(24, 24) % 7 + i for i in range(6)]
    path = write_shard(tmp_path / "m.rec", [(i, i, b"none" if i == 2 else png(v), png(v)) for i, v in enumerate(values)])
    with open_iter(path, masks="uint8", on_error="skip", rand_crop=True) as it:
        batch = next(it)
    assert batch.ids.tolist() == [0, 1, 3, 4, 5] and batch.masks.shape == (5, 16, 16) and batch.view_masks[0] is batch.masks
    assert (batch.masks == batch.data[:, 0]).all()


def test_partners_of_mixup_have_their_new_numbers(tmp_path):
    path = shard_with(tmp_path / "x.rec", 16, {0, 1, 5, 9})
    more = {"mixup": 1.0, "num_classes": 200, "record_draws": True, "batch_size": 16}
    with open_iter(path, on_error="skip", **more) as it, open_iter(path, on_error="stop", **more) as twin:
        batch = next(it)
        with pytest.raises(imrec.DataError) as raised:
            next(twin)
    whole, draws = raised.value.batch, batch.draws
    assert (draws["mix_share"] < 1).sum() >= 10
    for i, draw in enumerate(draws):
        if draw["mix_share"] < 1:
            old = whole.draws[whole.ids == batch.ids[i]][0]["mix_partner"]
            assert batch.ids[draw["mix_partner"]] == whole.ids[old] and draws["mix_partner"][draw["mix_partner"]] == i
            assert np.allclose(batch.labels[i] > 0, np.isin(np.arange(200), 100 + batch.ids[[i, draw["mix_partner"]]]))


def test_all_partitions_deliver_equally_many_batches_some_of_them_without_samples(holed):
    for part in range(2):
        with open_iter(holed, on_error="skip", num_parts=2, part_index=part, equal_batches=True, batch_size=4) as it:
            batches = list(it)
            assert len(batches) == len(it)
            for b in batches:
                assert b.count + b.pad == b.slots
                assert not b.status.any() if b.valid.any() else b.dropped == 0
            assert [bool(b.valid.any()) for b in batches] == [[True, True, False, False], [True, False, True, True]][part]


@pytest.mark.parametrize("last_batch", ["partial", "drop", "pad", "wrap"])
def test_a_sweep_in_which_everything_fails_is_an_error_and_no_empty_loop(tmp_path, last_batch):
    path = shard_with(tmp_path / "none.rec", 20, set(range(20)))
    with open_iter(path, on_error="skip", last_batch=last_batch) as it:
        for _ in range(2):
            with pytest.raises(imrec.DataError, match="all samples of a complete sweep failed.*(16|20|24) slots"):
                list(it)


def test_the_rest_of_a_sweep_in_which_everything_fails_is_no_error(tmp_path):
    path = shard_with(tmp_path / "end.rec", 20, set(range(16, 20)))
    with open_iter(path, on_error="skip") as it:
        next(it), next(it)
        state = it.state_dict()
        assert list(it) != []
        it.load_state_dict(state)
        assert list(it) == [] and len(list(it)) == 2


def test_padding_that_was_asked_for_is_flagged(shard):
    with open_iter(shard, last_batch="pad", on_error="skip") as it:
        last = list(it)[-1]
    assert last.slots == 8 and last.pad == 3 and last.valid.tolist() == [True] * 5 + [False] * 3 and last.dropped == 0


def test_mxnets_iterators_drop_what_failed_too(holed):
    with imrec.io.ImageRecordIter(path_imgrec=holed, data_shape=SHAPE, batch_size=8, on_error="skip", round_batch=False) as it:
        batches = list(it)
        assert [b.index[:len(b.index) - b.pad].tolist() for b in batches] == GOOD
        assert all((b.label[0] >= 100).sum() == len(b.index) - b.pad for b in batches) and [b.pad for b in batches] == [0, 4]


def test_replaced_samples_keep_batches_full(holed):
    with open_iter(holed, on_error="replace", last_batch="drop") as it, open_iter(holed, on_error="skip", last_batch="drop") as twin:
        batches = list(it)
        assert [(b.slots, b.replaced, b.failed, b.dropped) for b in batches] == [(8, 2, 0, 0), (8, 8, 0, 0)] and it.stats()["replaced"] >= 10
        kept = next(twin)
    assert all(b.valid.all() and b.data.reshape(8, -1).any(1).all() and (b.labels == 100 + b.ids).all() for b in batches)
    assert set(kept.ids) <= set(batches[0].ids) and not {3, 7, *range(8, 16)} & set(np.concatenate([b.ids for b in batches]).tolist())


def test_what_cannot_be_replaced_is_dropped(tmp_path):
    path = shard_with(tmp_path / "none.rec", 20, set(range(20)))
    with open_iter(path, on_error="replace") as it, pytest.raises(imrec.DataError, match="all samples of a complete sweep failed"):
        list(it)


# ---- Loader ------------------------------------------------------------------------------------------------------------

@pytest.fixture
def loader():
    pytest.importorskip("torch", reason="torch is not installed")
    return lambda path, **more: imrec.torch.Loader(path, **{"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, **more})


@pytest.fixture
def told(caplog):
    caplog.set_level(logging.WARNING, logger="imrec")
    return lambda: [r.getMessage() for r in caplog.records if "not samples" in r.getMessage()]


def test_a_loop_over_a_loader_sees_samples_alone(loader, holed, told):
    with loader(holed, on_error="skip") as ours:
        for images, labels in ours:
            assert len(images) == len(labels) and (labels >= 100).all() and images.flatten(1).any(1).all()
        assert [labels.tolist() for _, labels in ours] == [[100 + i for i in ids] for ids in GOOD]
    with loader(holed, on_error="skip", multi_crop="2x16,1x8", random_resized_crop=True) as ours:
        crops, labels = next(iter(ours))
        assert [len(c) for c in crops] == [6, 6, 6] and len(labels) == 6
    assert told() == []


@pytest.mark.parametrize("weights", [False, True])
def test_a_batch_of_one_of_several_ranks_keeps_slots_where_it_would_be_empty(loader, holed, told, weights):
    seen, counts = [], []
    for rank in range(2):
        with loader(holed, on_error="skip", rank=rank, world_size=2, batch_size=4, weights=weights) as ours:
            counts.append(0)
            for _ in range(2):
                for images, labels, *more in ours:
                    counts[-1] += 1
                    if weights:
                        assert more[0].tolist() == ours.batch.valid.tolist() and str(more[0].dtype) == "torch.float32"
                        labels = labels[more[0] > 0]
                    else:
                        assert more == []
                        labels = labels[ours.batch.valid]
                    seen += labels.tolist()
            assert counts[-1] == 2 * len(ours)
    assert counts[0] == counts[1] and sorted(seen) == sorted(100 + i for ids in GOOD for i in ids for _ in range(2))
    assert len(told()) == (0 if weights else 2)  # once a Loader
    if not weights:
        assert "(0 failed, 4 padding)" in told()[0] and "(4 failed, 0 padding)" in told()[1] and "weights=True" in told()[1]


def test_padding_of_equal_ranks_is_left_out_of_a_batch_with_samples(loader, tmp_path, told):
    path = shard_with(tmp_path / "odd.rec", 11, set())
    seen = []
    for rank in range(3):
        with loader(path, rank=rank, world_size=3, batch_size=3) as ours:
            batches = [(labels.tolist(), ours.batch.dropped, ours.batch.pad) for _, labels in ours]
            assert [sum(column) for column in list(zip(*batches))[1:]] == [[0, 0], [0, 0], [0, 1]][rank]
            seen += [labels for labels, _, _ in batches]
    assert len(seen) == 6 and len(told()) == 1  # of the third rank, which has 3, a batch would be empty
    assert set(sum(seen, [])) == set(range(100, 111))
    with loader(path, rank=2, world_size=3, batch_size=4) as ours:
        (images, labels), = ours
        assert len(images) == len(labels) == 3 and ours.batch is None
    assert len(told()) == 1


@pytest.mark.parametrize("last_batch", ["pad", "repeat"])
def test_full_batches_that_were_asked_for_are_told_once(loader, shard, told, last_batch):
    with loader(shard, last_batch=last_batch) as ours:
        for _ in range(2):
            assert [(len(labels), int(ours.batch.valid.sum())) for _, labels in ours] == [(8, 8)] * 4 + [(8, 5)]
    assert len(told()) == 1 and "last_batch asks for full batches" in told()[0]
    with loader(shard, last_batch=last_batch, weights=True) as ours:
        *_, (images, labels, weights) = ours
        assert weights.tolist() == [1] * 5 + [0] * 3
    assert len(told()) == 1
