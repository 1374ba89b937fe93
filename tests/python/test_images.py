"""images=: further images of samples as tensors, of archives, records and TFRecords; and batches without images."""
import io
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

import imrec
from conftest import jpeg
from tests_support import open_iter

Image = pytest.importorskip("PIL.Image")
COUNT, SIDE = 13, 40
IMAGES = "image,copy,depth:uint16,seg:int32?:fill=255"


def photo(i):
    """Smooth, so that places in it are known by their colours: 5 a column, 5 a row."""
    y, x = np.mgrid[:SIDE, :SIDE]
    return np.stack([x * 5 + i, y * 5 + i, 200 - x * 2 - y * 2], 2).astype(np.uint8)


def depths(i):
    y, x = np.mgrid[:SIDE, :SIDE]
    return (i * 2000 + y * SIDE + x).astype(np.uint16)


def saved(array, **more):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "png", **more)
    return out.getvalue()


def parts(i):
    """The files of sample i: every third has no segments."""
    out = {"png": saved(photo(i)), "cls": b"%d" % i, "copy": saved(photo(i)), "depth": saved(depths(i)), "txt": b"sample %d" % i}
    return out if i % 3 == 0 else {**out, "seg": saved((depths(i) % 7).astype(np.uint8))}


def write_tar(path, samples):
    with tarfile.open(path, "w") as out:
        for i, files in enumerate(samples):
            for name, content in files.items():
                head = tarfile.TarInfo(f"{i:04d}.{name}")
                head.size = len(content)
                out.addfile(head, io.BytesIO(content))
    return path


@pytest.fixture(params=["tar", "records", "records with an index", "CBF"])
def packed(request, tmp_path):
    tar = write_tar(tmp_path / "a.tar", map(parts, range(COUNT)))
    if request.param == "tar":
        return tar
    if request.param == "CBF":
        subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--quiet", "--format", "cbf", "--cbf-chunk", "20K", "--pass-through",
                        "--no-shuffle", "--fields", "copy,depth,txt,seg?", tar, tmp_path / "all.cbf"], check=True)
        return tmp_path / "all.cbf"
    subprocess.run([sys.executable, "-m", "imrec", "merge", tar, "--renumber", tmp_path / "all.rec"], check=True)
    if request.param == "records":
        (tmp_path / "all.idx").unlink()
    return tmp_path / "all.rec"


