"""Boxes in the form of torchvision's detectors and of COCO's evaluation."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np
import torch

from .errors import ArgumentError

if TYPE_CHECKING:
    from ._batch import Batch

_HEAD = 4  # values of a label before those of the record: channels, rows, columns, their number


def _parts(label: np.ndarray[Any, Any]) -> tuple[int, int, np.ndarray[Any, Any]]:
    """Rows and columns of the image in its slot, and the objects, a row each (imrec_detections_of() of imrec/detection.h)."""
    rows, columns, n = int(label[1]), int(label[2]), int(label[3])
    if n < 2:  # padding, a failed sample
        return 0, 0, np.empty((0, 5), np.float32)
    values = label[_HEAD:_HEAD + n]
    head, width = int(values[0]), int(values[1])
    objects = values[head:]
    return rows, columns, objects.reshape(-1, width) if len(objects) else np.empty((0, 5), np.float32)


def fitted(images: torch.Tensor, labels: np.ndarray[Any, Any]) -> list[torch.Tensor]:
    """The images without the filling of resize_mode=fit and shrink, which is right of them and below. Views."""
    return [image[:, :int(label[1]), :int(label[2])] if label[3] else image for image, label in zip(images, labels)]


def _masks(mask: np.ndarray[Any, Any], rows: int, columns: int, count: int) -> torch.Tensor:
    """Of each object its own: value k of an instance mask is object k, counted from 1."""
    numbers = np.arange(1, count + 1, dtype=np.int64).reshape(-1, 1, 1)
    return torch.from_numpy((mask[None, :rows, :columns] == numbers).astype(np.uint8))


def target(label: np.ndarray[Any, Any], number: int, points: int, mask: np.ndarray[Any, Any] | None = None) -> dict[str, Any]:
    """The objects of an image as torchvision's detectors take them."""
    rows, columns, objects = _parts(label)
    shares = np.array([columns, rows, columns, rows], np.float32)
    boxes = torch.from_numpy(objects[:, 1:5] * shares)
    crowd = objects[:, 5] != 0 if objects.shape[1] > 5 + 3 * points else np.zeros(len(objects), bool)
    out = {"boxes": boxes, "labels": torch.from_numpy(objects[:, 0].astype(np.int64) + 1), "image_id": number,
           "area": (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), "iscrowd": torch.from_numpy(crowd.astype(np.int64))}
    if points:
        places = objects[:, objects.shape[1] - 3 * points:] if len(objects) else np.empty((0, 3 * points), np.float32)
        out["keypoints"] = torch.from_numpy(places.reshape(-1, points, 3) * np.array([columns, rows, 1], np.float32))
    if mask is not None:
        out["masks"] = _masks(mask, rows, columns, len(objects))
    return out


def targets(batch: Batch, points: int, instances: bool) -> list[dict[str, Any]]:
    masks = batch.masks if instances and batch.masks is not None else [None] * len(batch.labels)
    return [target(label, int(number), points, mask) for label, number, mask in zip(batch.labels, batch.ids.tolist(), masks)]


def lists(samples: Sequence[Any]) -> Any:
    """The usual collate of samples with targets, whose sizes differ: the same tuple or dict, a list of each item."""
    first = samples[0] if samples else None
    if isinstance(first, dict):
        return {key: [sample[key] for sample in samples] for key in first}
    return tuple(map(list, zip(*samples))) if isinstance(first, tuple) else list(samples)


# ---- evaluation ------------------------------------------------------------------------------------------------------

def _check(loader: Any) -> None:
    if not loader._it._options["boxes"]:
        raise ArgumentError("coco_results() is for a Loader of boxes: write preset='ImageDetRecordIter'")
    options = loader._it._options
    if options["mosaics"] > 0:
        raise ArgumentError(f"rand_mosaic_prob={options['mosaics']:g} makes images of four: what is found in one of them is in no single "
                            "image of COCO", field="rand_mosaic_prob")
    if options["pastes"] > 0:
        raise ArgumentError(f"rand_copy_paste_prob={options['pastes']:g} pastes objects of other images: what is found of them is not in the image",
                            field="rand_copy_paste_prob")
    if not options["places"]:
        raise ArgumentError("record_places=False delivers no maps from slots to images: leave it out", field="record_places")
    if options["views"] > 1:
        raise ArgumentError(f"num_views={options['views']} delivers each image several times: an evaluation counts it once", field="num_views")


