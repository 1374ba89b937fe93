"""ImageRecordIter: batches, their order and their memory."""
import gc
import inspect
import json
import pickle
import struct
import sys
import types

import numpy as np
import pytest

import imrec
from imrec import _tables
from conftest import png, write_shard
from tests_support import SHAPE, open_iter


def test_a_sweep_delivers_every_record_once_and_the_next_one_in_another_order(shard):
    with open_iter(shard, shuffle=True) as it:
        sweeps = [[(b.ids[b.valid], b.labels[b.valid]) for b in it] for _ in range(3)]
    for sweep in sweeps:
        ids = np.concatenate([i for i, _ in sweep])
        assert sorted(ids) == list(range(1000, 1037))
        assert (np.concatenate([label for _, label in sweep]) == ids - 1000.0).all()
    assert [i.tolist() for i, _ in sweeps[0]] != [i.tolist() for i, _ in sweeps[1]]


def test_a_batch_has_all_that_c_delivers(shard):
    with open_iter(shard, record_draws=True, rand_crop=True, label_width=1, last_batch="pad") as it:
        batches = list(it)
    last = batches[-1]
    assert [b.number for b in batches] == list(range(5)) and last.sweep_end and not batches[0].sweep_end
    assert (last.slots, last.count, last.pad, last.failed, last.sweep) == (8, 5, 3, 0, 0)
    assert last.data.shape == (8, 3, 16, 16) and last.data.dtype == np.float32 and not last.data[5:].any()
    assert last.valid.tolist() == [True] * 5 + [False] * 3 and not last.status.any()
    assert (last.draws["width"][:5] == [24 + i % 3 for i in range(32, 37)]).all()
    assert {"x", "y", "mirror", "matrix"} <= set(last.draws.dtype.names)
    data, labels = last
    assert data is last.data and labels is last.labels and "8, 3, 16, 16" in repr(last)


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int8"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_every_dtype_and_layout_is_the_same_image(shard, dtype, layout):
    with open_iter(shard) as it, open_iter(shard, dtype=dtype, layout=layout) as other:
        a, b = next(it), next(other)
    assert b.data.dtype == dtype
    same = b.data if layout == "NCHW" else b.data.transpose(0, 3, 1, 2)
    expected = np.clip(a.data, -128, 127) if dtype == "int8" else a.data
    assert (same == expected.astype(dtype)).all()


def test_bfloat16_is_the_upper_half_of_float32_rounded_to_even(shard):
    normalized = {"mean": (123.7, 116.3, 103.5), "std": (58.4, 57.1, 57.4)}
    with open_iter(shard, **normalized) as it, open_iter(shard, dtype="bfloat16", **normalized) as other:
        exact, batch = next(it).data.view(np.uint32), next(other)
    bits = batch.data.view(np.uint16)
    assert batch.data.dtype in ("uint16", "bfloat16") and "<img" in batch._repr_html_()
    assert (bits == (exact + 0x7FFF + (exact >> 16 & 1)) >> 16).all() and len(np.unique(bits)) > 100


def test_bfloat16_has_the_type_of_ml_dtypes_where_it_is_installed(shard, monkeypatch):
    kind = types.ModuleType("ml_dtypes")
    kind.bfloat16 = np.int16  # a type of two bytes will do
    monkeypatch.setitem(sys.modules, "ml_dtypes", kind)
    with open_iter(shard, dtype="bfloat16") as it:
        assert next(it).data.dtype == np.int16
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)  # cannot be imported
    with open_iter(shard, dtype="bfloat16") as it:
        assert next(it).data.dtype == np.uint16


def test_batches_that_are_referred_to_keep_their_images_after_close_too(shard):
    with open_iter(shard, shuffle=True, rand_crop=True, copy=True) as it:
        expected = [b.data for _ in range(10) for b in it]
    it = open_iter(shard, shuffle=True, rand_crop=True)
    kept = [b.data[1:, 1] for _ in range(10) for b in it]  # views of views
    it.close()
    it.close()
    gc.collect()
    assert all((k == e[1:, 1]).all() for k, e in zip(kept, expected))


def test_memory_is_used_again_when_a_batch_is_gone(shard):
    with open_iter(shard, prefetch_buffer=1, last_batch="wrap") as it:
        places = {b.data.ctypes.data for b, _ in zip(it, range(100))}
        assert len(places) <= 4
        assert it.stats()["memory_bytes"] <= it.stats()["memory_planned_bytes"]
        assert it.stats()["traffic"] == dict.fromkeys(
            ("store_bytes", "cache_bytes", "requests", "retries", "hedges", "wait_ns", "cache_hits", "cache_misses"), 0)  # local files


