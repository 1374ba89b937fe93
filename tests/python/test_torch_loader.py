"""imrec.torch.Loader."""
import gc
import json
import pickle

import numpy as np
import pytest

import imrec
from tests_support import SHAPE, open_iter

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")


def loader(shard, **more):
    return imrec.torch.Loader(shard, **{"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, "shuffle": True,
                                        "rand_mirror": True, **more})


def labels_of(batches):
    return [labels.tolist() for _, labels in batches]


def test_batches_are_those_of_the_iterator_as_tensors(shard):
    with loader(shard) as ours, open_iter(shard, shuffle=True, rand_mirror=True, last_batch="partial") as theirs:
        assert len(ours) == 5
        for (images, labels), batch in zip(ours, theirs):
            assert images.dtype == torch.float32 and labels.dtype == torch.int64
            assert np.array_equal(images.numpy(), batch.data) and labels.tolist() == batch.labels.tolist()
        assert len(labels) == 37 % 8  # the tail is shorter, as a DataLoader's


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int8", "bfloat16"])
def test_images_are_not_copied(shard, dtype):
    with loader(shard, dtype=dtype) as ours:
        images, _ = next(iter(ours))
        assert images.data_ptr() == ours.batch.data.ctypes.data
        assert images.dtype == getattr(torch, dtype)


def test_an_image_that_is_kept_stays_as_it_is(shard):
    with loader(shard) as ours:
        kept = [images for images, _ in ours]
    ours = None
    gc.collect()
    with loader(shard) as again:
        assert all(torch.equal(a, b) for a, (b, _) in zip(kept, again))


def test_a_loop_goes_on_after_samples_that_failed_and_stays_at_its_end(broken):
    with loader(broken, shuffle=False) as ours:
        loop = iter(ours)
        with pytest.raises(imrec.DataError) as raised:
            next(loop)
        assert raised.value.batch.failed == 1
        assert labels_of(loop) == [list(range(8, 16)), list(range(16, 20))]
        assert list(loop) == []


def test_several_crops_of_an_image_are_a_tuple_of_tensors(shard):
    with loader(shard, multi_crop="2x16,3x8", random_resized_crop=True) as ours:
        crops, labels = next(iter(ours))
        assert [tuple(c.shape) for c in crops] == [(8, 3, 16, 16)] * 2 + [(8, 3, 8, 8)] * 3 and len(labels) == 8
        assert all(c.data_ptr() == view.ctypes.data for c, view in zip(crops, ours.batch.views))


def test_channels_last_is_the_same_image_in_other_memory(shard):
    with loader(shard) as plain, loader(shard, channels_last=True) as last:
        for (a, _), (b, _) in zip(plain, last):
            assert b.is_contiguous(memory_format=torch.channels_last) and torch.equal(a, b)
            assert b.data_ptr() == last.batch.data.ctypes.data


def test_labels_are_classes_unless_said_otherwise(shard):
    for parameters, dtype in (({}, torch.int64), ({"num_classes": 40}, torch.float32),
                              ({"label_dtype": torch.float64}, torch.float64)):
        with loader(shard, **parameters) as ours:
            assert next(iter(ours))[1].dtype == dtype


@pytest.mark.parametrize("label, said, more", [
    ("nan", "nan, which int64", {}), ("-inf", "-inf, which int64", {}), ("1.5", "1.5, which int64", {}),
    ("300", "300.0, which uint8", {"label_dtype": torch.uint8}), ("3000000001", "3000000001, which int32",
                                                                  {"dtype_label": "int64", "label_dtype": torch.int32})])
def test_a_label_that_an_integer_type_would_change_is_refused_by_id_and_value(shard, tmp_path, label, said, more):
    (tmp_path / "a.lst").write_text("".join(f"{1000 + i}\t{label if i == 13 else 2}\tx\n" for i in range(37)))
    with loader(shard, path_imglist=tmp_path / "a.lst", shuffle=False, **more) as ours:
        loop = iter(ours)
        assert next(loop)[1].tolist() == [2] * 8
        with pytest.raises(imrec.DataError, match=f"label of image 1013 is {said} cannot hold.*label_dtype=torch.float32") as error:
            next(loop)
        assert error.value.id == 1013 and error.value.batch.number == 1
    more.pop("label_dtype", None)
    with loader(shard, path_imglist=tmp_path / "a.lst", shuffle=False, label_dtype=torch.float32, **more) as ours:
        np.testing.assert_equal(torch.cat([labels for _, labels in ours]).numpy()[13], np.float32(label))


