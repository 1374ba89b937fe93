"""Shows records and batches as a line, or as images in a notebook."""
from __future__ import annotations

import base64
import html
from typing import Any, Iterable, Mapping

import numpy as np

from .errors import Error

_MAGICS = {b"\xff\xd8\xff": "jpeg", b"\x89PNG\r\n": "png", b"GIF8": "gif", b"BM": "bmp", b"II*\0": "tiff", b"MM\0*": "tiff",
           b"\x1f\x8b": "gzip"}
_SHOWN = ("jpeg", "png", "gif", "webp", "bmp")  # browsers show these
_LARGE = 1 << 18  # bytes: a larger image is reduced


def kind_of(data: bytes) -> str:
    """"jpeg", "png", ...; "" for other bytes."""
    if data[:4] == b"RIFF":
        return {b"WEBP": "webp", b"WAVE": "wav"}.get(data[8:12], "")
    return next((kind for magic, kind in _MAGICS.items() if data.startswith(magic)), "")


def number(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e6 or not float(value).is_integer() else str(int(value))


def a_few(values: Iterable[Any], count: int, most: int = 4) -> str:
    """"1, 2, 3, 4, ... (10)"."""
    shown = [str(v) for v, _ in zip(values, range(most))]
    return ", ".join(shown) + (f", ... ({count})" if count > most else "")


def caption(labels: Any, names: list[str]) -> str:
    """The labels; of one that is a class, its name."""
    if len(labels) == 1:
        label = float(labels[0])
        if label.is_integer() and 0 <= label < len(names):
            return names[int(label)]
    return a_few(map(number, labels), len(labels))


def class_names_of(path: str, parameters: Mapping[str, Any] = {}) -> list[str]:
    """The class list of a data set; [] where there is none, or it cannot be read: what is shown does without."""
    from ._dataset import class_names

    try:
        return class_names(path, **parameters) if path else []
    except Error:
        return []


def page(figures: Iterable[str]) -> str:
    return "<div>" + "".join(figures) + "</div>"


def figure(data: bytes | np.ndarray[Any, Any] | None, words: str, size: int = 128) -> str:
    """An image, compressed or uint8 (H, W, C), `size` px, with words below. None: only words."""
    words = html.escape(words)
    shown = f'<span style="display:inline-block;width:{size}px">no image</span>'
    if data is not None:
        try:
            shown = (f'<img style="width:{size}px;height:{size}px;object-fit:contain" alt="{words}" '
                     f'src="{_uri(data, size)}">')
        except Exception as why:  # show the error instead of the image
            shown = f'<span style="display:inline-block;width:{size}px">{html.escape(str(why))}</span>'
    return (f'<figure style="display:inline-block;margin:2px;width:{size}px;vertical-align:top">{shown}'
            f'<figcaption style="font-size:11px">{words}</figcaption></figure>')


def _uri(data: bytes | np.ndarray[Any, Any], size: int) -> str:
    from ._reader import decoder

    kind = kind_of(data) if isinstance(data, bytes) else ""
    if isinstance(data, bytes) and (kind not in _SHOWN or len(data) > _LARGE):
        data = decoder()(data)
    if not isinstance(data, bytes):
        step = max(1, min(data.shape[:2]) // (2 * size))
        pixels = np.ascontiguousarray(data[::step, ::step])
        kind = "png" if pixels.shape[2] in (2, 4) else "jpeg"
        data = decoder().encode_png(pixels) if kind == "png" else decoder().encode_jpeg(pixels, 90)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def as_pixels(data: np.ndarray[Any, Any], channels_last: bool) -> np.ndarray[Any, Any]:
    """Images of a batch as uint8 (N, H, W, C): uint8 unchanged, others stretched over their range."""
    data = data if channels_last else np.moveaxis(data, 1, -1)
    if data.dtype == np.uint8:
        return data
    raw = data.dtype == np.uint16  # the bits of bfloat16
    values = (data.astype(np.uint32) << 16).view(np.float32) if raw else data.astype(np.float32)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    return ((values - low) * (255 / (high - low or 1))).astype(np.uint8)
