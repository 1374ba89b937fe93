"""Reads samples of WebDataset's tar archives: members that share a name up to its first dot."""
from __future__ import annotations

import logging
import os
import re
from typing import Any, Iterable, Iterator, NamedTuple

from ._tar import Member, Tar
from .errors import ArgumentError, CorruptError, LimitError

logger = logging.getLogger("imrec")

_IMAGES = ("jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "bmp", "dib", "tif", "tiff")
_LABELS = ("cls", "label", "id")  # the first of them that the first sample has
_LABEL_MAX = 4096
_RECORD_MAX = (1 << 29) - 1
ANY_IMAGE, ANY_LABEL = "image", "label"  # the defaults of image= and label= of pack()


class Unpacked:
    """Names of data that exist and are not packed: one warning after the first sample, and one at the end for later names; no
    name twice, and at most a thousand."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._new: list[str] = []
        self._begun = False

    def add(self, what: str) -> None:
        if what not in self._seen and len(self._seen) < 1000:
            self._seen.add(what)
            self._new.append(what)

    def begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.tell()

    def tell(self) -> None:
        if self._new:
            more = f" and {len(self._new) - 20} more" if len(self._new) > 20 else ""
            logger.warning("not packed: %s%s", ", ".join(self._new[:20]), more)
            self._new = []


class Sample(NamedTuple):
    name: str  #: archive and member
    image: bytes | None  #: None: `refused` has the reason
    label: int | float | None
    refused: str | None = None
    damaged: bool = False  #: the archive is damaged after it


def extension(word: str) -> str:
    return word.lower().lstrip(".")


class Reader:
    """The samples of archives, one after the other. An invalid sample is an error that names archive and sample."""

    def __init__(self, paths: Any, image: str = ANY_IMAGE, label: str | None = ANY_LABEL, allow_damaged: bool = False,
                 unpacked: Unpacked | None = None) -> None:
        self._paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        self._image = None if image == ANY_IMAGE else extension(image)
        self._labels = () if label is None else _LABELS if label == ANY_LABEL else (extension(label),)
        self._allow_damaged, self._unpacked = allow_damaged, unpacked or Unpacked()
        self._first: str | None = None  # the label's extension in the first sample

    def __iter__(self) -> Iterator[Sample]:
        for path in self._paths:
            with Tar(path) as tar:
                yield from self._archive(tar)
        self._unpacked.tell()

    def _archive(self, tar: Tar) -> Iterator[Sample]:
        held = _Held("")
        try:
            for member in tar:
                key, suffix = split(member.name)
                if not key:
                    self._unpacked.add(member.name)
                    continue
                if key != held.key:
                    yield from self._whole(tar, held)
                    held = _Held(key)
                self._take(tar, held, member, suffix)
        except CorruptError as error:
            if not self._allow_damaged:
                raise
            yield from self._maybe_cut(tar, held, error)
        else:
            yield from self._whole(tar, held)

    def _maybe_cut(self, tar: Tar, held: _Held, error: CorruptError) -> Iterator[Sample]:
        """The sample before damage of the archive may lack a part."""
        logger.warning("%s; the complete samples before it are packed%s", error,
                       f", without the sample {held.key!r}, which may be incomplete" if held.seen else "")
        if held.seen:
            yield Sample(self._name(tar, held), None, None, f"it may be incomplete: {error}", True)

    def _take(self, tar: Tar, held: _Held, member: Member, suffix: str) -> None:
        where = f"{tar.path}: sample {held.key!r}"
        if suffix in held.seen:
            raise ArgumentError(f"{where} has two members .{suffix}, at bytes {held.seen[suffix]} and {member.offset}",
                                offset=member.offset, shard=tar.path)
        held.seen[suffix] = member.offset
        is_image = suffix == self._image if self._image else suffix.rpartition(".")[2] in _IMAGES
        if is_image and held.image_name:
            raise ArgumentError(f"{where} has several images, {', '.join('.' + s for s in held.seen)}: choose one of them, "
                                f"image={suffix!r}", offset=member.offset, shard=tar.path)
        if is_image:
            held.image_name = member.name
            if member.size > _RECORD_MAX:
                held.refused = f"{member.size} bytes are more than a record holds (2^29 - 1)"
            else:
                held.image = tar.read()
        elif suffix in self._labels:
            if member.size > _LABEL_MAX:
                raise ArgumentError(f"{where}: its label .{suffix} has {member.size} bytes: it must be a number",
                                    offset=member.offset, shard=tar.path)
            held.labels[suffix] = tar.read()
        else:
            self._unpacked.add("members ." + suffix)

    def _whole(self, tar: Tar, held: _Held) -> Iterator[Sample]:
        """The sample of the collected members, if they are one."""
        if not held.image_name and not held.labels:
            return
        where, has = f"{tar.path}: sample {held.key!r}", ", ".join("." + s for s in held.seen)
        if not held.image_name:
            raise ArgumentError(f"{where} has no image: it has {has}", shard=tar.path)
        label = None
        if self._labels:
            self._first = self._first or next((s for s in self._labels if s in held.labels), None)
            if self._first is None or self._first not in held.labels:
                wanted = self._first or self._labels[0]
                raise ArgumentError(f"{where} has no label .{wanted}: it has {has}; write label= for another member, or label=None "
                                    "to pack without labels", shard=tar.path)
            label = number(held.labels[self._first], f"{where}: label .{self._first}")
            for other in set(held.labels) - {self._first}:
                self._unpacked.add("members ." + other)
        self._unpacked.begin()
        yield Sample(self._name(tar, held), held.image, label, held.refused)

    def _name(self, tar: Tar, held: _Held) -> str:
        return f"{os.path.basename(tar.path)}/{held.image_name or held.key}"


class _Held:
    """Members of the current sample."""

    def __init__(self, key: str) -> None:
        self.key, self.image_name = key, ""
        self.image: bytes | None = None
        self.refused: str | None = None
        self.labels: dict[str, bytes] = {}
        self.seen: dict[str, int] = {}  # extension -> byte of the header


def split(name: str) -> tuple[str, str]:
    """("folder/0001", "left.jpg") of folder/0001.left.jpg; ("", "") if the name has no extension or nothing before it."""
    folder, slash, base = name.rpartition("/")
    stem, dot, suffix = base.partition(".")
    return (folder + slash + stem, suffix.lower()) if stem and dot else ("", "")


def number(data: bytes, what: str) -> int | float:
    """A label's text as a number: integers stay integers."""
    text = data.decode("ascii", "replace").strip()
    if re.fullmatch(r"[+-]?\d{1,400}", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", text, re.I):
        return float(text)
    raise ArgumentError(f"{what} is {text[:40]!r}: it must be a number")


def webdataset(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, image: str = ANY_IMAGE,
               label: str | None = ANY_LABEL, allow_damaged: bool = False) -> Iterator[tuple[bytes, Any]]:
    """(image, label) of each sample in WebDataset's tar files (or .tar.gz): members that share folder and name up to the first
    dot.

    image  extension of the image if a sample has several: "left.jpg"
    label  extension of the label, a number as text: .cls, .label or .id, whichever the first sample has; None: labels are
           ignored, and the second value is None

    A sample without its label, with several images, or with two members of one extension is an ArgumentError. A damaged or
    truncated archive is a CorruptError with its byte; with allow_damaged=True it is a warning, and the complete samples before
    the damage are delivered, except the last one, which may lack a part. Links, devices and sparse files are an
    UnsupportedError. Other members are listed once in a warning of the logger imrec."""
    for sample in Reader(paths, image, label, allow_damaged):
        if sample.image is not None:
            yield sample.image, sample.label
        elif not sample.damaged:
            raise LimitError(f"{sample.name}: {sample.refused}")
