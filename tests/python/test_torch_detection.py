"""deliver="detection" and coco_results(): boxes as torchvision's detectors and COCO's evaluation have them."""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import imrec
from conftest import jpeg, png, write_shard

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")
CATEGORIES = [{"id": 7, "name": "red"}, {"id": 3, "name": "green"}, {"id": 90, "name": "blue"}]
CHANNEL = {7: 0, 3: 1, 90: 2}  # of the colour in which its objects are painted


def objects_of(i):
    """(category, x, y, width, height) of image i in px; every fourth image has none."""
    rng = np.random.default_rng(i)
    width, height = 60 + 7 * i % 50, 50 + 11 * i % 60
    boxes = [(int(rng.choice([7, 3, 90])), int(rng.integers(0, width - 30)), int(rng.integers(0, height - 30)), int(rng.integers(12, 30)),
              int(rng.integers(12, 30))) for _ in range(0 if i % 4 == 3 else 1)]
    return width, height, boxes


@pytest.fixture(scope="module")
def coco(tmp_path_factory):
    """The annotations, and the shard that im2rec makes of them."""
    folder = tmp_path_factory.mktemp("coco")
    images, annotations = [], []
    for i in range(10):
        width, height, boxes = objects_of(i)
        pixels = np.zeros((height, width, 3), np.uint8)
        for category, x, y, w, h in boxes:
            pixels[y:y + h, x:x + w, CHANNEL[category]] = 255
            annotations.append({"id": len(annotations) + 1, "image_id": 100 + i, "category_id": category, "bbox": [x, y, w, h],
                                "area": w * h, "iscrowd": 0})
        (folder / f"{i}.jpg").write_bytes(jpeg(pixels, 95))
        images.append({"id": 100 + i, "file_name": f"{i}.jpg", "width": width, "height": height})
    data = {"images": images, "annotations": annotations, "categories": CATEGORIES}
    (folder / "boxes.json").write_text(json.dumps(data))
    subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--pass-through", "--annotations", folder / "boxes.json", folder,
                    folder / "t.rec"], check=True, capture_output=True)
    return data, str(folder / "t.rec")


def loader(path, **more):
    return imrec.torch.Loader(path, **{"preset": "ImageDetRecordIter", "data_shape": (3, 48, 64), "batch_size": 4, "shuffle": False,
                                       "last_batch": "partial", "resize_mode": "fit", "deliver": "detection", **more})


@pytest.mark.parametrize("more", [{}, {"resize_mode": "force"}, {"rand_mirror_prob": 0.5}, {"layout": "NHWC"}, {"channels_last": True},
                                  {"rand_crop_prob": 1.0, "min_crop_scales": 0.6},
                                  {"rand_affine_prob": 1.0, "max_affine_shift": 0.2, "min_affine_scale": 0.7, "max_affine_tilt": 0.2}], ids=str)
def test_boxes_are_where_the_pixels_are(coco, more):
    seen = 0
    with loader(coco[1], **more) as batches:
        for images, targets in batches:
            assert len(images) == len(targets)
            for image, target in zip(images, targets):
                assert target["boxes"].shape == (len(target["labels"]), 4) and target["boxes"].dtype == torch.float32
                for label, (left, top, right, bottom) in zip(target["labels"].tolist(), target["boxes"].tolist()):
                    assert 0 <= left < right <= image.shape[2] and 0 <= top < bottom <= image.shape[1]
                    painted = image[CHANNEL[sorted(CHANNEL)[label - 1]]] > 127
                    ys, xs = torch.nonzero(painted, as_tuple=True)
                    found = (xs.min().item(), ys.min().item(), xs.max().item() + 1, ys.max().item() + 1)
                    assert np.allclose(found, (left, top, right, bottom), atol=1.6), (found, target)
                    seen += 1
    assert seen >= 5


