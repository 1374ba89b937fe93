"""Loader(deliver=, transform=, collate=): items by name, and functions of Python ahead of the consumer."""
import threading
import time

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png, write_shard
from tests_support import SHAPE

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")
OPTIONS = {"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, "shuffle": True}


def loader(path, **more):
    return imrec.torch.Loader(path, **{**OPTIONS, **more})


@pytest.fixture(scope="module")
def masked(tmp_path_factory):
    """10 images with masks; a label of a class and two keypoints."""
    def row(i):
        image = make_image(i)
        points = [0.25, 0.5, 2, 0.75, 0.5, 1]
        return i, [i, *points], jpeg(image), png(image[:, :, 0])

    return write_shard(tmp_path_factory.mktemp("masked") / "m.rec", [row(i) for i in range(10)])


# ---- items -----------------------------------------------------------------------------------------------------------

MASKED = {"masks": "int32", "keypoints": 2, "label_width": 7, "batch_size": 4}


def test_all_items_come_by_name(masked):
    with loader(masked, deliver="dict", **MASKED) as ours:
        batch = next(iter(ours))
        assert list(batch) == ["image", "label", "mask", "keypoint", "weight", "id"]
        assert batch["image"].data_ptr() == ours.batch.data.ctypes.data and batch["mask"].data_ptr() == ours.batch.masks.ctypes.data
        assert batch["mask"].shape == (4, 16, 16) and batch["mask"].dtype == torch.int32
        assert batch["label"].dtype == torch.int64 and batch["label"].tolist() == batch["id"].tolist() == ours.batch.ids.tolist()
        assert batch["keypoint"].shape == (4, 2, 3) and np.array_equal(batch["keypoint"].reshape(4, 6), ours.batch.labels[:, 1:])
        assert batch["weight"].tolist() == [1.0] * 4


def test_items_come_in_the_order_and_under_the_names_that_are_asked_for(masked):
    with loader(masked, **MASKED) as plain, loader(masked, deliver=("id", "mask"), **MASKED) as some, \
            loader(masked, deliver={"pixel_values": "image", "labels": "label"}, **MASKED) as named:
        for (images, labels), (ids, masks), batch in zip(plain, some, named):
            assert ids.tolist() == plain.batch.ids.tolist() and np.array_equal(masks, plain.batch.masks)
            assert list(batch) == ["pixel_values", "labels"] and torch.equal(batch["pixel_values"], images)
            assert torch.equal(batch["labels"], labels) and labels.shape[1] == 7  # without the item keypoint: all values


@pytest.mark.parametrize("more, words", [
    ({"deliver": "tuple"}, "write 'dict'"), ({"deliver": ("image", "box")}, "no item 'box'"), ({"deliver": ()}, "has no item"),
    ({"deliver": ("mask",)}, "write masks="), ({"deliver": ("keypoint",)}, "needs keypoints=K"),
    ({"deliver": ("image",), "weights": True}, "among the items"), ({"transform": 3}, "must be a function"),
    ({"transform": len, "transform_threads": 0}, "transform_threads")])
def test_what_cannot_be_delivered_is_refused(shard, more, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        loader(shard, **more)


def test_crops_and_their_masks_are_tuples(masked):
    with loader(masked, deliver=("image", "mask"), multi_crop="2x16,1x8", random_resized_crop=True,
                **{**MASKED, "keypoints": 0}) as ours:
        images, masks = next(iter(ours))
        assert [tuple(m.shape) for m in masks] == [(4, 16, 16), (4, 16, 16), (4, 8, 8)] and len(images) == 3


# ---- functions -------------------------------------------------------------------------------------------------------

def noisy(sample):
    """Draws, and takes longer for some samples than for others."""
    image, label = sample
    time.sleep(float(label % 3) / 500)
    return image + torch.rand(()) + torch.empty(1).uniform_() + torch.rand_like(image[:, :1, :1]), label * 2


def batches(loop):
    return [[t.clone() for t in batch] for batch in loop]


def equal(one, other):
    return len(one) == len(other) and all(torch.equal(a, b) for x, y in zip(one, other) for a, b in zip(x, y))


def by_label(batches):
    return {int(label): image for images, labels in batches for image, label in zip(images, labels)}


def test_functions_give_the_same_with_any_number_of_threads_and_size_of_batches(shard):
    torch.manual_seed(1)
    state = torch.get_rng_state()
    with loader(shard, transform=noisy, transform_threads=1) as one:
        first, second = batches(one), batches(one)
    assert torch.equal(state, torch.get_rng_state()), "the training's generator was used"
    with loader(shard, transform=noisy, transform_threads=5) as five, loader(shard) as plain:
        assert equal(batches(five), first) and equal(batches(five), second)
        assert [labels.tolist() for _, labels in first] == [(2 * labels).tolist() for _, labels in plain]
    with loader(shard, transform=noisy, batch_size=5, preprocess_threads=1) as other:
        got, expected = by_label(other), by_label(first)
    assert got.keys() == expected.keys() and all(torch.equal(got[k], expected[k]) for k in got)
    again = by_label(second)
    assert not all(torch.equal(again[k] - by_label(first)[k], torch.zeros(())) for k in again), "sweeps draw the same"


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_place_is_that_of_the_consumer_not_of_what_is_ahead(shard, stop, restart):
    with loader(shard, transform=noisy) as ours:
        sweeps = [batches(ours) for _ in range(4)]
    with loader(shard, transform=noisy, transform_threads=3, restart=restart) as ours:
        loop = iter(ours)
        for _ in range(stop):
            next(loop)
        time.sleep(0.05)
        state = ours.state_dict()
        continued = batches(ours)  # another loop, as after break
        later = sweeps[1] if restart or stop == 5 else sweeps[0][stop:]
        assert equal(continued, later)
    with loader(shard, transform=noisy, restart=restart) as ours:
        next(iter(ours))
        ours.load_state_dict(state)
        rest = sweeps[0][stop:]
        assert equal(batches(ours), rest or (sweeps[1] if restart else []))
        next(iter(ours))
        assert equal(batches(ours.sweep()), sweeps[2 if rest or not restart else 3])


def test_rewind_after_a_batch_is_the_next_sweep(shard):
    with loader(shard, transform=noisy) as ours:
        sweeps = [batches(ours) for _ in range(2)]
    with loader(shard, transform=noisy, transform_threads=4) as ours:
        next(iter(ours))
        ours.rewind()
        assert equal(batches(ours), sweeps[1])


def test_an_exception_comes_in_the_place_of_its_batch_and_names_the_sample(shard):
    def third(sample):
        if sample[1] == 17:
            raise ValueError("not this one")
        return sample

    with loader(shard, shuffle=False, transform=third, transform_threads=4) as ours:
        loop = iter(ours)
        assert [labels[0].item() for _, labels in (next(loop), next(loop))] == [0, 8]
        with pytest.raises(imrec.TransformError, match="id 1017, slot 1 of batch 2.*ValueError: not this one") as raised:
            next(loop)
        error = raised.value
        assert (error.id, error.slot, error.shard, error.field) == (1017, 1, shard, "transform")
        assert isinstance(error.__cause__, ValueError) and error.batch.ids[1] == 1017
        assert [labels[0].item() for _, labels in loop] == [24, 32]
    with loader(shard, collate=lambda samples: samples[0][5]) as ours, pytest.raises(imrec.TransformError, match="collate") as raised:
        next(iter(ours))
    assert raised.value.field == "collate" and isinstance(raised.value.__cause__, IndexError)


def test_samples_that_failed_are_errors_in_their_place(broken):
    with loader(broken, shuffle=False, transform=lambda sample: sample) as ours:
        loop = iter(ours)
        with pytest.raises(imrec.DataError) as raised:
            next(loop)
        assert raised.value.batch.failed == 1
        assert [labels.tolist() for _, labels in loop] == [list(range(8, 16)), list(range(16, 20))]


def test_collate_gets_the_samples_and_the_batch_that_they_are_of(shard):
    def collate(samples):
        images, labels = samples.batch
        assert isinstance(samples, list) and images.data_ptr() == samples[0][0].data_ptr()
        return {"x": images.mean(dim=(1, 2, 3)), "labels": [int(label) for _, label in samples], "slots": len(samples)}

    with loader(shard, collate=collate) as ours, loader(shard) as plain:
        for batch, (images, labels) in zip(ours, plain):
            assert batch["labels"] == labels.tolist() and torch.equal(batch["x"], images.mean(dim=(1, 2, 3)))
            assert ours.batch.ids.tolist() == plain.batch.ids.tolist()


def test_functions_take_dicts_too(shard):
    def double(sample):
        assert sorted(sample) == ["id", "image", "label", "weight"]
        return {"image": sample["image"], "twice": 2 * sample["label"]}

    with loader(shard, deliver="dict", transform=double) as ours, loader(shard) as plain:
        for batch, (images, labels) in zip(ours, plain):
            assert torch.equal(batch["image"], images) and torch.equal(batch["twice"], 2 * labels)


def test_functions_run_ahead_of_the_consumer_by_a_bound_and_report_their_time(shard):
    begun, lock = [0], threading.Lock()

    def count(samples):
        with lock:
            begun[0] += 1
        time.sleep(0.01)
        return samples

    with loader(shard, collate=count, batch_size=1, prefetch_buffer=8, transform_threads=3) as ours:
        loop = iter(ours)
        for taken in range(1, 20):
            next(loop)
            time.sleep(0.1)
            assert begun[0] <= taken + 3, "more than one batch for each thread is ahead"
            if begun[0] == taken + 3:
                break
        else:
            pytest.fail("nothing is ahead")
        stats = ours.stats()
        assert stats["transform_batches"] == taken and stats["transform_ns"] >= 10**7 * taken and 0 < stats["transform_wait_ns"]
    with loader(shard) as plain:
        assert "transform_ns" not in plain.stats()


def test_a_loader_with_functions_is_freed_without_the_collector(shard):
    import gc
    import weakref

    gc.disable()
    try:
        ours = loader(shard, transform=lambda sample: sample)
        next(iter(ours))
        assert len(ours.sampler) == 37 and len(ours.batch_sampler) == 5
        gone = weakref.ref(ours._it)
        del ours
        deadline = time.monotonic() + 20
        while gone() is not None and time.monotonic() < deadline:  # batches in work end first
            time.sleep(0.01)
        assert gone() is None
    finally:
        gc.enable()