def test_every_loop_is_a_sweep_in_another_order(shard):
    with loader(shard) as ours:
        first, second = labels_of(ours), labels_of(ours)
        assert first != second and sorted(sum(first, [])) == sorted(sum(second, [])) == list(range(37))


@pytest.mark.parametrize("stop", [0, 1, 3, 5])
@pytest.mark.parametrize("send", [pickle.loads, json.loads])
def test_a_saved_state_goes_on_with_the_batches_that_followed(shard, stop, send):
    with loader(shard) as ours:
        sweeps = [[(i.clone(), n) for i, n in ours] for _ in range(3)]
    with loader(shard) as ours:
        list(ours)
        loop = iter(ours)
        for _ in range(stop):
            next(loop)
        state = send(pickle.dumps(ours.state_dict()) if send is pickle.loads else json.dumps(ours.state_dict()))
    with loader(shard, preprocess_threads=1) as ours:
        ours.load_state_dict(state)
        for expected in (sweeps[1][stop:], sweeps[2]):
            got = [(i.clone(), n) for i, n in ours]
            assert len(got) == len(expected)
            assert all(torch.equal(a, c) and torch.equal(b, d) for (a, b), (c, d) in zip(got, expected))


def test_a_state_is_loaded_in_the_middle_of_another_sweep(shard):
    with loader(shard) as ours:
        loop = iter(ours)
        next(loop)
        state, expected = ours.state_dict(), labels_of(loop)
        next(iter(ours))
        ours.load_state_dict(state)
        assert labels_of(ours) == expected


def test_torch_distributed_is_asked_first(shard, monkeypatch, tmp_path):
    if not torch.distributed.is_available():
        pytest.skip("torch is built without torch.distributed")
    monkeypatch.setenv("RANK", "7")
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        assert imrec.torch.rank_and_world_size() == (0, 1)
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize("parameters, word", [
    ({"rank": 1}, "needs world_size"), ({"num_parts": 2, "part_index": 0}, "rank and world_size"),
    ({"channels_last": True, "layout": "NCHW"}, "channels_last"), ({"bach_size": 8}, "batch_size")])
def test_what_does_not_fit_is_refused_by_name(shard, parameters, word):
    with pytest.raises(imrec.ArgumentError, match=word):
        loader(shard, **parameters)


def test_pinning_without_an_accelerator_is_said_and_left_out(shard):
    if torch.cuda.is_available():
        with loader(shard, pin_memory=True) as ours:
            assert all(t.is_pinned() for t in next(iter(ours)))
        return
    with pytest.warns(UserWarning, match="nothing is pinned"), loader(shard, pin_memory=True) as ours:
        assert len(next(iter(ours))[1]) == 8


@pytest.mark.parametrize("dtype, expected", [("int64", torch.int64), ("float64", torch.float64), (torch.int64, torch.int64)])
def test_exact_labels_of_lists_stay_exact(shard, tmp_path, dtype, expected):
    (tmp_path / "big.lst").write_text("".join(f"{1000 + i}\t{2**24 + 1 + 2 * i}\tx\n" for i in range(37)))
    with loader(shard, path_imglist=tmp_path / "big.lst", dtype_label=dtype, shuffle=False) as ours:
        labels = torch.cat([labels for _, labels in ours])
    assert labels.dtype == expected and labels.tolist() == [2**24 + 1 + 2 * i for i in range(37)]


def test_with_restart_a_state_of_a_sweeps_end_begins_the_next_one(shard):
    """Trainers do not read the end of a loader whose length they know; a sweep of no batches would be an epoch of none."""
    with loader(shard) as ours:
        sweeps = [labels_of(ours) for _ in range(2)]
    with loader(shard, restart=True) as ours:
        loop = iter(ours)
        for _ in range(len(ours)):
            next(loop)
        state = ours.state_dict()
    for restart, expected in ((True, sweeps[1]), (False, [])):
        with loader(shard, restart=restart) as ours:
            ours.load_state_dict(state)
            assert labels_of(ours) == expected