@pytest.fixture(scope="module")
def instances(tmp_path_factory):
    """A shard of red and green squares on blue, and masks that number them; every fourth image has none."""
    folder = tmp_path_factory.mktemp("instances")
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    images, annotations = [], []
    for i in range(12):
        pixels, mask = np.zeros((60, 80, 3), np.uint8), np.zeros((60, 80), np.uint8)
        pixels[:] = (0, 0, 255)
        mask[58:] = 77  # a number of nobody
        for k, (x, y) in enumerate([(4 + i, 6), (44, 8 + i)] if i % 4 != 3 else []):
            pixels[y:y + 24, x:x + 24] = (255, 0, 0) if k == 0 else (0, 255, 0)
            mask[y:y + 24, x:x + 24] = k + 1
            annotations.append({"id": len(annotations) + 1, "image_id": i, "category_id": k + 1, "bbox": [x, y, 24, 24], "area": 576,
                                "iscrowd": k})
        (folder / "images" / f"{i}.jpg").write_bytes(jpeg(pixels, 98))
        (folder / "masks" / f"{i}.png").write_bytes(png(mask))
        images.append({"id": i, "file_name": f"{i}.jpg", "width": 80, "height": 60})
    categories = [{"id": 1, "name": "red"}, {"id": 2, "name": "green"}]
    (folder / "boxes.json").write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    subprocess.run([sys.executable, "-m", "imrec", "im2rec", "--pass-through", "--annotations", folder / "boxes.json", "--masks",
                    folder / "masks", folder / "images", folder / "t.rec"], check=True, capture_output=True)
    return str(folder / "t.rec")


@pytest.mark.parametrize("more", [{}, {"resize_mode": "force", "layout": "NHWC"}, {"rand_mirror_prob": 0.5, "masks": "int32"},
                                  {"rand_affine_prob": 1.0, "max_affine_angle": 90, "max_affine_shift": 0.3}, {"rand_mosaic_prob": 1.0},
                                  {"rand_copy_paste_prob": 1.0, "rand_mirror_prob": 0.5},
                                  {"rand_crop_prob": 1.0, "min_crop_scales": 0.4, "max_crop_scales": 0.6}], ids=str)
def test_each_object_has_its_mask(instances, more):
    seen = empty = 0
    with loader(instances, **{"masks": "uint8", "mask_kind": "instance", **more}) as batches:
        for images, targets in batches:
            for image, target in zip(images, targets):
                masks = target["masks"]
                assert masks.dtype == torch.uint8 and masks.shape == (len(target["labels"]), *image.shape[1:])
                assert (masks.sum(0) <= 1).all()
                empty += len(masks) == 0
                for mask, label, box in zip(masks, target["labels"].tolist(), target["boxes"].tolist()):
                    ys, xs = torch.nonzero(mask, as_tuple=True)
                    assert np.allclose((xs.min(), ys.min(), xs.max() + 1, ys.max() + 1), box, atol=1e-3)
                    painted = image[label - 1].float() - image[2].float()  # the middle of it is seen, too
                    assert painted[mask.bool()].mean() > 150
                    seen += 1
    assert seen >= 9 and (empty or "rand_mosaic_prob" in more or "rand_copy_paste_prob" in more)


def test_masks_of_classes_are_no_masks_of_objects(instances):
    with loader(instances, masks="uint8") as batches:
        assert all("masks" not in target for _, targets in batches for target in targets)
    with pytest.raises(imrec.ArgumentError, match="it needs masks="):
        loader(instances, mask_kind="instance")


