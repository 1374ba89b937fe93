"""imrec.torch.Dataset."""
import pickle

import numpy as np
import pytest

import imrec
from conftest import jpeg, picture, write_shard

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402


def halve(image):
    return image[:, :16, :16].float() / 2


def test_a_sample_is_a_tensor_and_a_class(shard):
    data = imrec.torch.Dataset(shard)
    image, label = data[5]
    assert len(data) == 37 and image.dtype == torch.uint8 and label == 5 and isinstance(label, int)
    assert np.array_equal(image.permute(1, 2, 0).numpy(), imrec.decode(jpeg(picture(5))))
    assert imrec.torch.Dataset(shard, image="bytes")[5][0] == jpeg(picture(5))
    assert imrec.torch.Dataset(shard, image="numpy", channels=1)[5][0].shape[2] == 1
    assert pickle.loads(pickle.dumps(data))[5][1] == 5
    assert imrec.torch.Dataset(shard, transform=halve, target_transform=str)[5][1] == "5"


def test_a_picture_for_pillow(shard):
    pytest.importorskip("PIL")
    image, _ = imrec.torch.Dataset(shard, image="pil")[5]
    assert image.mode == "RGB" and np.array_equal(np.asarray(image), imrec.decode(jpeg(picture(5))))


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