def check_maps(batch, slot, i):
    """Depths and segments are of the places that the colours of the first image are of."""
    red, green = (batch.data[slot, c].astype(int) - i for c in (0, 1))
    assert (red % 5 == 0).all() and (green % 5 == 0).all()
    there = depths(i)[green // 5, red // 5]
    assert (batch["depth"][slot] == there).all()
    assert batch.present["seg"][slot] == (i % 3 != 0)
    assert (batch["seg"][slot] == (255 if i % 3 == 0 else there % 7)).all()


def test_images_go_where_the_first_one_goes(packed):
    seen = []
    for batch in open_iter(packed, images=IMAGES, fields="txt", rand_crop=True, rand_mirror=True, rand_flip=0.5, shuffle=True, seed=2,
                           dtype="uint8"):
        assert list(batch.images) == ["copy", "depth", "seg"] and batch["depth"].dtype == np.uint16 and batch["seg"].dtype == np.int32
        assert batch["copy"].tobytes() == batch.data.tobytes()
        for slot, i in enumerate(map(int, batch.labels)):
            check_maps(batch, slot, i)
            assert batch.text("txt")[slot] == f"sample {i}"
            seen.append(i)
    assert sorted(seen) == list(range(COUNT))


def test_turned_and_resized_maps_lie_under_their_images(packed):
    """Within the rounding of blended pixels: a place of a column or row is 5 of red or green."""
    for batch in open_iter(packed, images=IMAGES, data_shape=(3, 32, 32), max_rotate_angle=20, fill_value=0, random_resized_crop=True,
                           min_random_area=0.5, inter_method=1):
        for slot, i in enumerate(map(int, batch.labels)):
            depth = batch["depth"][slot].astype(int) - 2000 * i
            y, x = np.divmod(depth, SIDE)
            inside = (batch["depth"][slot] != 0) & (batch.data[slot].min(0) > 20 + i)
            assert inside.sum() > 300 and (batch["copy"][slot] == batch.data[slot]).all()
            off = np.abs(batch.data[slot, 0] - i - 5 * x)[inside], np.abs(batch.data[slot, 1] - i - 5 * y)[inside]
            assert max(np.percentile(o, 95) for o in off) <= 4


def test_moves_of_randaugment_move_all_and_its_colours_the_first_only(packed):
    """The copy has the colours of its places, to which its map belongs; the first image often has others."""
    first = 0
    for batch in open_iter(packed, images=IMAGES, data_shape=(3, SIDE, SIDE), fill_value=0, rand_augment=3, rand_augment_magnitude=12):
        for slot, i in enumerate(map(int, batch.labels)):
            y, x = np.divmod(batch["depth"][slot].astype(int) - 2000 * i, SIDE)
            inside = (batch["depth"][slot] != 0) & (batch["copy"][slot].min(0) > 20 + i)
            off = np.abs(batch["copy"][slot, 0] - i - 5 * x)[inside], np.abs(batch["copy"][slot, 1] - i - 5 * y)[inside]
            assert inside.sum() > 300 and max(np.percentile(o, 95) for o in off) <= 5
            first += (batch["copy"][slot] != batch.data[slot]).any()
    assert 3 < first


def test_features_of_tfrecords_are_images_too():
    path = Path(__file__).parent / "tfrecords" / "tensorflow.tfrecord"
    batch = next(open_iter(path, images="image,image/copy,image/other?:nearest", rand_mirror=True, batch_size=6))
    assert batch.data.any() and batch["image/copy"].tobytes() == batch.data.tobytes()
    assert not batch.present["image/other"].any() and not batch["image/other"].any()


def test_batches_hold_their_images_after_the_iterator_has_gone_on(packed):
    it = open_iter(packed, images=IMAGES, rand_crop=True, batch_size=2)
    batches = [next(it) for _ in range(5)]
    depth = batches[0]["depth"]
    kept = [{name: image.copy() for name, image in batch.images.items()} for batch in batches]
    it.close()
    assert all((batch[name] == image).all() for batch, images in zip(batches, kept) for name, image in images.items())
    del batches
    assert (depth == kept[0]["depth"]).all()


def test_slots_that_are_dropped_take_their_images_along(tmp_path):
    samples = [{**parts(i), **({"depth": b"none"} if i == 1 else {})} for i in range(6)]
    batch = next(open_iter(write_tar(tmp_path / "a.tar", samples), images=IMAGES, on_error="skip", dtype="uint8"))
    assert batch.labels.tolist() == [0, 2, 3, 4, 5] and batch["depth"].shape == (5, 16, 16) and batch.present["seg"].shape == (5,)
    for slot, i in enumerate(map(int, batch.labels)):
        check_maps(batch, slot, i)


def test_maps_lie_on_the_stored_pixels_and_images_turn_by_their_own_orientation(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned to the right, to be upright
    turned = np.ascontiguousarray(np.rot90(photo(0)))
    sample = {"png": saved(turned, exif=exif), "copy": saved(photo(0)), "depth": saved(np.ascontiguousarray(np.rot90(depths(0)))), "cls": b"0"}
    batch = next(open_iter(write_tar(tmp_path / "a.tar", [sample]), images="image,copy,depth:uint16", dtype="uint8", auto_orient=True,
                           data_shape=(3, SIDE, SIDE)))
    assert (batch.data[0] == photo(0).transpose(2, 0, 1)).all() and (batch["copy"] == batch.data).all()
    assert (batch["depth"][0] == depths(0)).all()


def test_an_image_of_another_size_takes_the_size_of_the_first(tmp_path):
    half = np.ascontiguousarray(photo(0)[::2, ::2])
    sample = {"png": saved(photo(0)), "small": saved(half), "depth": saved(np.ascontiguousarray(depths(0)[::2, ::2])), "cls": b"0"}
    batch = next(open_iter(write_tar(tmp_path / "a.tar", [sample]), images="image,small,depth:int32", data_shape=(3, SIDE, SIDE)))
    assert np.abs(batch["small"] - batch.data).max() <= 10
    assert (batch["depth"][0] == np.kron(depths(0)[::2, ::2], np.ones((2, 2)))).all()
    near = next(open_iter(tmp_path / "a.tar", images="image,small:nearest:normalize", data_shape=(3, SIDE, SIDE), mean=100, scale=0.5))
    assert (near["small"][0] == (np.kron(half.transpose(2, 0, 1), np.ones((1, 2, 2))) - 100) / 2).all()


def test_boxes_move_their_images(tmp_path):
    """SSD's samplers, whose draws need labels."""
    from conftest import write_shard

    path = write_shard(tmp_path / "a.rec", [(i, [2, 5, 1, 0.1, 0.1, 0.9, 0.9], saved(photo(i)), saved(depths(i))) for i in range(6)])
    batch = next(open_iter(path, images="image,mask:uint16", aug_seq="det_aug_default", rand_crop_prob=1, num_crop_sampler=1,
                           min_crop_scales="0.5", rand_mirror_prob=0.5, rand_pad_prob=0.5, max_pad_scale=2, data_shape=(3, 30, 30),
                           inter_method=0, batch_size=6, masks="uint16", ignore_label=0))
    assert (batch["mask"] == batch.masks).all() and batch.masks.any() and not (batch.masks == depths(0)[:30, :30]).all()


def test_what_cannot_be_says_what_to_write(packed, shard, tmp_path):
    with pytest.raises(imrec.DataError, match="16 bits, of which pixels would keep 8: images=depth:uint16"):
        next(open_iter(packed, images="image,depth"))
    with pytest.raises(imrec.DataError, match="has no field 'seg', it has .* .images=image,seg. lets it be missing"):
        next(open_iter(packed, images="image,seg:uint8"))
    with pytest.raises(imrec.ArgumentError, match="images begins with image, the record's own"):
        open_iter(packed, images="depth:uint16")
    folder = tmp_path / "photos" / "ant"
    folder.mkdir(parents=True)
    (folder / "a.jpg").write_bytes(jpeg(photo(1)))
    with pytest.raises(imrec.Error, match="whose samples have one image"):
        open_iter(tmp_path / "photos", images="image,depth")
    with pytest.raises(imrec.DataError, match="has no field 'depth', it has none"):
        next(open_iter(shard, images="image,depth"))


# ---- without images -------------------------------------------------------------------------------------------------


def test_texts_are_read_without_images(packed):
    how = {"shuffle": True, "seed": 7, "fields": "txt"}
    with open_iter(packed, **how) as full, imrec.ImageRecordIter(packed, images="none", batch_size=8, **how) as texts:
        for one, other in zip(full, texts):
            assert one.ids.tolist() == other.ids.tolist() and one.labels.tolist() == other.labels.tolist()
            assert one["txt"] == other["txt"] and other.data.shape == (other.slots, 0) and other.slots == one.slots
            assert repr(other) and other._repr_html_()
        assert texts.stats()["decodes"] == 0 and full.stats()["decodes"] >= COUNT


def test_samples_without_an_image_are_samples(tmp_path):
    samples = [{"txt": b"%d" % i, "cls": b"%d" % i, **({"png": saved(photo(i))} if i % 2 else {})} for i in range(6)]
    path = write_tar(tmp_path / "a.tar", samples)
    assert next(open_iter(path, images="none", fields="txt")).text("txt") == list("012345")
    assert next(open_iter(path, fields="txt", on_error="skip")).text("txt") == list("135")
    with pytest.raises(imrec.DataError, match="the sample has no image"):
        next(open_iter(path, fields="txt"))


# ---- torch ------------------------------------------------------------------------------------------------------------


def test_a_loader_delivers_them_by_name(packed):
    torch = pytest.importorskip("torch")
    from imrec.torch import Loader

    with Loader(packed, images="image,copy,depth:int32", fields="txt", data_shape=(3, 16, 16), batch_size=4, deliver="dict",
                rand_crop=True, channels_last=True) as loader:
        batch = next(iter(loader))
    assert {"image", "copy", "depth", "txt", "label"} <= set(batch) and batch["depth"].dtype == torch.int32
    assert torch.equal(batch["image"], batch["copy"]) and batch["copy"].is_contiguous(memory_format=torch.channels_last)
    with Loader(packed, images="image,copy", data_shape=16, batch_size=4, multi_crop="1x16,2x8", deliver=("image", "copy")) as loader:
        images, copies = next(iter(loader))
    assert len(copies) == 3 and all(torch.equal(a, b) for a, b in zip(images, copies))
    with Loader(packed, images="none", fields="txt", batch_size=4, deliver=("label", "txt")) as loader:
        assert sorted(int(label) for labels, _ in loader for label in labels) == list(range(COUNT))
    with pytest.raises(imrec.ArgumentError, match="images='none' reads none"):
        Loader(packed, images="none", batch_size=4, deliver=("image", "label"))