def test_mosaics_have_the_boxes_of_four_and_no_results(coco):
    data, path = coco
    images, most = {image["id"]: image for image in data["images"]}, 0
    with loader(path, rand_mosaic_prob=1.0, min_mosaic_scale=0.5, max_mosaic_scale=0.5, max_mosaic_shift=0.0) as batches:
        for some, targets in batches:
            for image, target in zip(some, targets):
                assert image.shape == (3, 48, 64) and target["image_id"] in images
                most = max(most, len(target["labels"]))
                for label, (left, top, right, bottom) in zip(target["labels"].tolist(), target["boxes"].tolist()):
                    middle = image[:, int((top + bottom) / 2), int((left + right) / 2)]
                    assert middle.argmax() == CHANNEL[sorted(CHANNEL)[label - 1]] and middle.max() > 127
            with pytest.raises(imrec.ArgumentError, match="rand_mosaic_prob=1"):
                imrec.torch.coco_results(batches, [], images, [3, 7, 90])
    assert 2 <= most <= 4


def test_a_target_has_what_torchvision_asks_for(coco):
    data, path = coco
    with loader(path) as batches:
        targets = {target["image_id"]: target for _, some in batches for target in some}
    assert sorted(targets) == sorted(image["id"] for image in data["images"])
    for number, target in targets.items():
        there = [a for a in data["annotations"] if a["image_id"] == number]
        assert set(target) == {"boxes", "labels", "image_id", "area", "iscrowd"} and type(target["image_id"]) is int
        assert target["labels"].tolist() == [sorted(CHANNEL).index(a["category_id"]) + 1 for a in there]
        assert target["labels"].dtype == target["iscrowd"].dtype == torch.int64 and not target["iscrowd"].any()
        sides = target["boxes"][:, 2:] - target["boxes"][:, :2]
        assert torch.equal(target["area"], sides[:, 0] * sides[:, 1])


def test_crowds_and_keypoints(tmp_path):
    label = [2, 12, 4, 0.25, 0.5, 0.75, 1, 1, 0.5, 0.5, 2, 0.25, 0.75, 1, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 0]
    path = write_shard(tmp_path / "a.rec", [(5, label, jpeg(np.zeros((40, 80, 3), np.uint8)))])
    with loader(path, keypoints=2, resize_mode="force") as batches:
        (image,), (target,) = next(iter(batches))
    assert image.shape == (3, 48, 64) and target["iscrowd"].tolist() == [1, 0] and target["labels"].tolist() == [5, 1]
    assert target["boxes"].tolist() == [[16, 24, 48, 48], [0, 0, 32, 24]]
    assert target["keypoints"].tolist() == [[[32, 24, 2], [16, 36, 1]], [[0, 0, 0], [0, 0, 0]]]


def test_results_are_in_px_of_the_original_images(coco):
    data, path = coco
    images, categories = {image["id"]: image for image in data["images"]}, sorted(c["id"] for c in data["categories"])
    found = []
    with loader(path, last_batch="repeat", batch_size=4) as batches:
        for _, targets in batches:
            outputs = [{**target, "scores": torch.full((len(target["labels"]),), 0.5)} for target in targets]
            found += imrec.torch.coco_results(batches, outputs, images, categories)
    assert len(found) == len(data["annotations"])  # those that fill the last batch are not counted again
    for result, there in zip(sorted(found, key=lambda r: r["image_id"]), data["annotations"]):
        assert (result["image_id"], result["category_id"], result["score"]) == (there["image_id"], there["category_id"], 0.5)
        assert np.allclose(result["bbox"], there["bbox"], atol=1e-3)


@pytest.mark.parametrize("more", [
    {"rand_mirror_prob": 0.5, "rand_flip": 0.5}, {"rand_pad_prob": 1.0, "max_pad_scale": 2.0}, {"resize": 40},
    {"rand_crop_prob": 1.0, "min_crop_scales": 0.7, "min_crop_object_coverages": 1.0, "rand_mirror_prob": 0.5},
    {"rand_affine_prob": 1.0, "max_affine_shift": 0.1, "min_affine_scale": 0.6, "max_affine_scale": 0.8, "rand_flip": 0.5},
    {"preset": "", "boxes": True, "label_width": -1, "resize_mode": "force", "rand_mirror": True, "crop_emit_mode": "overlap",
     "emit_overlap_thresh": 0.999}], ids=str)