def test_with_a_memory_limit_too_many_batches_are_an_error_and_letting_go_goes_on(shard):
    batch = 8 * 3 * 16 * 16 * 4
    with open_iter(shard) as it:
        limit = it.stats()["memory_planned_bytes"] + 2 * batch
    with open_iter(shard, memory_limit=limit) as it, open_iter(shard) as twin:
        held = [next(it) for _ in range(3)]
        with pytest.raises(imrec.LimitError, match="memory_limit is"):
            next(it)
        del held[0]
        expected = [next(twin).ids.tolist() for _ in range(4)]
        assert next(it).ids.tolist() == expected[3]
        assert [b.ids.tolist() for b in held] == expected[1:3]
        gc.collect()
    with open_iter(shard, memory_limit=limit, copy=True) as it:
        assert len(list(it)) == 5


def test_a_batch_goes_to_others_by_dlpack_without_a_copy(shard):
    with open_iter(shard) as it:
        batch = next(it)
        other = np.from_dlpack(batch)
        assert other.ctypes.data == batch.data.ctypes.data and batch.__dlpack_device__() == (1, 0)
        sums = other.sum()
        del batch
        for _ in range(20):
            next(it, None)
        assert other.sum() == sums


def test_len_is_what_a_sweep_delivers(shard):
    for more in ({}, {"last_batch": "drop"}, {"last_batch": "partial", "batch_size": 5}, {"epoch_size": 20},
                 {"num_parts": 3, "part_index": 1}, {"num_parts": 3, "part_index": 2, "equal_batches": True},
                 {"path_imgidx": shard[:-4] + ".idx"}, {"round_batch": True}):
        with open_iter(shard, **more) as it:
            assert len(it) == len([b.number for b in it]), more
    with open_iter(shard, last_batch="wrap") as it, pytest.raises(TypeError, match="wrap"):
        len(it)


@pytest.mark.parametrize("batches", range(7))
def test_a_state_resumes_in_mid_sweep_with_other_batch_sizes_too(shard, batches):
    options = {"shuffle": True, "rand_crop": True, "seed": 3, "last_batch": "partial"}
    with open_iter(shard, **options) as it:
        for _ in range(batches):
            next(it, None)
        state = pickle.loads(pickle.dumps(it.state_dict()))
        rest = [(i, d) for b in ([*it] if batches == 5 else [*it, *it]) for i, d in zip(b.ids.tolist(), b.data.copy())]
    json.dumps(state)
    with open_iter(shard, **{**options, "batch_size": 5, "preprocess_threads": 1}) as it:
        next(it)
        it.load_state_dict(state)
        again = [(i, d) for b in [*it, *it] for i, d in zip(b.ids.tolist(), b.data.copy())]  # 5: of its sweep nothing is left
    assert [i for i, _ in rest] == [i for i, _ in again]
    assert all((a == b).all() for (_, a), (_, b) in zip(rest, again))


def test_reset_goes_to_the_next_sweep_and_a_state_of_other_data_is_refused(shard, broken):
    with open_iter(shard, shuffle=True) as it, open_iter(shard, shuffle=True) as twin:
        list(twin)
        next(it)
        it.reset()
        assert next(it).ids.tolist() == next(twin).ids.tolist()
        with open_iter(broken, shuffle=True) as other, pytest.raises(imrec.Error):
            it.load_state_dict(other.state_dict())


def test_the_signature_and_the_docs_are_the_table(shard):
    parameters = inspect.signature(imrec.ImageRecordIter).parameters
    assert set(parameters) == {row.name for row in _tables.ITER} | {"copy", "allocator", "mean", "std", "fetch_threads", "fetch_records"}
    assert parameters["batch_size"].default is inspect.Parameter.empty
    assert parameters["shuffle"].default is False and parameters["last_batch"].default == "partial"
    assert all(row.name in imrec.ImageRecordIter.__doc__ for row in _tables.ITER)
    defaults = {n: p.default for n, p in parameters.items() if p.default is not inspect.Parameter.empty}
    with imrec.ImageRecordIter(shard, data_shape=SHAPE, batch_size=8, **defaults) as a, open_iter(shard) as b:
        assert (next(a).data == next(b).data).all()


