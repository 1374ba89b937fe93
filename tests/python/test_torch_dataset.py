"""imrec.torch.Dataset."""
import pickle
import re

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, write_shard
from tests_support import pack_photos

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")


def halve(image):
    return image[:, :16, :16].float() / 2


def test_a_sample_is_a_tensor_and_a_class(shard):
    data = imrec.torch.Dataset(shard)
    image, label = data[5]
    assert len(data) == 37 and image.dtype == torch.uint8 and label == 5 and isinstance(label, int)
    assert np.array_equal(image.permute(1, 2, 0).numpy(), imrec.decode(jpeg(make_image(5))))
    assert imrec.torch.Dataset(shard, image="bytes")[5][0] == jpeg(make_image(5))
    assert imrec.torch.Dataset(shard, image="numpy", channels=1)[5][0].shape[2] == 1
    assert pickle.loads(pickle.dumps(data))[5][1] == 5
    assert imrec.torch.Dataset(shard, transform=halve, target_transform=str)[5][1] == "5"


def test_an_image_for_pillow(shard):
    pytest.importorskip("PIL")
    image, _ = imrec.torch.Dataset(shard, image="pil")[5]
    assert image.mode == "RGB" and np.array_equal(np.asarray(image), imrec.decode(jpeg(make_image(5))))


def test_labels_of_all_kinds(tmp_path):
    path = write_shard(tmp_path / "labels.rec", [(0, 2, jpeg(make_image(0))), (1, 2.5, jpeg(make_image(1))),
                                                 (2, [1, 2], jpeg(make_image(2)))])
    a, b, c = (label for _, label in imrec.torch.Dataset(path))
    assert (a, b, c.tolist()) == (2, 2.5, [1, 2]) and isinstance(a, int)


def test_names_of_classes_lie_beside_the_shard(shard, tmp_path):
    assert imrec.torch.Dataset(shard).classes == []
    for name in ("train.rec", "train-00000-of-00002.rec"):
        path = write_shard(tmp_path / name, [(0, 0, jpeg(make_image(0)))])
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


def test_what_is_no_image_is_named_with_its_place(broken):
    with pytest.raises(imrec.Error, match="broken.rec, the record at byte [0-9]+, id 7: ") as raised:
        imrec.torch.Dataset(broken)[7]
    assert raised.value.id == 7
    with pytest.raises(imrec.ArgumentError, match="image is"):
        imrec.torch.Dataset(broken, image="tensors")


@pytest.fixture
def packed(tmp_path):
    """Nine images of three classes, packed from files."""
    return pack_photos(tmp_path, 9, ("ant", "bee", "cat"), "set.rec")


def test_it_has_what_imagefolder_has(packed):
    data = imrec.torch.Dataset(packed, transform=halve, target_transform=str)
    assert data.classes == ["ant", "bee", "cat"] and data.class_to_idx == {"ant": 0, "bee": 1, "cat": 2}
    assert data.targets == [int(r.label) for r in data.records] and all(isinstance(t, int) for t in data.targets)
    assert sorted(data.samples) == sorted((f"{('ant', 'bee', 'cat')[i % 3]}/{i}.jpg", i % 3) for i in range(9)) and data.imgs == data.samples
    again = pickle.loads(pickle.dumps(data))
    assert len(pickle.dumps(data)) < 2000 and again.targets == data.targets
    torch.utils.data.WeightedRandomSampler([1 / (1 + t) for t in data.targets], 9)


def test_targets_need_no_image_and_samples_have_names_without_a_list(tmp_path, monkeypatch):
    path = write_shard(tmp_path / "t.rec", [(0, 2, b"no image"), (1, 2.5, b"none"), (2, [1, 2], b"none either")])
    data = imrec.torch.Dataset(path)
    monkeypatch.setattr(imrec._torch_dataset, "decoder", None)
    a, b, c = data.targets
    assert (a, b, c.tolist()) == (2, 2.5, [1, 2])
    assert [name for name, _ in data.samples] == [f"{path}:{r.offset}" for r in data.records]
    assert data.classes == [] and data.class_to_idx == {} and data._num_classes() is None


def test_a_loader_has_what_a_dataloader_has(packed, shard, tmp_path):
    with imrec.torch.Loader(packed, batch_size=4, data_shape=16, last_batch="drop") as ours:
        assert (ours.batch_size, ours.drop_last, ours.num_classes, ours.classes) == (4, True, 3, ["ant", "bee", "cat"])
        assert len(ours.dataset) == 9 and ours.dataset.targets == imrec.torch.Dataset(packed).targets and ours.dataset is ours.dataset
    with imrec.torch.Loader(shard, batch_size=8, data_shape=(1, 16, 16), rank=1, world_size=2) as ours:
        assert (ours.drop_last, ours.classes, ours.num_classes) == (False, [], 37) and len(ours.dataset) == 37
        assert ours.dataset[3][0].shape[0] == 1
    with imrec.torch.Loader(imrec.open(shard), batch_size=8, data_shape=16, num_classes=100) as ours:
        assert ours.num_classes == 100 and len(ours.dataset) == 37 and ours.classes == []
    (tmp_path / "other.lst").write_text("".join(f"{1000 + i}\t{i % 2}\tx\n" for i in range(37)))
    with imrec.torch.Loader(shard, batch_size=8, data_shape=16, path_imglist=tmp_path / "other.lst") as ours:
        assert not hasattr(ours, "dataset")
        with pytest.raises(AttributeError, match="path_imglist"):
            ours.dataset


def test_every_parameter_is_in_signature_help_and_types(shard):
    import inspect

    from imrec import _tables

    parameters = inspect.signature(imrec.torch.Loader).parameters
    rows = {row.name for row in _tables.ITER} - {"num_parts", "part_index"}
    own = {"rank", "world_size", "pin_memory", "channels_last", "label_dtype", "weights", "restart", "copy", "allocator", "mean", "std",
           "deliver", "transform", "collate", "transform_threads", "fetch_threads", "fetch_records"}
    assert set(parameters) == rows | own
    assert parameters["batch_size"].default is inspect.Parameter.empty and parameters["data_shape"].default == "3,224,224"
    assert parameters["last_batch"].default == "partial"
    assert all(re.search(rf"\b{name}\b.*:", imrec.torch.Loader.__doc__) for name in parameters)
    typed = set(_tables.LoaderParameters.__annotations__)
    assert typed == (rows | {"mean", "std", "fetch_threads", "fetch_records"}) - {"path_imgrec"} and "num_parts" in _tables.IterParameters.__annotations__
    assert dir(imrec.torch) == ["Dataset", "Loader", "Prefetched", "coco_results", "normalize", "prefetch_to", "rank_and_world_size"]
    given = {n: p.default for n, p in parameters.items() if p.default is not inspect.Parameter.empty}
    with imrec.torch.Loader(shard, batch_size=8, **given) as a, imrec.torch.Loader(shard, batch_size=8) as b:
        assert torch.equal(next(iter(a))[0], next(iter(b))[0])