def test_results_go_back_through_random_moves(coco, more):
    data, path = coco
    images, found = {image["id"]: image for image in data["images"]}, []
    with loader(path, **more) as batches:
        for _, targets in batches:
            outputs = [{**target, "scores": torch.ones(len(target["labels"]))} for target in targets]
            found += imrec.torch.coco_results(batches, outputs, images, [3, 7, 90])
    truth = {a["image_id"]: a for a in data["annotations"]}
    assert len(found) >= 3
    for result in found:
        there = truth[result["image_id"]]
        assert result["category_id"] == there["category_id"] and np.allclose(result["bbox"], there["bbox"], atol=0.05), (result, there)


def test_batches_have_maps_back_to_their_images(coco):
    sizes = {image["id"]: [image["width"], image["height"]] for image in coco[0]["images"]}
    plain = {"preset": "ImageDetRecordIter", "data_shape": (3, 48, 64), "batch_size": 4}
    with imrec.ImageRecordIter(coco[1], record_places=True, last_batch="pad", **plain) as batches:
        for batch in batches:
            for number, valid, matrix, size in zip(batch.ids.tolist(), batch.valid, batch.matrix, batch.source_size.tolist()):
                assert not valid or size == sizes[number]
                assert np.allclose(matrix, np.diag([size[0] / 64, size[1] / 48, 1]) if valid else 0, atol=1e-5)
    with imrec.ImageRecordIter(coco[1], **plain) as batches:
        batch = next(batches)
        assert batch.matrix is None and batch.source_size is None and batch.view_matrices == (None,)


def test_a_turned_box_becomes_the_one_around_its_corners(coco):
    data, path = coco
    images, seen = {image["id"]: image for image in data["images"]}, 0
    with loader(path, rand_affine_prob=1.0, max_affine_angle=180.0, max_affine_tilt=0.2, min_affine_scale=0.5, max_affine_scale=0.5) as batches:
        for _, targets in batches:
            outputs = [{**target, "scores": torch.ones(len(target["labels"]))} for target in targets]
            for result in imrec.torch.coco_results(batches, outputs, images, [3, 7, 90]):
                x, y, w, h = result["bbox"]
                ((left, top, width, height),) = [a["bbox"] for a in data["annotations"] if a["image_id"] == result["image_id"]]
                assert x < left + 0.1 and y < top + 0.1 and x + w > left + width - 0.1 and y + h > top + height - 0.1
                assert w < 4 * (width + height) and h < 4 * (width + height)
                seen += 1
            assert batches.batch.matrix.shape == (len(outputs), 3, 3) and batches.batch.matrix.dtype == np.float32
    assert seen >= 5


def test_perfect_results_have_a_perfect_score(coco, tmp_path):
    pytest.importorskip("pycocotools", reason="pycocotools is not installed")
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
    (tmp_path / "a.json").write_text(json.dumps(coco[0]))
    truth, found = COCO(str(tmp_path / "a.json")), []
    with loader(coco[1]) as batches:
        for _, targets in batches:
            outputs = [{**target, "scores": torch.ones(len(target["labels"]))} for target in targets]
            found += imrec.torch.coco_results(batches, outputs, truth.imgs, sorted(truth.cats))
    judge = COCOeval(truth, truth.loadRes(found), "bbox")
    judge.evaluate()
    judge.accumulate()
    judge.summarize()
    assert judge.stats[0] > 0.999


