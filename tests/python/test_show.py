"""What shows itself does so in a line, or as images; names are those that are public."""
import html.parser
import re
from pathlib import Path

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


class Page(html.parser.HTMLParser):
    """A piece of a page: every tag is closed, and nothing is loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.words = [], 0, ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in ("div", "figure", "figcaption", "img", "span", "p"), tag
        attributes = dict(attributes)
        assert set(attributes) <= {"style", "alt", "src"} and "url" not in attributes.get("style", ""), attributes
        if tag == "img":
            self.images += 1
            assert re.fullmatch(r"data:image/(jpeg|png|gif|webp|bmp);base64,[A-Za-z0-9+/]+=*", attributes["src"])
            assert len(attributes["src"]) < 400_000
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data + "\n"


def images_in(text):
    return Page(text).images


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


@pytest.fixture
def named(tmp_path):
    """Three classes, one of a name that is no text of a page, and an image of a class that the list lacks."""
    path = write_shard(tmp_path / "named.rec", [(i, i % 4, jpeg(make_image(i))) for i in range(11)])
    (tmp_path / "named.classes.txt").write_text("cat\n<img src=x onerror=alert(1)>&amp;\ndog\n")
    return path


WORDS = ["id 0: cat", "id 1: <img src=x onerror=alert(1)>&amp;", "id 2: dog", "id 3: 3"]


def test_labels_of_classes_are_shown_with_their_names(named):
    records = imrec.open(named)
    assert [line for line in Page(records._repr_html_()).words.split("\n") if line][:4] == WORDS
    assert Page(records[1]._repr_html_()).words.strip() == WORDS[1] and WORDS[2] in Page(records[1:3]._repr_html_()).words
    with open_iter(named, shuffle=False) as it:
        assert [line for line in Page(next(it)._repr_html_()).words.split("\n") if line][:4] == WORDS
    Path(named[:-4] + ".classes.txt").unlink()
    assert "id 2: 2" in Page(records._repr_html_()).words


def test_iterators_show_the_first_records_and_take_no_batch(named, several):
    with open_iter(named, shuffle=False) as it:
        page = Page(it._repr_html_())
        assert page.images == 8 and WORDS[1] in page.words and "<imrec.ImageRecordIter: batches of" in page.words
        assert next(it).number == 0
    assert images_in(it._repr_html_()) == 0 and "closed" in it._repr_html_()
    with open_iter(several, label_width=6, on_error="skip") as it:
        assert images_in(it._repr_html_()) == 8


def test_loaders_and_data_sets_show_the_first_records(named):
    pytest.importorskip("torch", reason="torch is not installed")
    with imrec.torch.Loader(named, batch_size=4, data_shape=SHAPE) as ours:
        page = Page(ours._repr_html_())
        assert page.images == 8 and WORDS[0] in page.words and "<imrec.torch.Loader: rank 0 of 1" in page.words
    asked = []
    page = Page(imrec.torch.Dataset(named, transform=asked.append)._repr_html_())
    assert page.images == 8 and WORDS[1] in page.words and "11 images" in page.words and not asked


def test_a_set_that_is_gone_is_still_shown_in_words(tmp_path):
    path = Path(write_shard(tmp_path / "gone.rec", [(i, i, jpeg(make_image(i))) for i in range(9)]))
    with open_iter(path) as it:
        path.unlink()
        assert images_in(it._repr_html_()) == 0 and "batches of" in it._repr_html_()


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
