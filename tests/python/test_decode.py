"""imrec.decode(): regions, scales and orientations of single images."""
import concurrent.futures
import io
import itertools
import re

import numpy as np
import pytest

import imrec

Image = pytest.importorskip("PIL.Image")
WIDTH, HEIGHT = 93, 70


def photo():
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    noise = np.random.default_rng(3).integers(0, 60, (HEIGHT, WIDTH, 3))
    return (np.stack([x * 2, y * 2, 180 - x - y // 2], 2) + noise).clip(0, 255).astype(np.uint8)


def saved(kind, orientation=1, **more):
    out, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(photo()).save(out, kind, exif=exif, **more)
    return out.getvalue()


REGIONS = [(0, 0, 1, 1), (5, 9, 40, 30), (33, 0, 20, 41)]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("progressive", [False, True])
def test_a_region_is_a_part_of_the_image(orientation, progressive):
    data = saved("jpeg", orientation, progressive=progressive)
    for turned in (True, False):
        whole = imrec.decode(data, auto_orient=turned)
        assert whole.shape == ((WIDTH, HEIGHT, 3) if turned and orientation > 4 else (HEIGHT, WIDTH, 3))
        height, width = whole.shape[:2]
        for x, y, w, h in [*REGIONS, (width - 3, height - 2, 3, 2), (0, 0, width, height)]:
            part = imrec.decode(data, region=(x, y, w, h), auto_orient=turned)
            np.testing.assert_array_equal(part, whole[y:y + h, x:x + w])


@pytest.mark.parametrize("scale", [2, 4, 8])
@pytest.mark.parametrize("orientation", [1, 3, 6, 7])
def test_a_jpeg_is_decoded_smaller(scale, orientation):
    data = saved("jpeg", orientation, quality=95)
    whole = imrec.decode(data, scale=scale)
    size = [-(-WIDTH // scale), -(-HEIGHT // scale)]
    if orientation > 4:
        size.reverse()
    assert whole.shape == (size[1], size[0], 3)
    plain = Image.open(io.BytesIO(data))
    plain.draft("RGB", (WIDTH // scale, HEIGHT // scale))  # libjpeg scales, too
    assert plain.size == (-(-WIDTH // scale), -(-HEIGHT // scale))
    if orientation == 1:
        np.testing.assert_array_equal(whole, np.asarray(plain.convert("RGB")))
    x, y, w, h = 2, 3, 5, 4
    np.testing.assert_array_equal(imrec.decode(data, region=(x, y, w, h), scale=scale), whole[y:y + h, x:x + w])


def test_channels_and_other_formats():
    png = saved("png")
    np.testing.assert_array_equal(imrec.decode(png, region=(5, 9, 40, 30)), photo()[9:39, 5:45])
    for data, channels in itertools.product((png, saved("jpeg")), (1, 3, 4)):
        whole = imrec.decode(data, channels)
        np.testing.assert_array_equal(imrec.decode(data, channels, region=(1, 2, 30, 20)), whole[2:22, 1:31])
    with pytest.raises(imrec.UnsupportedError, match="a png is decoded at full size only"):
        imrec.decode(png, scale=2)


@pytest.mark.parametrize("region", [(0, 0, WIDTH + 1, 1), (WIDTH, 0, 1, 1), (0, HEIGHT - 1, 1, 2), (0, 0, 0, 1), (2**32 - 1, 0, 2, 1)])
def test_a_region_that_is_not_inside_is_refused(region):
    with pytest.raises(imrec.ArgumentError, match="not inside the image, which is 93 x 70 px"):
        imrec.decode(saved("jpeg"), region=region)


@pytest.mark.parametrize("arguments", [{"region": (1, 2, 3)}, {"region": (-1, 0, 2, 2)}, {"region": (0, 0, 2**32, 1)}, {"scale": 3},
                                       {"scale": 0}, {"scale": 2.0}, {"scale": "2"}, {"region": 5}, {"region": (0, 0, 1.5, 2)},
                                       {"region": "0,0,2,2"}])
def test_wrong_arguments_are_refused(arguments):
    (name, value), = arguments.items()
    with pytest.raises(imrec.ArgumentError, match=f"^{name} must be .*, not {re.escape(repr(value))}$"):
        imrec.decode(saved("jpeg"), **arguments)


def test_damage_below_a_region_is_not_seen():
    data = saved("jpeg", quality=95)
    cut = data[:len(data) * 3 // 4]
    np.testing.assert_array_equal(imrec.decode(cut, region=(0, 0, WIDTH, 20)), imrec.decode(data)[:20])
    with pytest.raises(imrec.CorruptError):
        imrec.decode(cut)


def test_any_thread():
    data = [saved("jpeg", quality=q) for q in range(20, 100)]
    want = [imrec.decode(d) for d in data]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            for a, b in zip(want, pool.map(imrec.decode, data)):
                np.testing.assert_array_equal(a, b)
