"""What hands type is taken, or an error says what to write."""
import inspect
import logging
import pathlib

import numpy as np
import pytest

import imrec
from imrec._accept import DEFAULTS, ITER
from tests_support import open_iter

pytestmark = pytest.mark.usefixtures("alone")


def first(shard, **more):
    with open_iter(shard, **more) as it:
        return next(it).data.copy()


@pytest.mark.parametrize("short, long", [
    ({"mean": (124, 116, 104)}, {"mean_r": 124, "mean_g": 116, "mean_b": 104}),
    ({"mean": np.float32([124, 116, 104]), "std": [58, 57, 56]},
     {"mean_r": 124, "mean_g": 116, "mean_b": 104, "std_r": 58, "std_g": 57, "std_b": 56}),
    ({"mean": 127.5}, {"mean_r": 127.5, "mean_g": 127.5, "mean_b": 127.5}),
    ({"mean": [7], "data_shape": (1, 16, 16)}, {"mean_r": 7, "data_shape": (1, 16, 16)}),
    ({"std": 2, "data_shape": (4, 16, 16)}, {"std_r": 2, "std_g": 2, "std_b": 2, "std_a": 2, "data_shape": (4, 16, 16)}),
    ({"std": (0.229, 0.224, 0.225), "mean": (124, 116, 104), "scale": 1 / 255},
     {"mean_r": 124, "mean_g": 116, "mean_b": 104, "std_r": 0.229, "std_g": 0.224, "std_b": 0.225, "scale": 1 / 255}),
    ({"data_shape": 16}, {"data_shape": (3, 16, 16)}), ({"data_shape": (16, 20)}, {"data_shape": (3, 16, 20)}),
    ({"data_shape": np.int64(16)}, {"data_shape": (3, 16, 16)}), ({"data_shape": [np.int32(16), 16]}, {}),
    ({"data_shape_schedule": {0: 8, 1: (16, 16)}}, {"data_shape_schedule": "0:3,8,8;1:3,16,16"})])
def test_what_is_short_means_what_is_long(shard, short, long):
    assert np.array_equal(first(shard, **short), first(shard, **long))


@pytest.mark.parametrize("dtype, name", [
    (np.float32, "float32"), (np.dtype("float16"), "float16"), (np.uint8, "uint8"), ("int8", "int8"), (np.dtype(np.int8), "int8")])
def test_types_are_numpys_too(shard, dtype, name):
    data = first(shard, dtype=dtype)
    assert data.dtype == name and np.array_equal(data, first(shard, dtype=name))


def test_types_are_torchs_too(shard):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert first(shard, dtype=torch.float16).dtype == np.float16
    with imrec.torch.Loader(shard, dtype=torch.uint8, data_shape=16, batch_size=4, mean=None) as ours:
        assert next(iter(ours))[0].dtype == torch.uint8


@pytest.mark.parametrize("more, words", [
    ({"dtype": float}, "dtype must be one of float32.*not 'float64'"), ({"dtype": np.int64}, "not 'int64'"),
    ({"data_shape": (224, 224, 3)}, r"write \(3, 224, 224\)"), ({"data_shape": (32, 24, 1)}, r"write \(1, 32, 24\)"),
    ({"data_shape": (3, 224)}, r"\(3, 224, 224\)"), ({"data_shape": (1, 2, 3, 4)}, "data_shape"),
    ({"data_shape": 224.0}, r"^data_shape=224.0: write a size as 224, \(height, width\), or"), ({"data_shape": True}, "data_shape=True: write"),
    ({"data_shape": np.array(8)}, r"data_shape=array\(8\): write"), ({"data_shape": (3, 8.5, 8)}, "data_shape must be C,H,W.*3,8.5,8"),
    ({"data_shape_schedule": {0: 8, 3: 16.0}}, r"^data_shape_schedule\[3\]=16.0: write a size"),
    ({"mean": object()}, "^mean=<object.*: write a number, or one for each channel"), ({"std": (1, "x", 2)}, r"^std=\(1, 'x', 2\): write a number"),
    ({"mean": (0.485, 0.456, 0.406)}, r"write \(123.675, 116.28, 103.53\)"),
    ({"mean": 0.5}, r"write \(127.5, 127.5, 127.5\)"), ({"std": (0.229, 0.224, 0.225)}, r"\(58.395, 57.12, 57.375\)"),
    ({"mean": (0.485, 0.456, 0.406), "std": (58, 57, 56), "scale": 1 / 255}, "pixels from 0 to 1"),
    ({"mean": (1, 2)}, "mean has 2 values"), ({"mean": (1, 2, 3), "data_shape": (1, 8, 8)}, "3 values.*1 channels"),
    ({"mean": (1, 2, 3), "mean_g": 2}, "mean and mean_g"), ({"mean": "mean.bin"}, "mean_img="), ({"std": "1,2,3"}, "std="),
    ({"num_workers": 4}, "preprocess_threads"), ({"drop_last": True}, "last_batch='drop'"), ({"transform": None}, "Dataset"),
    ({"pin_memory": True}, "Loader"), ({"prefetch_factor": 2}, "prefetch_buffer"), ({"sampler": 1}, "shuffle=True"),
    ({"batch_sampler": 1}, "batch_size="), ({"collate_fn": len}, "leave it out"), ({"generator": 1}, "seed=N"),
    ({"worker_init_fn": len}, "seed"), ({"persistent_workers": True}, "leave it out"), ({"image_size": 224}, "data_shape=224"),
    ({"batch_sise": None}, "did you mean batch_size"), ({"shufle": True}, "did you mean shuffle")])
