"""imrec.pack() of iterables: what is kept as it is, what is encoded, and what is refused by the item's name."""
import io
import json
import os
import threading

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image
from tests_support import grey_png, left, records, warnings_of


# ---- labels ----------------------------------------------------------------------------------------------------------

def test_a_missing_label_names_item_key_and_the_keys_there_are(out):
    rows = [{"image": make_image(0), "fine_label": 1, "coarse_label": 2}]
    with pytest.raises(imrec.ArgumentError, match="item 0 has no 'label': it has 'image', 'fine_label', 'coarse_label'; write "
                       "label='fine_label', or label=None to pack without labels"):
        imrec.pack(rows, out)
    with pytest.raises(imrec.ArgumentError, match="item 2 has no 'label': it has 'image'; write label=KEY, or"):
        imrec.pack([{"image": make_image(0), "label": 1}] * 2 + [{"image": make_image(0)}], out)
    assert left(out.parent) == []


BAD_LABELS = [(None, "label None is not a number; label=None packs without labels"), (float("nan"), "nan is not finite"),
              (float("-inf"), "-inf is not finite"), ("7", "label '7' is a text"), (2**24 + 1, "16777217 changes in a float32"),
              (2**60 + 1, "1152921504606846977 changes"), (10**400, "changes as float32"), ([], "list of labels is empty"),
              ([1, None], "label None is not a number"), (object, "is not a number"), (b"1", "is not a number"), (1j, "is not a number"),
              (np.array([[1, 2]]), r"label \[1, 2\] is not a number"), (np.float32("nan"), "not finite"), (1e39, "changes"),
              (np.array([1, 2**24 + 1]), "16777217 changes")]


@pytest.mark.parametrize("label, words", BAD_LABELS)
def test_a_label_that_is_none_names_the_item_and_nothing_is_left(out, label, words):
    good = [0, 0] if isinstance(label, (list, np.ndarray)) and np.size(label) == 2 else 0
    with pytest.raises(imrec.ArgumentError, match="item 1.*" + words):
        imrec.pack([(make_image(0), good), (make_image(1), label)], out)
    assert left(out.parent) == []


def test_labels_of_any_number_type(out):
    labels = [3, 2.5, True, np.int64(5), np.float32(0.5), np.array(7), np.bool_(False), 2**24, -4, 2**25]
    imrec.pack([(make_image(0), label) for label in labels], out)
    assert [r.label for r in records(out)] == [float(label) for label in labels]


def test_several_labels_and_never_another_number_of_them(out):
    imrec.pack([(make_image(0), (1, 2)), (make_image(1), np.array([3, 4]))], out)
    assert [r.labels.tolist() for r in records(out)] == [[1, 2], [3, 4]]
    with pytest.raises(imrec.ArgumentError, match="item 1: 1 labels, where the first item has 2"):
        imrec.pack([(make_image(0), [1, 2]), (make_image(1), 3)], out, force=True)
    assert len(records(out)) == 2  # the old set stands


def test_boxes_come_in_any_number(out):
    box = [2, 5, 1, 0.1, 0.1, 0.5, 0.5]
    imrec.pack([(make_image(0), box), (make_image(1), box + box[2:]), (make_image(2), [2, 5])], out)
    assert [len(r.labels) for r in records(out)] == [7, 12, 2]


@pytest.mark.parametrize("rows", [[make_image(0), jpeg(make_image(1))], [(make_image(0), 5), (jpeg(make_image(1)), 6)], [(make_image(0),)] * 2,
                                  [{"image": make_image(0)}, {"image": make_image(1), "label": None}]])
def test_without_labels_where_that_is_asked_for(out, rows):
    card = imrec.pack(rows, out, label=None)
    assert card["unlabelled"] == card["packed"] == 2 and card["classes"] == 0
    assert ["labels", "none"] in json.loads(out.with_name("o.manifest.json").read_text())["options"]
    assert [r.label for r in records(out)] == [0, 0]
    with pytest.raises(imrec.ArgumentError, match="classes= are the names of labels"):
        imrec.pack(rows, out, label=None, classes=["a"], force=True)