@pytest.mark.parametrize("deliver", ["detection", {"image": "fitted", "target": "target", "number": "id"}], ids=str)
def test_functions_take_a_sample_and_batches_stay_lists(coco, deliver):
    def halved(sample):
        image, target = sample.values() if isinstance(sample, dict) else sample
        return image.float() / 255, {**target, "boxes": target["boxes"] / 2}

    def of_dict(sample):
        image, target = halved({key: sample[key] for key in ("image", "target")})
        return {**sample, "image": image, "target": target}

    seen = 0
    with loader(coco[1], deliver=deliver, transform=halved if deliver == "detection" else of_dict) as ours, loader(coco[1]) as plain:
        for batch, (others, expected) in zip(ours, plain):
            images, targets = (batch["image"], batch["target"]) if isinstance(batch, dict) else batch
            assert isinstance(images, list) and isinstance(targets, list) and len(images) == len(others) == len(targets)
            for image, target, other, before in zip(images, targets, others, expected):
                assert torch.equal(image, other.float() / 255) and torch.equal(target["boxes"] * 2, before["boxes"])
                assert target["image_id"] == before["image_id"]
                seen += 1
    assert seen == 10


@pytest.mark.parametrize("output, words", [
    ({"labels": [1], "scores": [1.0]}, "no 'boxes'"), ({"boxes": [[0, 0, 1, 1]], "labels": [0], "scores": [1.0]}, "the label 0"),
    ({"boxes": [[0, 0, 1, 1]], "labels": [4], "scores": [1.0]}, "the label 4: the 3 categories have the labels 1 to 3")])
def test_wrong_outputs_are_refused(coco, output, words):
    images = {image["id"]: image for image in coco[0]["images"]}
    with loader(coco[1], batch_size=1) as batches:
        with pytest.raises(imrec.ArgumentError, match="has delivered no batch"):
            imrec.torch.coco_results(batches, [output], images, [3, 7, 90])
        next(iter(batches))
        with pytest.raises(imrec.ArgumentError, match=words):
            imrec.torch.coco_results(batches, [output], images, [3, 7, 90])
        with pytest.raises(imrec.ArgumentError, match="0 outputs for 1 images"):
            imrec.torch.coco_results(batches, [], images, [3, 7, 90])
        with pytest.raises(imrec.ArgumentError, match="is not among COCO's"):
            imrec.torch.coco_results(batches, [output], {}, [3, 7, 90])


def test_what_cannot_be_evaluated_or_delivered_is_refused(coco, shard):
    with pytest.raises(imrec.ArgumentError, match="needs labels that are boxes"):
        imrec.torch.Loader(shard, data_shape=16, batch_size=4, deliver="detection")
    for more, words in (({"num_views": 2}, "num_views=2 delivers"), ({"rand_mosaic_prob": 0.5}, "rand_mosaic_prob=0.5 makes images of four"),
                        ({"rand_copy_paste_prob": 0.5, "masks": "uint8", "mask_kind": "instance"}, "rand_copy_paste_prob=0.5 pastes"),
                        ({"record_places": False}, "record_places=False delivers no maps")):
        with loader(coco[1], **more) as batches, pytest.raises(imrec.ArgumentError, match=words):
            imrec.torch.coco_results(batches, [], {}, [])
    with imrec.torch.Loader(shard, data_shape=16, batch_size=4) as batches, pytest.raises(imrec.ArgumentError, match="a Loader of boxes"):
        imrec.torch.coco_results(batches, [], {}, [])


def test_a_detector_of_torchvision_learns_from_the_targets(coco):
    detection = pytest.importorskip("torchvision.models.detection", reason="torchvision is not installed")
    model = detection.fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=4, min_size=64, max_size=96)
    model.train()
    with loader(coco[1], scale=1 / 255) as batches:
        losses = model(*next(iter(batches)))
    loss = sum(losses.values())
    loss.backward()
    assert len(losses) == 4 and torch.isfinite(loss) and losses["loss_classifier"] > 0


def test_the_example_trains_and_finds_on_two_ranks(coco, tmp_path):
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    (tmp_path / "a.json").write_text(json.dumps(coco[0]))
    example = Path(__file__).resolve().parents[2] / "examples" / "trainers" / "train_detection.py"
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", example, coco[1],
                           tmp_path / "a.json"], capture_output=True, text=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("epoch 0: loss ") == 2 and "nan" not in done.stdout and "boxes for COCO.loadRes()" in done.stdout
