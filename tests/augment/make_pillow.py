"""Writes pillow.json: what Pillow makes of a small image, for test_pillow.c.

make_pillow.py > pillow.json
"""
import json
import sys

import numpy
import PIL
from PIL import Image, ImageEnhance, ImageOps

FILTERS = {1: Image.Resampling.BILINEAR, 2: Image.Resampling.BICUBIC, 3: Image.Resampling.BOX, 4: Image.Resampling.LANCZOS}


def make_image(w, h):
    """The image of test_pillow.c."""
    y, x, c = numpy.mgrid[0:h, 0:w, 0:3]
    return Image.fromarray(((x * 7 + y * 13 + c * 50 + x * y % 31 * 5) % 256).astype(numpy.uint8))


def shorter_side(image, n, method):
    """torchvision's Resize(n)."""
    w, h = image.size
    size = (n, int(n * h / w)) if w <= h else (int(n * w / h), n)
    return image.resize(size, FILTERS[method])


def centre(image, w, h):
    """torchvision's CenterCrop((h, w))."""
    left, top = int(round((image.width - w) / 2.0)), int(round((image.height - h) / 2.0))
    return image.crop((left, top, left + w, top + h))


cases = []


def add(options, w, h, result):
    cases.append({"options": options, "size": [w, h], "pixels": result.tobytes().hex()})


for w, h, n, method in ((61, 47, 32, 1), (47, 61, 32, 2), (33, 26, 31, 1), (20, 24, 33, 1), (90, 41, 25, 2)):
    add(f"resize={n} inter_method={method} rrc_style=torch antialias=1 data_shape=3,24,20", w, h,
        centre(shorter_side(make_image(w, h), n, method), 20, 24))
# The whole image is the largest area that is allowed.
for w, h, method in ((61, 47, 1), (12, 10, 1), (100, 90, 2)):
    add(f"random_resized_crop=1 rrc_style=torch antialias=1 inter_method={method} data_shape=3,24,20 "
        "min_aspect_ratio=0.1 max_aspect_ratio=0.11 max_random_area=1 min_random_area=1", w, h,
        centre(make_image(w, h), int(round(h * 0.11)), h).resize((20, 24), FILTERS[method]))
# Pillow's own arithmetic, bit for bit: smaller, larger, both, and images that are barely anything else.
for w, h, n, method in ((61, 47, 32, 1), (47, 61, 32, 2), (90, 41, 25, 2), (20, 24, 33, 2), (90, 70, 25, 3), (21, 25, 40, 3),
                        (120, 77, 26, 4), (22, 30, 41, 4), (33, 26, 25, 2), (40, 300, 24, 2)):
    add(f"resize={n} inter_method={method} rrc_style=torch resize_style=pillow data_shape=3,24,20", w, h,
        centre(shorter_side(make_image(w, h), n, method), 20, 24))
for w, h, method in ((61, 47, 1), (100, 90, 2), (30, 130, 4)):
    add(f"random_resized_crop=1 rrc_style=torch resize_style=pillow inter_method={method} data_shape=3,24,20 "
        "min_aspect_ratio=0.1 max_aspect_ratio=0.11 max_random_area=1 min_random_area=1", w, h,
        centre(make_image(w, h), int(round(h * 0.11)), h).resize((20, 24), FILTERS[method]))
# Operations: number of enum imrec_op, magnitude, what torchvision calls on Pillow's images.
ops = []


def operation(op, magnitude, result, within=0, pixels=0):
    """within: largest difference allowed; pixels: share of values that may differ by more."""
    ops.append({"op": op, "magnitude": magnitude, "within": within, "pixels": pixels,
                "result": result.tobytes().hex()})


base = make_image(20, 24)
for op, enhance in ((6, ImageEnhance.Brightness), (7, ImageEnhance.Color), (8, ImageEnhance.Contrast),
                    (9, ImageEnhance.Sharpness)):
    for factor in (0.4, 1.7):
        operation(op, factor, enhance(base).enhance(factor), within=1)
for bits in (3, 6):
    operation(10, bits, ImageOps.posterize(base, bits))
operation(11, 130, ImageOps.solarize(base, 130))
operation(12, 0, ImageOps.autocontrast(base))
operation(13, 0, ImageOps.equalize(base))
operation(13, 0, ImageOps.equalize(base.point(lambda v: 255 if v > 100 else v)))
ops[-1]["white_above"] = 100  # so many of the greatest value that there is nothing to spread
for m in (0.3, -0.9):
    operation(1, m, base.transform(base.size, Image.AFFINE, (1, m, 0, 0, 1, 0), fillcolor=(9, 9, 9)), pixels=0.02)
    operation(2, m, base.transform(base.size, Image.AFFINE, (1, 0, 0, m, 1, 0), fillcolor=(9, 9, 9)), pixels=0.02)
for n in (4, -7):
    operation(3, n, base.transform(base.size, Image.AFFINE, (1, 0, -n, 0, 1, 0), fillcolor=(9, 9, 9)))
    operation(4, n, base.transform(base.size, Image.AFFINE, (1, 0, 0, 0, 1, -n), fillcolor=(9, 9, 9)))
for angle in (30, -77):
    operation(5, angle, base.rotate(angle, Image.NEAREST, fillcolor=(9, 9, 9)), pixels=0.02)
operation(14, 0, ImageOps.invert(base))
for added in (40, 99):
    operation(15, added, base.point([min(255, v + added) if v < 128 else v for v in range(256)] * 3))
operation(100, 0, Image.merge("RGB", [base.convert("L")] * 3))
json.dump({"pillow": PIL.__version__, "cases": cases, "ops": ops}, sys.stdout, indent=0)