def test_names_as_labels_need_the_classes(out, tmp_path):
    rows = [(make_image(0), "bee"), (make_image(1), "ant"), (make_image(2), 1)]
    with pytest.raises(imrec.ArgumentError, match="item 0: label 'bee' is a text: a label is a number, or the name of a class"):
        imrec.pack(rows, out)
    imrec.pack(rows, out, classes=["ant", "bee"])
    assert [r.label for r in records(out)] == [1, 0, 1]
    assert (tmp_path / "o.classes.txt").read_text() == "ant\nbee\n"
    (tmp_path / "c.txt").write_text("bee\nant\n")
    imrec.pack(rows, out, classes=tmp_path / "c.txt", force=True)
    assert [r.label for r in records(out)] == [0, 1, 1]
    with pytest.raises(imrec.ArgumentError, match="item 0: label 'bee' is none of the 2 classes; did you mean 'bees'"):
        imrec.pack(rows, out, classes=["ant", "bees"], force=True)
    with pytest.raises(imrec.ArgumentError, match="item 2: label 2 is the number of none of the 2 classes"):
        imrec.pack([(make_image(0), "bee"), (make_image(1), "ant"), (make_image(2), 2)], out, classes=["ant", "bee"], force=True)


# ---- ids -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("number", [-1, 2**64, 1.5, "x7", float("nan"), True, [1]])
def test_an_id_that_is_none_names_the_item(out, number):
    with pytest.raises(imrec.ArgumentError, match="item 1: id .* is not a whole number from 0 to 2\\^64 - 1"):
        imrec.pack([(make_image(0), 0, 5), (make_image(1), 0, number)], out)
    with pytest.raises(imrec.ArgumentError, match="item 1: id "):
        imrec.pack([{"image": make_image(0), "label": 0, "id": 5}, {"image": make_image(0), "label": 0, "id": number}], out)
    assert left(out.parent) == []


def test_ids_are_given_by_all_or_none(out):
    imrec.pack([(make_image(0), 0, 2**64 - 1), (make_image(1), 1, np.int64(7)), (make_image(2), 2, 8.0)], out)
    assert [r.id for r in records(out)] == [2**64 - 1, 7, 8]
    with pytest.raises(imrec.ArgumentError, match="item 1 has no id, and the first item has one"):
        imrec.pack([(make_image(0), 0, 3), (make_image(1), 0)], out, force=True)
    with pytest.raises(imrec.ArgumentError, match="item 1 has an id, and the first item has none"):
        imrec.pack([(make_image(0), 0), (make_image(1), 0, 3)], out, force=True)
    imrec.pack([{"image": make_image(0), "label": 0, "id": "a"}], out, id=None, force=True)
    imrec.pack([{"image": make_image(0), "label": 0, "number": 9}], out, id="number", force=True)
    assert records(out)[0].id == 9
    with pytest.raises(imrec.ArgumentError, match="item 0 has no 'number'"):
        imrec.pack([{"image": make_image(0), "label": 0}], out, id="number", force=True)


# ---- images ----------------------------------------------------------------------------------------------------------

def test_one_array_among_encoded_items_is_the_only_one_that_is_encoded(out, tmp_path):
    (tmp_path / "a.jpg").write_bytes(jpeg(make_image(2)))
    files = [jpeg(make_image(0)), grey_png(1), jpeg(make_image(2)), jpeg(make_image(4))]
    card = imrec.pack([(files[0], 0), (bytearray(files[1]), 1), (tmp_path / "a.jpg", 2), (make_image(3), 3), (memoryview(files[3]), 4)],
                      out)
    stored = records(out)
    assert [r.image for i, r in enumerate(stored) if i != 3] == files
    assert (stored[3].pixels() == make_image(3)).all() and stored[3].image.startswith(b"\x89PNG")
    assert card["encoded"] == {"pixels rgb": 1} and card["kinds"] == {"jpeg baseline": 3, "png": 1, "pixels rgb": 1}
    assert left(tmp_path) == ["a.jpg", "o.crc", "o.idx", "o.lst", "o.manifest.json", "o.rec"]
    assert [line.split("\t")[2] for line in (tmp_path / "o.lst").read_text().splitlines()] == [
        "item 0", "item 1", str(tmp_path / "a.jpg"), "item 3", "item 4"]


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 5, 3), (4, 7), (2, 2, 1), (9, 4, 4), (1, 30, 3), (30, 1)])
def test_arrays_lose_nothing(out, shape):
    whole = np.random.default_rng(1).integers(0, 256, tuple(2 * n for n in shape[:2]) + shape[2:]).astype(np.uint8)
    for array in (np.ascontiguousarray(whole[::2, ::2]), whole[::2, ::2], whole[::-2, 1::2]):
        card = imrec.pack([(array, 0)], out, force=True)
        image = records(out)[0].image
        assert (imrec.decode(image, channels=shape[2] if len(shape) == 3 else 1) == array.reshape(array.shape[0], array.shape[1], -1)
                ).all()
        assert card["encoded"] == {{1: "pixels grey", 3: "pixels rgb", 4: "pixels rgba"}[shape[2] if len(shape) == 3 else 1]: 1}


