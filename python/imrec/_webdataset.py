"""Samples of WebDataset's tar archives, as pack() takes them."""
from __future__ import annotations

import os
from typing import Any, Iterable, Iterator, NamedTuple

from . import _tables
from ._ffi import check, ffi, lib, new_error, text
from ._options import assign
from ._pack_items import c_text
from .errors import ArgumentError

ANY_IMAGE, ANY_LABEL = "image", "label"  # the defaults of image= and label= of pack()


class Sample(NamedTuple):
    name: str  #: archive and member
    image: bytes
    label: int | float


def names_of(source: Any) -> str:
    """Tar archives as C takes them."""
    names = [os.fsdecode(one) for one in (source if isinstance(source, (list, tuple)) else [source])]
    for name in names:
        if ";" in name and len(names) > 1:
            raise ArgumentError(f"{name}: of several archives none may have a ';' in its name")
    return ";".join(names)


def extensions(image: str, label: str | None) -> dict[str, str]:
    """C's names for what archives are asked for."""
    found = {"image_ext": image.lstrip(".")} if image != ANY_IMAGE else {}
    if label != ANY_LABEL:
        found["label_ext"] = "none" if label is None else label.lstrip(".")
    return found


def archive_options(image: str, label: str | None, allow_damaged: bool) -> dict[str, str]:
    return {**extensions(image, label), "archive_errors": "skip_damage" if allow_damaged else "stop"}


def samples(paths: Any, image: str, label: str | None, allow_damaged: bool) -> Iterator[Sample]:
    options, found, one, err = (ffi.new("struct imrec_pack_options *"), ffi.new("struct imrec_archive **"),
                                ffi.new("struct imrec_archive_sample *"), new_error())
    lib.imrec_pack_options_init(options)
    texts = assign(lib.imrec_pack_options_set, options, _tables.PACK, archive_options(image, label, allow_damaged))
    texts.append(c_text(names_of(paths), "the name of an archive"))
    check(lib.imrec_archive_open(texts[-1], options, found, ffi.NULL, err), err)
    archive = ffi.gc(found[0], lib.imrec_archive_close)
    while check(lib.imrec_archive_next(archive, one, err), err) == lib.IMREC_OK:
        number = float(one.label)
        yield Sample(text(one.name), bytes(ffi.buffer(one.image, one.image_bytes)), int(number) if number.is_integer() else number)


def webdataset(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, image: str = ANY_IMAGE,
               label: str | None = ANY_LABEL, allow_damaged: bool = False) -> Iterator[tuple[bytes, Any]]:
    """(image, label) of each sample in WebDataset's tar files (or .tar.gz), in any store: members that share folder and name up to
    the first dot.

    image  extension of the image if a sample has several: "left.jpg"
    label  extension of the label, a number as text: .cls, .label or .id, whichever the first sample has; None: labels are
           ignored, and the second value is None

    Headers and labels of all archives are read first: a sample without its label, with several images, or with two images of
    one extension is an ArgumentError, a damaged or truncated archive a CorruptError with its byte, before anything is
    delivered. With allow_damaged=True damage is passed over up to the next header, and the samples that it has left whole are
    delivered. Links, devices and sparse files are an UnsupportedError. Other members are listed once in a warning of the
    logger imrec."""
    if not isinstance(paths, (str, os.PathLike)):
        paths = list(paths)
    for sample in samples(paths, image, label, allow_damaged):
        yield sample.image, None if label is None else sample.label
