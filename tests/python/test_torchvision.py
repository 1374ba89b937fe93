"""What torchvision's reference makes of an image: its steps, by Pillow, next to the presets."""
import io

import numpy as np
import pytest

import imrec
from conftest import write_shard

Image = pytest.importorskip("PIL.Image")
METHODS = {1: Image.Resampling.BILINEAR, 2: Image.Resampling.BICUBIC}
SIZES = ((400, 300), (300, 400), (256, 256), (200, 650), (640, 233), (231, 240))  # width, height; one is enlarged


def photograph(i, width, height):
    """Soft shapes, and edges at which a bicubic filter overshoots."""
    y, x = np.mgrid[0:height, 0:width]
    soft = np.stack([127 + 120 * np.sin(x / (9 + c + i)) * np.cos(y / (13 - c)) for c in range(3)], -1)
    soft[(x // 17 + y // 23) % 5 == 0] = 255 * ((x + y) % 2 == 0)[(x // 17 + y // 23) % 5 == 0][:, None]
    return Image.fromarray(soft.astype(np.uint8))


def evaluated(image, resize, size, method):
    """torchvision's Resize(resize) and CenterCrop(size)."""
    w, h = image.size
    to = (resize, int(resize * h / w)) if w <= h else (int(resize * w / h), resize)
    image = image.resize(to, METHODS[method])
    left, top = int(round((image.width - size) / 2.0)), int(round((image.height - size) / 2.0))
    return np.asarray(image.crop((left, top, left + size, top + size)))


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    images = [photograph(i, w, h) for i, (w, h) in enumerate(SIZES)]
    files = [io.BytesIO() for _ in images]
    for image, file in zip(images, files):
        image.save(file, "png")
    path = tmp_path_factory.mktemp("photographs") / "photographs.rec"
    return write_shard(path, [(i, i, file.getvalue()) for i, file in enumerate(files)]), images


@pytest.mark.parametrize("method", [1, 2])
@pytest.mark.parametrize("version, resize", [("v1", 256), ("v2", 232)])
def test_evaluation_is_torchvisions_bit_for_bit(photographs, version, resize, method):
    path, images = photographs
    with imrec.ImageRecordIter(path, preset=f"imagenet-eval-torch-{version}-uint8", inter_method=method, batch_size=6) as it:
        batch = next(it)
    for i, image in enumerate(images):
        assert np.array_equal(batch.data[i].transpose(1, 2, 0), evaluated(image, resize, 224, method)), SIZES[i]


@pytest.mark.parametrize("version, side", [("v1", 224), ("v2", 176)])
def test_presets_of_all_types_deliver_the_same_pixels(photographs, version, side):
    path, _ = photographs
    name = f"imagenet-train-torch-{version}"
    mean, std = np.array([123.675, 116.28, 103.53], np.float32), np.array([58.395, 57.12, 57.375], np.float32)
    batches = []
    for suffix in "", "-uint8", "-bfloat16":
        with imrec.ImageRecordIter(path, preset=name + suffix, batch_size=6, seed=3, random_erasing=0) as it:
            batches.append(next(it).data)
    real, pixels, half = batches
    assert real.shape == (6, 3, side, side) and real.dtype == np.float32 and pixels.dtype == np.uint8
    normalized = (pixels.transpose(0, 2, 3, 1) - mean) * (np.float32(1) / std)
    assert np.array_equal(normalized.transpose(0, 3, 1, 2), real)
    bits = real.view(np.uint32)
    assert np.array_equal((bits + 0x7FFF + (bits >> 16 & 1)) >> 16, half.view(np.uint16))


def test_a_schedule_of_magnitudes_continues_after_a_restart(photographs):
    path, _ = photographs
    options = {"data_shape": (3, 64, 64), "batch_size": 6, "rand_augment": 2, "dtype": "uint8", "shuffle": True,
               "rand_augment_magnitude_schedule": "0:1;2:30", "record_draws": True}
    with imrec.ImageRecordIter(path, **options) as it:
        sweeps = [[(b.data.copy(), b.draws["op_magnitude"].copy()) for b in it] for _ in range(2)]
        state = it.state_dict()
        sweeps += [[(b.data.copy(), b.draws["op_magnitude"].copy()) for b in it] for _ in range(2)]
    with imrec.ImageRecordIter(path, **options) as it:
        it.load_state_dict(state)
        again = [b.data.copy() for b in it]
    assert np.array_equal(sweeps[2][0][0], again[0])
    weak, strong = (max(abs(sweeps[k][0][1][:, :2]).max() for k in ks) for ks in ((0, 1), (2, 3)))
    assert weak != strong