BAD_IMAGES = [(np.zeros((2, 2)), "an array of float64"), (np.zeros((2, 2, 5), np.uint8), r"\(2, 2, 5\)"),
              (np.zeros((3, 8, 8), np.uint8), r"channels come last: transpose\(1, 2, 0\)"), (np.zeros(40, np.uint8), "tobytes"),
              (np.zeros((0, 3, 3), np.uint8), r"\(0, 3, 3\)"), (np.zeros((4, 4), np.uint16), "16 bits"),
              (None, "its image is NoneType"), (7, "its image is an array of int64"), ({"bytes": None, "path": None}, "neither bytes")]


@pytest.mark.parametrize("image, words", BAD_IMAGES)
def test_what_is_no_image_names_the_item_and_leaves_nothing(out, image, words):
    with pytest.raises(imrec.ArgumentError, match="item 1.*" + words):
        imrec.pack([(make_image(0), 0), (image, 1)], out)
    assert left(out.parent) == []


@pytest.mark.parametrize("items, words", [([], "no item"), ([3], "item 0 is int: it must be"), ([(1, 2, 3, 4)], "a tuple of 4"),
                                          ({"a": []}, "a dict of 'a' is not a data set"), (b"x", "bytes is not a data set"),
                                          (3, "int cannot be iterated over")])
