"""imrec.verify(), info(), view(), and the log."""
import logging

import pytest

import imrec
from tests_support import pack_photos


@pytest.fixture
def packed(tmp_path):
    return pack_photos(tmp_path, 12, ("ant", "<bee>", "cat"), "train.rec")


def test_a_whole_set_has_no_findings(packed):
    told = []
    result = imrec.verify(packed, progress=told.append, threads=2)
    assert result["records"] == result["decoded"] == result["checksums"] == result["indexed"] == 12
    assert result["findings"] == [] and set(result["found"].values()) == {0} and told[-1]["records"] == 12
    assert imrec.verify(packed, structure_only=True)["decoded"] == 0


def test_damage_is_found_with_its_place(packed):
    offset = imrec.open(packed)[5].offset
    with open(packed, "r+b") as f:
        f.seek(offset)
        f.write(b"xxxx")
    result = imrec.verify(packed)
    found = result["findings"][0]
    assert result["found"]["damage"] == 1 and found["kind"] == "damage"
    assert found["begin"] == offset and found["uri"] == str(packed) and found["reason"]


def test_a_broken_image_is_a_finding(broken):
    result = imrec.verify(broken)
    assert result["found"]["image"] == 1 and result["findings"][0]["id"] == 7


def test_a_progress_that_says_false_ends_it(packed):
    for call in (imrec.verify, imrec.info):
        with pytest.raises(imrec.CancelledError):
            call(packed, progress=lambda told: False)


def test_the_card_counts(packed):
    card = imrec.info(packed)
    assert card["records"] == card["images"] == 12 and card["labels"] == {0: 4, 1: 4, 2: 4}
    assert card["kinds"] == {"jpeg baseline": 12} and card["manifest"]
    assert card["shards"][0]["records"] == 12 and card["width"]["min"] == 24


def test_a_view_shows_images_with_names(packed, tmp_path):
    page = imrec.view(packed, count=5)._repr_html_()
    assert page.count("<img") == 5 and "&lt;bee&gt;" in page and "<bee>" not in page
    imrec.view(packed, count=50, seed=3).save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().count("<img") == 12


def test_warnings_and_traces_go_to_logging(shard, caplog):
    with caplog.at_level(logging.INFO, logger="imrec"):
        imrec.ImageRecordIter(shard, data_shape=(3, 8, 8), batch_size=4).close()
    assert any("1 shards" in record.message for record in caplog.records)
