"""What shows itself does so in a line, or as images; names are those that are public."""
import re

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png, write_shard
from tests_support import SHAPE, open_iter

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def several(tmp_path):
    """Twelve records of large images with several labels and a mask; an odd one."""
    mask = png(np.zeros((300, 300)))
    rows = [(i, [i, 0.5, 2, 3, 4, 5], jpeg(np.random.default_rng(i).integers(0, 256, (300, 300, 3)).astype(np.uint8)), mask) for i in range(12)]
    return write_shard(tmp_path / "<b>.rec", [*rows, (12, 1, b"\x00<script>")])


def one_line(thing):
    text = repr(thing)
    assert "\n" not in text and len(text) < 300 and str(thing) == text, text
    return text


def test_records_are_a_line_each_and_a_slice_is_one(several):
    records = imrec.open(several)
    assert one_line(records[0]) == (f"<imrec.Record id 0: labels [0, 0.5, 2, 3, ... (6)], jpeg image of {len(records[0].image):,} "
                                    f"bytes and a mask of {len(records[0].mask)}, {several} at byte 0>")
    assert one_line(records[2:11]) == "<imrec.RecordList: 9 records, ids [2, 3, 4, 5, ... (9)]>"
    assert one_line(records[:0]) == "<imrec.RecordList: 0 records, ids []>"
    assert len(repr(list(records))) < 13 * 300 and "13 records" in one_line(records)
    assert isinstance(records[1:3], list) and records[1:3][1].id == 2
    assert "image of 9 bytes" in one_line(records[12])


def images_in(html):
    assert "<script>" not in html and "<b>" not in html
    return html.count("<img")


def test_records_and_batches_show_images_in_a_notebook(several):
    records = imrec.open(several)
    assert images_in(records[0]._repr_html_()) == 1 and "id 0: 0, 0.5, 2, 3, ... (6)" in records[0]._repr_html_()
    assert images_in(records._repr_html_()) == 8 and "8 of 13 records" in records._repr_html_()
    assert images_in(records[3:5]._repr_html_()) == 2 and len(records._repr_html_()) < 8 * 150_000
    assert images_in(records[12]._repr_html_()) == 0 and "id 12" in records[12]._repr_html_()  # what cannot be shown says why
    assert images_in(imrec.view(several)._repr_html_()) == 12


@pytest.mark.parametrize("more", [{}, {"layout": "NHWC"}, {"dtype": "uint8"}, {"dtype": "int8"}, {"data_shape": (1, 16, 16)},
                                  {"data_shape": (4, 16, 16), "dtype": "float16"}, {"mean": (124, 116, 104), "std": 58}])
def test_batches_show_their_first_images(shard, more):
    with open_iter(shard, batch_size=10, **more) as it:
        batch = next(it)
    page = batch._repr_html_()
    assert images_in(page) == 8 and "id 1000: 0" in page
    one_line(batch)


def test_a_slot_that_is_no_sample_says_so(shard):
    with open_iter(shard, last_batch="pad") as it:
        assert list(it)[-1]._repr_html_().count("no sample<") == 3


def test_iterators_and_views_are_a_line(shard):
    with open_iter(shard) as it:
        assert "batches of 8, float32" in one_line(it) and "loop over" in one_line(it.sweep())
    assert "closed" in one_line(it) and repr(imrec.view(shard)) == "<imrec.View: 24 records>"
    assert "40 samples" not in repr(it)


def test_loaders_and_data_sets_are_a_line(shard):
    pytest.importorskip("torch", reason="torch is not installed")
    with imrec.torch.Loader(shard, batch_size=4, data_shape=SHAPE) as ours:
        assert one_line(ours) == f"<imrec.torch.Loader: rank 0 of 1, {ours._it._words()}>" and "loop over" in one_line(iter(ours))
    assert f"37 images, as tensor, {shard}" in one_line(imrec.torch.Dataset(shard))


def test_the_names_of_the_package_are_those_that_are_public():
    assert not [name for name in dir(imrec) if name.startswith("_") and name != "__version__"]
    assert all(hasattr(imrec, name) for name in dir(imrec) if name not in ("huggingface", "torch"))
    assert {"annotations", "Any", "os"}.isdisjoint(dir(imrec)) and {"open", "ImageRecordIter", "io", "recordio"} <= set(dir(imrec))
    space = {}
    exec("from imrec import *", space)
    space.pop("__builtins__")
    assert set(space) == set(imrec.__all__) and "open" not in space  # Python's own open() stays
    for module in (imrec.io, imrec.recordio):
        assert dir(module) == sorted(module.__all__)


def test_every_public_name_says_what_it_is():
    for name in imrec.__all__:
        if isinstance(getattr(imrec, name), type) or callable(getattr(imrec, name)):
            assert re.search(r"\w", getattr(imrec, name).__doc__ or ""), name