def test_what_cannot_be_taken_is_an_error_that_says_what_to_write(shard, more, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        open_iter(shard, **more)


@pytest.mark.parametrize("more, words", [({"num_workers": 4}, "Loader has no parameter 'num_workers': write preprocess_threads"),
                                         ({"sampler": 1}, "ranks share"), ({"drop_last": False}, "partial"),
                                         ({"data_shape": (224, 224, 3)}, r"\(3, 224, 224\)"), ({"wieghts": True}, "did you mean")])
def test_a_loader_says_so_too(shard, more, words):
    pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises((imrec.ArgumentError), match=words):
        imrec.torch.Loader(shard, batch_size=4, **more)


def test_the_tables_words_are_warned_of_where_they_look_like_another_scale(shard, caplog):
    with caplog.at_level(logging.WARNING, logger="imrec"):
        open_iter(shard, mean_r=0.485, mean_g=0.456, mean_b=0.406).close()
        assert len(caplog.records) == 1 and "write (123.675, 116.28, 103.53)" in caplog.records[0].getMessage()
        open_iter(shard, mean_r=0, mean_g=1, std_r=1).close()
        open_iter(shard, mean=0, std=1).close()
        assert len(caplog.records) == 1


def test_shards_may_be_what_reads_them(shard):
    with open_iter(imrec.open(shard)) as it:
        assert len(it) == 5
    for wrong in (3, object(), [3]):
        with pytest.raises(imrec.ArgumentError, match="path_imgrec is of type"):
            open_iter(wrong)


def test_pythons_defaults_are_in_one_place_and_told_everywhere(shard):
    for name, value in DEFAULTS.items():
        assert inspect.signature(imrec.ImageRecordIter).parameters[name].default == value
        row, = (row for row in ITER if row.name == name)
        assert row.default == value and f"{name}: {row.help}" in imrec.ImageRecordIter.__doc__ and f"default {value}" in imrec.describe()
    assert "[0, 9223372036854775807]" in imrec.describe() and "[-1, 1048576]" in imrec.describe()  # no 9.22337e+18
    with open_iter(shard) as it:
        assert [b.slots for b in it] == [8, 8, 8, 8, 5] and all(b.valid.all() for b in it.sweep())
    guide = (pathlib.Path(__file__).parents[2] / "docs/guide/python.md").read_text()
    assert 'last_batch="partial"' in guide


def test_a_preset_changes_pythons_defaults(shard):
    with open_iter(shard, preset="ImageRecordIter") as it:
        last = list(it)[-1]
        assert (last.slots, last.pad) == (8, 3) and last.data[5:].any()
    with open_iter(shard, round_batch=False) as it:
        assert [b.pad for b in it][-1] == 3
    with open_iter(shard, preset="ImageRecordIter", last_batch="drop") as it:
        assert [b.slots for b in it] == [8] * 4


@pytest.mark.parametrize("state, words", [({}, "'position' is missing, it has nothing"), ({"model": 1}, "it has 'model'"),
                                          ("x", "not str"), (None, "not NoneType"), ({"position": 3}, "'position'"),
                                          ({"position": "{}"}, "position:")])
def test_what_is_no_state_is_an_error_that_says_what_is_missing(shard, state, words):
    with open_iter(shard) as it, pytest.raises(imrec.ArgumentError, match=words):
        it.load_state_dict(state)


def test_what_is_no_number_of_a_record_is_a_type_error(shard):
    records = imrec.open(shard)
    for wrong in ("x", 1.5, None, (1, 2)):
        with pytest.raises(TypeError, match="records are numbered"):
            records[wrong]
    assert records[np.int64(3)].id == 1003