def test_what_is_no_item_is_refused(out, items, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        imrec.pack(items, out)
    assert left(out.parent) == []


def test_encoding_says_otherwise(out):
    card = imrec.pack([(make_image(0), 0)], out, encoding="jpg", quality=90)
    assert records(out)[0].image.startswith(b"\xff\xd8") and card["encoded"] == {"pixels rgb": 1}
    smaller = len(records(out)[0].image)
    imrec.pack([(make_image(0), 0)], out, encoding="jpg", force=True)  # at 95
    assert len(records(out)[0].image) > smaller
    imrec.pack([(make_image(0)[:, :, 0], 0)], out, encoding="jpg", color=1, force=True)
    assert records(out)[0].pixels().shape[2] == 3
    with pytest.raises(imrec.ArgumentError, match="item 0 is pixels, .*quality=80 is for JPEG; add encoding='jpg'"):
        imrec.pack([(make_image(0), 0)], out, quality=80, force=True)
    with pytest.raises(imrec.ArgumentError, match="item 0 has an alpha channel, which JPEG cannot hold"):
        imrec.pack([(np.zeros((4, 4, 4), np.uint8), 0)], out, encoding="jpg", force=True)
    with pytest.raises(imrec.ArgumentError, match="encoding"):
        imrec.pack([(make_image(0), 0)], out, encoding="jp2", force=True)


def test_quality_targets_choose_the_quality_of_each_image(out):
    noise = np.random.default_rng(1).integers(0, 256, (48, 40, 3), dtype=np.uint8)
    rows = [(jpeg(make_image(0)), 0), (noise, 1)]
    imrec.pack(rows, out, encoding="jpg", quality_target="bytes=1K")
    few = [len(r.image) for r in records(out)]
    assert max(few) <= 1024 and records(out)[0].image != rows[0][0]
    imrec.pack(rows, out, encoding="jpg", quality_target="ssim=0.99", force=True)
    assert len(records(out)[1].image) > 1.5 * few[1]
    with pytest.raises(imrec.ArgumentError, match="item 0 is pixels, .*quality_target=ssim=0.9 is for JPEG; add encoding='jpg'"):
        imrec.pack(rows[1:], out, quality_target="ssim=0.9", force=True)
    with pytest.raises(imrec.ArgumentError, match="quality_target is about JPEGs that are encoded: pass_through"):
        imrec.pack(rows, out, pass_through=True, quality_target="ssim=0.9", force=True)
    with pytest.raises(imrec.DataError, match="none of 2 images could be packed; .* bytes at quality 1, and quality_target allows 9"):
        imrec.pack(rows, out, encoding="jpg", quality_target="bytes=9", force=True)


def tables(jpeg):
    """The segments of a JPEG's Huffman tables."""
    found, at = [], 2
    while jpeg[at + 1] != 0xDA:
        size = int.from_bytes(jpeg[at + 2:at + 4], "big")
        found += [jpeg[at:at + 2 + size]] if jpeg[at + 1] == 0xC4 else []
        at += 2 + size
    return found


def test_shared_tables_are_the_same_in_all_jpegs(out):
    rows = [(jpeg(make_image(i)), i) for i in range(5)] + [(make_image(9), 5)]
    imrec.pack(iter(rows), out, encoding="jpg", quality=80, shared_tables=True)
    shared = records(out)
    assert len({tuple(tables(r.image)) for r in shared}) == 1 and len(tables(shared[0].image)) == 4
    imrec.pack(iter(rows[:2]), out, encoding="jpg", append=True)
    assert {tuple(tables(r.image)) for r in records(out)} == {tuple(tables(shared[0].image))}
    imrec.pack(iter(rows), out, encoding="jpg", quality=80, force=True)
    for own, other in zip(records(out), shared):
        assert tables(own.image) != tables(other.image)
        np.testing.assert_array_equal(own.pixels(), other.pixels())
    imrec.pack(iter(rows[:5]), out, tile="yes", shared_tables=True, force=True)  # without loss
    for kept, (image, _) in zip(records(out), rows):
        np.testing.assert_array_equal(kept.pixels(), imrec.decode(image))
    with pytest.raises(imrec.ArgumentError, match="shared_tables is about JPEGs that are encoded"):
        imrec.pack(iter(rows), out, shared_tables=True, force=True)


def test_options_of_the_group_image_are_asked_of_all_and_pass_through_keeps_bytes(out):
    rows = [(jpeg(make_image(0)), 0), (make_image(1), 1)]
    card = imrec.pack(rows, out, resize=12)
    small, array = records(out)
    assert min(small.pixels().shape[:2]) == min(array.pixels().shape[:2]) == 12
    assert small.image.startswith(b"\xff\xd8") and array.image.startswith(b"\x89PNG")
    assert card["encoded"] == {"jpeg baseline": 1, "pixels rgb": 1}
    card = imrec.pack(rows, out, pass_through=True, encoding="jpg", quality=70, force=True)
    assert records(out)[0].image == rows[0][0] and records(out)[1].image.startswith(b"\xff\xd8")
    assert card["encoded"] == {"pixels rgb": 1}
    card = imrec.pack(rows, out, resize=0, augment="", center_crop=False, force=True)  # as nothing at all
    assert card["encoded"] == {"pixels rgb": 1}
    assert imrec.pack(rows, out, encoding="png", force=True)["encoded"] == {"jpeg baseline": 1, "pixels rgb": 1}
    with pytest.raises(imrec.ArgumentError, match="pass_through stores files as they are"):
        imrec.pack(rows, out, pass_through=True, resize=3, force=True)


@pytest.mark.parametrize("how, rewritten, kinds", [({"tile": "yes"}, 2, {"jpeg baseline": 2, "png": 1}),
                                                   ({"baseline": True}, 1, {"jpeg baseline": 2, "png": 1}),
                                                   ({"tile": "no"}, 0, {"jpeg baseline": 1, "jpeg progressive": 1, "png": 1})])
def test_tile_and_baseline_alone_lose_nothing(out, how, rewritten, kinds):
    image = pytest.importorskip("PIL.Image")
    text = io.BytesIO()
    image.fromarray(make_image(0)).save(text, "jpeg", progressive=True)
    rows = [text.getvalue(), jpeg(make_image(1)), grey_png(2)]
    card = imrec.pack(rows, out, label=None, **how)
    assert card["rewritten"] == sum(card["encoded"].values()) == rewritten
    assert imrec.info(out)["kinds"] == kinds and imrec.info(out)["restarts"] == 2 * (how == {"tile": "yes"})
    for kept, row in zip(records(out), rows):
        np.testing.assert_array_equal(imrec.decode(kept.image), imrec.decode(row))


def test_what_cannot_be_packed_is_skipped_with_a_warning(out, tmp_path, caplog):
    os.mkfifo(tmp_path / "pipe.jpg")
    rows = [(jpeg(make_image(0)), 0), (b"no image", 1), (b"", 2), (tmp_path / "none.jpg", 3), (tmp_path / "pipe.jpg", 4)]
    card = imrec.pack(rows, out, report=tmp_path / "report")
    assert card["packed"] == 1 and card["skipped"] == 4
    assert card["reasons"] == {"unsupported": 1, "empty": 1, "missing": 1, "not_a_file": 1}
    assert "4 of 5 images are not in" in warnings_of(caplog)[-1] and "report=FILE" in warnings_of(caplog)[-1]
    assert "item 1" in (tmp_path / "report").read_text()
    with pytest.raises(imrec.DataError, match="item 1"):
        imrec.pack(rows, out, on_error="stop", force=True)


def test_paths_begin_at_root_and_have_no_zero_byte(out, tmp_path):
    (tmp_path / "a.jpg").write_bytes(jpeg(make_image(2)))
    imrec.pack([("a.jpg", 0)], out, root=tmp_path)
    assert records(out)[0].image == jpeg(make_image(2))
    with pytest.raises(imrec.ArgumentError, match="zero byte"):
        imrec.pack([("a.jpg\0b", 0)], out, root=tmp_path, force=True)


# ---- how it runs -----------------------------------------------------------------------------------------------------

def test_keys_that_are_not_packed_are_listed_once(out, caplog):
    rows = [{"image": make_image(i), "label": i, "caption": "x", "id": i} for i in range(5)]
    rows[3]["late"] = 1
    imrec.pack(rows, out)
    assert warnings_of(caplog) == ["not packed: 'caption'", "not packed: 'late'"]


def test_the_iterable_runs_in_the_callers_thread_and_not_ahead(out):
    seen, threads = [], set()

    def items():
        for i in range(100):
            seen.append(i)
            threads.add(threading.get_ident())
            yield (b"no image" if i == 3 else jpeg(make_image(0))), 0

    with pytest.raises(imrec.DataError, match="item 3"):
        imrec.pack(items(), out, on_error="stop")
    assert threads == {threading.get_ident()} and len(seen) < 100
    assert left(out.parent) == []


def test_what_the_iterable_raises_arrives_unchanged(out):
    class Mine(Exception):
        pass

    error = Mine("as it is")

    def items(n):
        yield from ((make_image(i), i) for i in range(n))
        raise error

    for n in (0, 1, 30):
        with pytest.raises(Mine) as caught:
            imrec.pack(items(n), out)
        assert caught.value is error and left(out.parent) == []
    with pytest.raises(KeyboardInterrupt):
        imrec.pack(iter_interrupted(), out)
    assert left(out.parent) == []


def iter_interrupted():
    yield make_image(0), 0
    raise KeyboardInterrupt


def test_progress_that_says_stop_leaves_nothing(out):
    with pytest.raises(imrec.CancelledError, match="interrupted"):
        imrec.pack(((make_image(0), 0) for _ in range(100000)), out, progress=lambda told: told["done"] < 5)
    assert left(out.parent) == []


def test_progress_knows_the_length_of_what_has_one(out):
    told = []
    imrec.pack([(make_image(0), 0)] * 5, out, progress=told.append)
    assert told[-1]["done"] == 5 and told[-1]["found"] == 5 and told[-1]["total"] == 5
    imrec.pack(((make_image(0), 0) for _ in range(5)), out, progress=told.append, force=True)
    assert told[-1]["total"] == 0


def test_shards_need_a_length(out):
    rows = [(make_image(i), i) for i in range(10)]
    assert imrec.pack(rows, out, shards=3)["shards"] == 3
    with pytest.raises(imrec.ArgumentError, match="give the total, or shard_size"):
        imrec.pack(iter(rows), out.with_name("p.rec"), shards=3)
    assert imrec.pack(iter(rows), out.with_name("p.rec"), shard_size=5000)["shards"] > 2


@pytest.mark.parametrize("parameters, words", [({"resume": True}, "cannot be resumed"), ({"shuffle": True}, "shuffle is for folders"),
                                               ({"list": True}, "list writes lists"), ({"masks": "x"}, "masks and annotations"),
                                               ({"annotations": "x"}, "masks and annotations"), ({"part": "0/2"}, "share"),
                                               ({"class_from": "leaf"}, "for folders"), ({"label_width": 2}, "for folders"),
                                               ({"pack_label": False}, "all labels"), ({"allow_damaged": True}, "tar archives")])
def test_options_of_folders_and_lists_are_refused(out, parameters, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        imrec.pack([(make_image(0), 0)], out, **parameters)
    assert left(out.parent) == []


def test_words_for_items_are_refused_for_folders(tmp_path):
    for more in ({"label": None}, {"image": "jpg"}, {"id": None}, {"allow_damaged": True}):
        with pytest.raises(imrec.ArgumentError, match="are for iterables and tar archives"):
            imrec.pack(tmp_path, tmp_path / "o.rec", **more)


def test_items_are_appended_behind_a_set(out):
    rows = [(jpeg(make_image(i)), i) for i in range(4)]
    imrec.pack(rows, out)
    imrec.pack(rows[:2], out, append=True)
    imrec.pack([(jpeg(make_image(9)), 9, 50)], out, append=True)
    assert [(r.id, r.label) for r in records(out)] == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 0), (5, 1), (50, 9)]
    assert imrec.verify(out)["findings"] == []
    with pytest.raises(imrec.Error, match="id 50"):
        imrec.pack([(jpeg(make_image(9)), 9, 50)], out, append=True)
    assert len(left(out.parent)) == 5
