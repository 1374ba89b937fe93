"""The sources of pack(), recognized by their attributes: no library of data sets is imported."""
from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Iterable, NamedTuple

from ._engines import of_data_set
from ._ffi import error_of_system
from ._pack_items import missing
from ._unpacked import Unpacked
from .errors import ArgumentError, Error

_FILE = "file://"
# An unsupported compression is an error later.
_TAR = re.compile(r"\.(tar|tgz|tar\.(gz|zstd?|bz2|xz|lzma|lz4|zip|br|z)|tfrecords?)$|-[0-9]+-of-[0-9]+$", re.I)


class Source(NamedTuple):
    items: Iterable[Any]
    classes: list[str] | None = None
    length: int = 0  #: number of items, if known
    note: str = ""  #: a warning if images turn out to be decoded


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def folder_or_list(source: Any, root: Any) -> tuple[Any, Any]:
    """What C packs: LIST.lst or None, and the root: the folder, or where the list's paths begin. A URI stays as it is written."""
    name = _local(source)
    is_uri = "://" in name
    name = name if is_uri else str(Path(name))
    bare = name.partition("?")[0] if is_uri else name
    is_list = os.path.splitext(bare)[1] == ".lst"
    if not is_list and not is_uri and not os.path.isdir(name):
        raise _no_source(name)
    if not is_list:
        return None, name
    return name, root if root is not None else os.path.dirname(bare) or "."


def _no_source(path: str) -> Error:
    try:
        os.stat(path)
    except OSError as error:
        return error_of_system(error, path)
    return ArgumentError(f"{path} is neither a folder nor a .lst, a .tar or a .tfrecord")


def is_tar(source: Any) -> bool:
    """One tar archive or TFRecord file, a list of them, or the folder that they are in."""
    if is_path(source) and os.path.isdir(_local(source)):
        return _holds_tars(_local(source))
    all_of = source if isinstance(source, (list, tuple)) else [source]
    return bool(all_of) and all(is_path(one) and _TAR.search(os.fsdecode(one)) and not os.path.isdir(one) for one in all_of)


def _local(source: Any) -> str:
    name = os.fsdecode(source)
    return name[len(_FILE):] if name.startswith(_FILE) else name


def _holds_tars(folder: str) -> bool:
    """What else is in the folder C looks at."""
    try:
        with os.scandir(folder) as entries:
            return any(_TAR.search(one.name) and not one.name.startswith(".") and not one.is_dir() for one in entries)
    except OSError:
        return False


def find(source: Any, image: str, label: str | None, id: str | None, unpacked: Unpacked) -> Source:
    """The items of a source, not yet checked."""
    if isinstance(source, Mapping):
        raise ArgumentError(f"a {type(source).__name__} of {', '.join(map(repr, list(source)[:5]))} is not a data set: give one of "
                            "its values")
    if isinstance(source, (bytes, bytearray, memoryview)):
        raise ArgumentError(f"{type(source).__name__} is not a data set: give a list of (image, label)")
    if hasattr(source, "features") and hasattr(source, "cast_column"):
        return _hugging_face(source, image, label, id, unpacked)
    files = _image_folder(source)
    if files is not None:
        return files
    engine = of_data_set(source)
    if engine is not None:
        raise ArgumentError(f"a {type(source).__name__} of {engine} is packed where its rows are: imrec.distributed.pack() takes it")
    if not hasattr(source, "__iter__") and not hasattr(source, "__getitem__"):
        raise ArgumentError(f"{type(source).__name__} cannot be iterated over: pack() takes a folder, a .lst, a .tar, or an iterable")
    return Source(_rows(source), _names(source), _length(source))


def _length(source: Any) -> int:
    try:
        return len(source)
    except Exception:  # it has no length, or hides it
        return 0


def _rows(source: Any) -> Iterable[Any]:
    """Some data sets of torch have only __getitem__, which does not signal the end."""
    if hasattr(source, "__iter__") or not hasattr(source, "__len__"):
        return source  # type: ignore[no-any-return]
    return (source[i] for i in range(len(source)))


def _names(source: Any) -> list[str] | None:
    """Class names of a torchvision data set."""
    for name in ("wnids", "classes"):  # ImageNet's classes are lists of words, some of them repeated; its wnids are its folders
        found = getattr(source, name, None)
        if isinstance(found, (list, tuple)) and found and all(isinstance(one, str) for one in found):
            return list(found)
    return None


def _image_folder(source: Any) -> Source | None:
    """The unchanged files of torchvision's ImageFolder and DatasetFolder, and of a Subset of one."""
    inner, indices = source, None
    while hasattr(inner, "dataset") and hasattr(inner, "indices"):
        indices = list(inner.indices) if indices is None else [inner.indices[i] for i in indices]
        inner = inner.dataset
    samples = getattr(inner, "samples", None)
    if not isinstance(samples, (list, tuple)) or not samples or not hasattr(inner, "loader"):
        return None
    if not all(isinstance(one, (list, tuple)) and len(one) == 2 and is_path(one[0]) for one in samples[:1]):
        return None
    kind = type(inner).__name__
    for name in ("transform", "target_transform"):
        if getattr(inner, name, None) is not None:
            raise ArgumentError(f"{kind} has a {name}, which would not be applied, because its files are packed unchanged: pack("
                                "dataset.samples, ..., classes=dataset.classes) packs them without it, pack(((numpy.asarray(image), "
                                "label) for image, label in dataset), ..., classes=dataset.classes) packs its results")
    chosen = samples if indices is None else [samples[i] for i in indices]
    return Source(chosen, _names(inner), len(chosen))


def _hugging_face(source: Any, image: str, label: str | None, id: str | None, unpacked: Unpacked) -> Source:
    """Encoded bytes from a column of images, and the names of a ClassLabel."""
    features = source.features
    if features is None:  # a stream whose columns are known only when it is read
        return Source(source, None, _length(source), _decoded(image))
    if (getattr(source, "format", None) or {}).get("type") == "custom":
        return Source(source, _class_names(features, label), _length(source))  # a transform of the user: its results are packed
    for key, word in ((image, "image"), (label, "label")):
        if key is not None and key not in features:
            raise ArgumentError(f"the data set has no column {key!r}: " + missing(key, word, features))
    wanted = [key for key in features if key in (image, label, id)]
    for key in features:
        if key not in wanted:
            unpacked.add(f"column {key!r}")
    if len(wanted) < len(features) and hasattr(source, "select_columns"):
        source = source.select_columns(wanted)
    if hasattr(source, "with_format"):
        source = source.with_format(None)  # otherwise a format of numpy or torch decodes the images
    feature = features[image]
    if getattr(feature, "decode", False) and dataclasses.is_dataclass(feature):
        source = source.cast_column(image, dataclasses.replace(feature, decode=False))  # type: ignore[type-var]
    return Source(source, _class_names(features, label), _length(source), _decoded(image))


def _decoded(image: str) -> str:
    return (f"the images of column {image!r} were decoded and are stored as PNG: cast_column({image!r}, Image(decode=False)) before "
            "map() or filter() keeps their bytes")


def _class_names(features: Any, label: str | None) -> list[str] | None:
    names = getattr(features.get(label), "names", None) if label is not None else None
    return list(names) if names else None
