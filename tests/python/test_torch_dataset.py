"""imrec.torch.Dataset, and the records that it stands on."""
import concurrent.futures
import os
import pickle
import struct

import numpy as np
import pytest

import imrec
from conftest import jpeg, picture, write_shard
from imrec._records import Records, decode

MAGIC = struct.pack("<I", 0xCED7230A)


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(x.labels, y.labels) and x[1:] == y[1:] for x, y in zip(a, b))


def test_records_are_found_with_and_without_an_index(shard, tmp_path):
    without = tmp_path / "without.rec"
    without.write_bytes(open(shard, "rb").read())
    a, b = Records(shard), Records(without)
    assert len(a) == len(b) == 37 and same(list(a), list(b))
    assert a[3].image == jpeg(picture(3)) and a[3].id == 1003 and a[3].labels.tolist() == [3]
    assert a[-1].id == a[36].id == 1036
    for i in (37, -38):
        with pytest.raises(IndexError, match="of 37"):
            a[i]


def test_records_of_several_shards_folders_and_globs_are_numbered_through(tmp_path):
    for k in range(3):
        write_shard(tmp_path / f"s{k}.rec", [(10 * k + i, i, b"x" * i) for i in range(k + 1)], index=k != 1)
    paths = [tmp_path / f"s{k}.rec" for k in range(3)]
    for where in (paths, ";".join(map(str, paths)), tmp_path, str(tmp_path / "s*.rec")):
        assert [r.id for r in Records(where)] == [0, 10, 11, 20, 21, 22]


def test_a_record_that_holds_the_magic_and_many_labels_is_put_together_again(tmp_path):
    image = (MAGIC * 3 + b"abcd") * 5
    path = write_shard(tmp_path / "parts.rec", [(7, [1, 2.5, 3], image), (8, 4, b"")])
    for index in (True, False):
        records = Records(path)
        assert len(records) == 2 and records[0].image == image and records[1].image == b""
        assert records[0].labels.tolist() == [1, 2.5, 3]
        if index:
            os.unlink(path[:-4] + ".idx")


@pytest.mark.parametrize("cut", [1, 5, 9, 30])
def test_damage_is_refused_with_its_place(tmp_path, cut):
    path = write_shard(tmp_path / "cut.rec", [(i, i, b"y" * 40) for i in range(2)])
    os.truncate(path, 2 * 72 - cut)
    with pytest.raises(imrec.CorruptError, match="72|80") as raised:
        Records(path)[1]
    assert raised.value.shard == path
    os.unlink(path[:-4] + ".idx")
    data = bytearray(open(path, "rb").read())
    data[0] ^= 1
    open(path, "wb").write(data)
    with pytest.raises(imrec.CorruptError, match="byte 0"):
        Records(path)


@pytest.mark.parametrize("line", ["0\t3", "0 x", "0", "0\t0\t0", "0\t99999999"])
def test_an_index_that_does_not_fit_is_refused_by_line(shard, tmp_path, line):
    index = tmp_path / "bad.idx"
    index.write_text(f"0\t0\n{line}\n")
    with pytest.raises(imrec.CorruptError, match="bad.idx, line 2"):
        Records(shard, index)


def test_what_is_not_there_is_said():
    with pytest.raises(imrec.StorageError, match="cannot be opened: No such file"):
        Records("/nowhere/train.rec")
    with pytest.raises(imrec.ArgumentError, match="names no shard"):
        Records("/nowhere/*.rec")


def test_threads_and_pickles_read_the_same(shard):
    records = Records(shard)
    whole = list(records)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert same(list(pool.map(lambda i: records[i % 37], range(148))), whole * 4)
        pixels = list(pool.map(lambda r: decode(r.image), whole * 4))
    assert all(np.array_equal(p, decode(r.image)) for p, r in zip(pixels, whole * 4))
    records.close()
    assert same(list(pickle.loads(pickle.dumps(records))), whole) and same(list(records), whole)


torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402


def halve(image):
    return image[:, :16, :16].float() / 2


def test_a_sample_is_a_tensor_and_a_class(shard):
    data = imrec.torch.Dataset(shard)
    image, label = data[5]
    assert len(data) == 37 and image.dtype == torch.uint8 and label == 5 and isinstance(label, int)
    assert np.array_equal(image.permute(1, 2, 0).numpy(), decode(jpeg(picture(5))))
    assert imrec.torch.Dataset(shard, image="bytes")[5][0] == jpeg(picture(5))
    assert imrec.torch.Dataset(shard, image="numpy", channels=1)[5][0].shape[2] == 1
    assert imrec.torch.Dataset(shard, transform=halve, target_transform=str)[5][1] == "5"


def test_a_picture_for_pillow(shard):
    pytest.importorskip("PIL")
    image, _ = imrec.torch.Dataset(shard, image="pil")[5]
    assert image.mode == "RGB" and np.array_equal(np.asarray(image), decode(jpeg(picture(5))))


def test_labels_of_all_kinds(tmp_path):
    path = write_shard(tmp_path / "labels.rec", [(0, 2, jpeg(picture(0))), (1, 2.5, jpeg(picture(1))),
                                                 (2, [1, 2], jpeg(picture(2)))])
    a, b, c = (label for _, label in imrec.torch.Dataset(path))
    assert (a, b, c.tolist()) == (2, 2.5, [1, 2]) and isinstance(a, int)


def test_names_of_classes_lie_beside_the_shard(shard, tmp_path):
    assert imrec.torch.Dataset(shard).classes == []
    for name in ("train.rec", "train-00000-of-00002.rec"):
        path = write_shard(tmp_path / name, [(0, 0, jpeg(picture(0)))])
        (tmp_path / "train.classes.txt").write_text("cat\ndog\n")
        assert imrec.torch.Dataset(path).classes == ["cat", "dog"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_dataloader_may_be_forked_or_spawned(shard, method):
    data = imrec.torch.Dataset(shard, transform=halve)
    alone = [image for image, _ in data]  # the parent's files and decoder are in use already
    batches = torch.utils.data.DataLoader(data, 8, num_workers=2, multiprocessing_context=method)
    labels = []
    for images, targets in batches:
        assert all(torch.equal(image, alone[k]) for image, k in zip(images, targets))
        labels += targets.tolist()
    assert labels == list(range(37))


def test_what_is_no_picture_is_named_with_its_place(broken):
    with pytest.raises(imrec.Error, match="broken.rec, the record at byte [0-9]+, id 7: ") as raised:
        imrec.torch.Dataset(broken)[7]
    assert raised.value.id == 7
    with pytest.raises(imrec.ArgumentError, match="image is"):
        imrec.torch.Dataset(broken, image="tensors")