def _tensor(output: Mapping[str, Any], name: str) -> np.ndarray[Any, Any]:
    if name not in output:
        raise ArgumentError(f"an output has no {name!r}: torchvision's detectors give boxes, labels and scores")
    return np.asarray(torch.as_tensor(output[name]).detach().cpu().to(torch.float64))


def _shown(loader: Any) -> Batch:
    """The batch that was delivered last."""
    if loader.batch is None:
        raise ArgumentError("the loader has delivered no batch: call coco_results() in the loop, after the model")
    batch: Batch = loader.batch
    return batch


def _back(boxes: np.ndarray[Any, Any], matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Boxes of a slot in px of its image: the rectangle around the four corners, which a rotation turns."""
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
    places = np.concatenate([corners, np.ones((len(boxes), 4, 1))], axis=2) @ matrix.astype(np.float64).T
    found = places[..., :2] / places[..., 2:]
    return np.concatenate([found.min(axis=1), found.max(axis=1)], axis=1)


def coco_results(loader: Any, outputs: Sequence[Mapping[str, Any]], images: Mapping[int, Mapping[str, Any]],
                 categories: Sequence[int]) -> list[dict[str, Any]]:
    """What a detector finds in the batch that the loader delivered last, as pycocotools' COCO.loadRes() takes it: a dict for each
    box, with image_id, category_id, bbox (x, y, width, height in px of the source image) and score.

    loader: an imrec.torch.Loader of boxes. Whatever has moved its images (crops, canvas, mirror, flip, affine moves, resizing) is
        undone by batch.matrix; a box of a turned image becomes the rectangle around its four corners. Mosaics are refused.
    outputs: of each image of the batch what torchvision's detectors return: boxes (n, 4) in px of the delivered image, labels, in
        which 1 is the first class, and scores.
    images: of COCO's annotations, by id: COCO(...).imgs. Their width and height are those of the source images.
    categories: the ids of COCO's categories in the order of classes: sorted(COCO(...).cats), as im2rec --annotations numbers them.

    Slots without a sample (padding, repeated or failed samples) have no results, so that ranks count no image twice.
    """
    _check(loader)
    batch = _shown(loader)
    assert batch.matrix is not None and batch.source_size is not None
    if len(outputs) != batch.slots:
        raise ArgumentError(f"there are {len(outputs)} outputs for {batch.slots} images of the batch")
    real = batch.valid & (np.arange(batch.slots) < batch.count)
    results: list[dict[str, Any]] = []
    for output, number, matrix, size, counts in zip(outputs, batch.ids.tolist(), batch.matrix, batch.source_size.tolist(), real.tolist()):
        if counts:
            results += _of_image(output, number, matrix, size, images, categories)
    return results


def _of_image(output: Mapping[str, Any], number: int, matrix: np.ndarray[Any, Any], size: Sequence[int],
              images: Mapping[int, Mapping[str, Any]], categories: Sequence[int]) -> list[dict[str, Any]]:
    if number not in images:
        raise ArgumentError(f"the image with id {number} is not among COCO's: pack with im2rec --annotations, which keeps its ids")
    width, height = images[number]["width"], images[number]["height"]
    shares = (width / size[0], height / size[1])  # the record's image may be a resized one
    boxes = _back(_tensor(output, "boxes").reshape(-1, 4), matrix) * (shares * 2)
    labels = _tensor(output, "labels").astype(np.int64)
    if len(labels) and not 1 <= labels.min() <= labels.max() <= len(categories):
        raise ArgumentError(f"an output has the label {labels.min() if labels.min() < 1 else labels.max()}: the "
                            f"{len(categories)} categories have the labels 1 to {len(categories)}")
    return [{"image_id": number, "category_id": categories[label - 1], "bbox": [x, y, right - x, bottom - y], "score": score}
            for (x, y, right, bottom), label, score in zip(boxes.tolist(), labels.tolist(), _tensor(output, "scores").tolist())]
