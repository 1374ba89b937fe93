"""Writes pillow.json: what Pillow makes of a small picture, for test_pillow.c.

make_pillow.py > pillow.json
"""
import json
import sys

import numpy
import PIL
from PIL import Image

FILTERS = {1: Image.Resampling.BILINEAR, 2: Image.Resampling.BICUBIC}


def picture(w, h):
    """The picture of test_pillow.c."""
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
        centre(shorter_side(picture(w, h), n, method), 20, 24))
# The whole picture is the largest area that is allowed.
for w, h, method in ((61, 47, 1), (12, 10, 1), (100, 90, 2)):
    add(f"random_resized_crop=1 rrc_style=torch antialias=1 inter_method={method} data_shape=3,24,20 "
        "min_aspect_ratio=0.1 max_aspect_ratio=0.11 max_random_area=1 min_random_area=1", w, h,
        centre(picture(w, h), int(round(h * 0.11)), h).resize((20, 24), FILTERS[method]))
json.dump({"pillow": PIL.__version__, "cases": cases}, sys.stdout, indent=0)
