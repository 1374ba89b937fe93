"""The names that fields= and images= list."""
from __future__ import annotations

import re
from typing import Any

from ._options import as_text

#: What may follow a name of images=
_HOW = re.compile(r"\??(:(uint8|uint16|int32|float32|1|3|4|nearest|normalize|fill=\d+)\??)*$")


def _words(option: str, value: Any) -> list[str]:
    said = as_text(None, option, value or "")
    return said.split(",") if said else []


def field_names(fields: Any) -> dict[str, bool]:
    """Of fields="txt,json?": txt and json, and whether a sample must have it."""
    return {name[:-1] if name.endswith("?") else name: not name.endswith("?") for name in _words("fields", fields)}


def image_names(images: Any) -> dict[str, bool]:
    """Of images="image,right:normalize,depth:uint16?": right and depth, likewise."""
    return {_HOW.sub("", word): "?" not in word for word in _words("images", images)[1:]}


def reads_pixels(images: Any) -> bool:
    return _words("images", images) != ["none"]