def test_values_are_what_python_has(shard, tmp_path):
    from pathlib import Path
    with open_iter(Path(shard), batch_size=np.int64(4), scale=np.float32(0.5), mean_r=1e-7, shuffle=np.bool_(True),
                   rotate_list=[0, 90], data_shape="(3,8,8)", path_imglist=None) as it:
        assert next(it).data.shape == (4, 3, 8, 8)
    with open_iter([shard, Path(shard)]) as it:
        assert sum(b.count for b in it) == 74


def test_several_views_and_shapes_lie_in_one_memory(shard):
    options = {"multi_crop": "2x16,3x8", "random_resized_crop": True, "shuffle": True, "record_draws": True}
    with open_iter(shard, **options) as it, open_iter(shard, **options, copy=True) as twin:
        kept, copies = list(it), list(twin)
    assert [v.shape for v in kept[0].views] == [(8, 3, 16, 16)] * 2 + [(8, 3, 8, 8)] * 3
    assert len(kept[0].view_draws) == 5 and kept[0].data is kept[0].views[0]
    assert all((a == b).all() for k, c in zip(kept, copies) for a, b in zip(k.views, c.views))
    with open_iter(shard, num_views=2, rand_crop=True, last_batch="drop") as it:
        assert len(it) == len([0 for _ in it]) == 9 and next(it).repeats == 2
    with open_iter(shard, data_shape_schedule={0: (3, 8, 8), 1: "3,16,16"}) as it:
        assert [{b.data.shape[2] for b in it} for _ in range(2)] == [{8}, {16}]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32"])
def test_masks_move_with_their_images_and_stay_as_long_as_they(tmp_path, dtype):
    values = [np.arange(24 * 24).reshape(24, 24) % 7 + i for i in range(12)]
    path = write_shard(tmp_path / "masks.rec", [(i, i, png(v), png(v)) for i, v in enumerate(values)])
    with open_iter(path, masks=dtype, rand_crop=True, rand_mirror=True, batch_size=4, record_draws=True) as it:
        kept = list(it)
    for batch in kept:
        assert batch.masks.shape == (4, 16, 16) and batch.masks.dtype == dtype and batch.view_masks[0] is batch.masks
        assert (batch.masks == batch.data[:, 0]).all()  # the images show their masks
    with open_iter(path) as it:
        assert next(it).masks is None
    assert imrec.open(path)[3].mask == png(values[3])


def test_sounds_are_batches_too(tmp_path):
    wave = np.arange(4000, dtype="<i2")
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + wave.nbytes, b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16,
                       b"data", wave.nbytes)
    path = write_shard(tmp_path / "sounds.rec", [(i, i, head + wave.tobytes()) for i in range(6)])
    with open_iter(path, audio=True, data_shape=(1, 1, 1000), batch_size=6, rand_crop=True, record_draws=True) as it:
        batch = next(it)
    assert batch.data.shape == (6, 1, 1, 1000)
    steps = np.diff(batch.data[:, 0, 0], axis=1)
    assert np.allclose(steps, steps[0, 0]) and len(set(batch.draws["sound_begin"])) > 1


@pytest.mark.parametrize("dtype, exact", [("int64", True), (np.float64, True), (np.int64, True), ("float32", False)])
def test_labels_of_lists_are_exact_where_they_are_asked_for(shard, tmp_path, dtype, exact):
    (tmp_path / "big.lst").write_text("".join(f"{1000 + i}\t{2**24 + 1 + 2 * i}\tx\n" for i in range(37)))
    options = {"path_imglist": tmp_path / "big.lst", "dtype_label": dtype}
    if not exact:  # it is refused by name
        with pytest.raises(imrec.Error, match="big.lst.*16777217"):
            open_iter(shard, **options)
        return
    with open_iter(shard, **options) as it:
        labels = np.concatenate([b.labels for b in it])
    assert labels.dtype == np.dtype(dtype) and labels.tolist() == [2**24 + 1 + 2 * i for i in range(37)]


def test_a_thousand_bad_records_are_ten_lines_a_sweep(tmp_path, caplog):
    path = write_shard(tmp_path / "bad.rec", [(i, i, b"no image" if i % 2 else png(np.full((20, 20), i % 256))) for i in range(200)])
    with open_iter(path, on_error="skip") as it:
        for _ in range(2):
            caplog.clear()
            list(it)
            lines = [r.getMessage() for r in caplog.records if r.name == "imrec"]
            assert 10 < len(lines) <= 12 and "100" in lines[-1], lines
