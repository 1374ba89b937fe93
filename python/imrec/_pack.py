"""Packs images into record shards."""
from __future__ import annotations

import inspect
import itertools
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator

from . import _tables
from ._ffi import ffi, lib, new_error, raise_error, text, to_dict
from ._options import assign, default_of, describe, signature
from ._pack_items import ANY_ID, Columns, Feeder, Item, Taker, c_text
from ._pack_sources import Source, find, folder_or_list, is_path, is_tar
from ._running import Watch
from ._unpacked import Unpacked, logger
from ._webdataset import ANY_IMAGE, ANY_LABEL, archive_options, names_of, webdataset
from .errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._tables import PackParameters

__all__ = ["pack", "webdataset"]

_ASKED = ("encoding", "quality", "color")  # requested if given, whatever the value; they apply to pixels, too
_CHANGING = {row.name: default_of(row) for row in _tables.PACK if row.group == "image" and row.name not in (
    "pass_through", "check", "max_pixels", "accept_truncated", "format", "copies", "ignore_label", "keypoint_pairs", "drawn_on",
    "tile", "baseline", "shared_tables")}


def _pack(source: Any, out: Any, *, root: Any = None, image: str = ANY_IMAGE, label: str | None = ANY_LABEL,
          id: str | None = ANY_ID, allow_damaged: bool = False, append: bool = False, progress: bool | Callable[[Any], None] = False,
          **parameters: Any) -> dict[str, Any]:
    parameters = given(parameters)
    if is_tar(source):
        how = archive_options(image, label, allow_damaged)
        return _pack_archives(_Job(out, None, names_of(source)), how, label, append, progress, parameters)
    if not is_path(source):
        if allow_damaged:
            raise ArgumentError("allow_damaged is for tar archives")
        unpacked = Unpacked()
        found = find(source, image, label, id, unpacked)
        return _pack_items(found, unpacked, _Job(out, None, root), append, progress, parameters, Columns(image, label, id))
    if (image, label, id, allow_damaged) != (ANY_IMAGE, ANY_LABEL, ANY_ID, False):
        raise ArgumentError("image=, label=, id= and allow_damaged= are for iterables and tar archives, not for a folder or a list")
    job = _Job(out, *folder_or_list(source, root))
    job.set_options(parameters)
    return job.pack_files(append, progress)


def _pack_archives(job: _Job, how: dict[str, str], label: str | None, append: bool, progress: Any,
                   parameters: dict[str, Any]) -> dict[str, Any]:
    _check_of_items(label, parameters)
    make_parent(text(job.task.out))
    with tempfile.TemporaryDirectory() as folder:
        names = parameters.get("classes")
        if isinstance(names, (list, tuple)):
            file = Path(folder, "classes.txt")
            file.write_bytes(b"".join(os.fsencode(str(name)) + b"\n" for name in names))
            parameters = {**parameters, "classes": file}
        job.set_options(keep_bytes({**how, **parameters}))
        return job.pack_files(append, progress)


class _Job:
    """The arguments of a call of C: task, options, source, and the texts that they point to."""

    def __init__(self, out: Any, lst: Any, root: Any) -> None:
        self.task, self.options = ffi.new("struct imrec_pack_task *"), ffi.new("struct imrec_pack_options *")
        self.result, self.source = ffi.new("struct imrec_pack_result *"), ffi.new("struct imrec_pack_source *")
        self.texts: list[Any] = []
        for field, value in (("list", lst), ("root", root), ("out", out)):
            if value is not None:
                self.texts.append(c_text(value, field))
                setattr(self.task, field, self.texts[-1])

    def set_options(self, parameters: dict[str, Any]) -> None:
        lib.imrec_pack_options_init(self.options)
        self.texts += assign(lib.imrec_pack_options_set, self.options, _tables.PACK, parameters)

    def set_classes(self, names: list[str]) -> None:
        texts = [c_text(name, "the name of a class") for name in names]
        array = ffi.new("const char *[]", texts)
        self.texts += [texts, array]
        self.source.classes, self.source.class_count = array, len(texts)

    def pack_files(self, append: bool, progress: Any) -> dict[str, Any]:
        call = lib.imrec_append if append else lib.imrec_pack
        return self.run(Watch(progress, "img"), lambda err: call(self.task, self.options, self.result, err))

    def run(self, watch: Watch, call: Callable[[Any], int]) -> dict[str, Any]:
        err = new_error()
        self.task.progress, self.task.user = lib.on_progress, watch.handle
        status = watch.run(lambda: call(err))
        if status != lib.IMREC_OK:
            raise_error(status, err)
        card = to_dict(self.result[0])
        for many, few in (("kinds", "kind_count"), ("reasons", "reason_count"), ("encoded", "encoded_count")):
            card[many] = {entry["name"]: entry["count"] for entry in card[many][:card.pop(few)]}
        card["first_skips"] = card["first_skips"][:card.pop("first_skip_count")]
        if card["skipped"] and not card["was_complete"]:
            why = ", ".join(f"{count} {reason}" for reason, count in card["reasons"].items())
            first = "; ".join(f"{s['path'] or 'line %d' % s['line']}: {s['reason']}" for s in card["first_skips"])
            logger.warning("%d of %d images are not in %s: %s; report=FILE lists them all; %s", card["skipped"], card["total"],
                           text(self.task.out), why, first.encode("utf-8", "backslashreplace").decode())
        return card


# ---- iterables -------------------------------------------------------------------------------------------------------

def _check_of_items(label: str | None, parameters: dict[str, Any]) -> None:
    """Parameters of items, and of the samples of archives."""
    if parameters.get("shuffle"):
        raise ArgumentError("shuffle is for folders: items are packed in their own order")
    if not parameters.get("pack_label", True):
        raise ArgumentError("pack_label=False is for lists: all labels of an item are packed")
    if label is None and "classes" in parameters:
        raise ArgumentError("classes= are the names of labels, and label=None packs none")


def prepare_items(job: _Job, parameters: dict[str, Any], columns: Columns, names: list[str] | None) -> Columns:
    """Sets options and source of the job for items, as `parameters` ask for them. names: of the classes that the items bring."""
    _check_of_items(columns.label, parameters)
    names = names if columns.label is not None else None
    if isinstance(parameters.get("classes"), (list, tuple)):
        names = [str(name) for name in parameters.pop("classes")]
    numbers = names if names is not None or "classes" not in parameters else _names_of(parameters["classes"])
    job.set_options(keep_bytes(parameters))
    lib.imrec_pack_source_init(job.source)
    _set_source(job.source, job.options, parameters)
    job.set_classes(names or [])
    return columns._replace(classes=numbers, encoding=parameters.get("encoding"), of_jpeg=_of_jpeg(job.options, parameters))


def _of_jpeg(options: Any, parameters: dict[str, Any]) -> str | None:
    if parameters.get("quality_target"):
        return f"quality_target={parameters['quality_target']}"
    return f"quality={options.quality}" if "quality" in parameters and options.quality > 9 else None


def given(parameters: dict[str, Any]) -> dict[str, Any]:
    """Without those that are None, which stands for the default."""
    return {name: value for name, value in parameters.items() if value is not None}


def keep_bytes(parameters: dict[str, Any]) -> dict[str, Any]:
    """Encoded images of items, and of archives, keep their bytes unless something that changes them is asked for; all labels are
    packed."""
    asked = any(name in parameters and (name in _ASKED or parameters[name] != default) for name, default in _CHANGING.items())
    return {"pass_through": not asked, **parameters, "pack_label": True}


def make_parent(out: str) -> None:
    """The folder in which the set of an iterable is written."""
    if "://" not in out:
        Path(out).absolute().parent.mkdir(parents=True, exist_ok=True)


def _pack_items(found: Source, unpacked: Unpacked, job: _Job, append: bool, progress: Any, parameters: dict[str, Any],
                columns: Columns) -> dict[str, Any]:
    taker = Taker(prepare_items(job, parameters, columns, found.classes), unpacked)
    items = _items(found, taker, unpacked)
    first = next(items, None)
    if first is None:
        raise ArgumentError("there is nothing to pack: the iterable has no item")
    feeder = Feeder(itertools.chain([first], items), progress, found.length)
    options, source = job.options, job.source
    source.next, source.user, source.numbered = lib.on_pack_item, feeder.handle, taker.numbered
    source.total = found.length if options.shards > 1 else 0
    make_parent(text(job.task.out))
    call = lib.imrec_append_items if append else lib.imrec_pack_items
    card = job.run(feeder, lambda err: call(job.task, source, options, job.result, err))
    if found.note and any(kind.startswith("pixels ") for kind in card["encoded"]):
        logger.warning("%s", found.note)
    return card


def _set_source(source: Any, options: Any, parameters: dict[str, Any]) -> None:
    """Encodes pixels as requested, otherwise without loss. Other images keep their bytes with pass_through."""
    if "encoding" in parameters:
        source.encoding = options.encoding
    if "quality" in parameters or source.encoding == lib.IMREC_ENCODE_JPEG:
        source.quality = options.quality
    if "color" in parameters:
        source.color = options.color
    if options.pass_through:
        options.encoding, options.quality, options.color = lib.IMREC_ENCODE_JPEG, 95, 1


def _names_of(classes: Any) -> list[str]:
    """Class names from a file, for labels that are names. C checks the file."""
    try:
        return Path(os.fsdecode(classes)).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []


def _items(found: Source, taker: Taker, unpacked: Unpacked) -> Iterator[Item]:
    for n, raw in enumerate(found.items):
        yield taker(n, raw)
        unpacked.begin()
    unpacked.tell()


# ---- the public function ---------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    def pack(source: Any, out: Any, *, root: Any = ..., image: str = ..., label: str | None = ..., id: str | None = ...,
             allow_damaged: bool = ..., append: bool = ..., progress: bool | Callable[[Any], None] = ...,
             **parameters: Unpack[PackParameters]) -> dict[str, Any]: ...
else:
    pack = _pack
    pack.__name__ = pack.__qualname__ = "pack"
    pack.__signature__ = signature(_tables.PACK, [p for p in inspect.signature(_pack).parameters.values()
                                                  if p.kind is not inspect.Parameter.VAR_KEYWORD], "dict[str, Any]")
    pack.__doc__ = """Packs images into record shards: `out`.rec, .idx, .lst, .crc, class list, manifest, all or nothing.

    source    a folder of classes, a LIST.lst (its paths are relative to `root`, or to the list's folder), a .tar or .tar.gz of
              WebDataset, a .tfrecord, a list of these archives, or a folder of them, each a path or a URI; a data set of Hugging Face; an ImageFolder of
              torchvision, or a Subset of one; or an iterable of (image, label), (image, label, id), or dicts.
    image     key of the image in a dict, column of a data set, extension of a tar's member if a sample has several, or feature.
    label     the same for the label; None packs without labels: 0 is stored, and the card and the manifest record it.
    id        the same for the id; items without one are numbered from 0; None numbers them all.
    allow_damaged  for a tar: damage of an archive is passed over up to the next header, counted as skipped and reported;
              otherwise it is a CorruptError before anything is packed.
    append    add the images to the set `out`, after its own.
    progress  True: a bar of tqdm; or a function that is called with a dict of counts, and ends the run by returning False.

    An image is the bytes of a file, a path, an array uint8 (H, W), (H, W, 1), (H, W, 3), (H, W, 4), or a Pillow image.
    Bytes and files are stored as they are, unless an option of the group "image" changes them (pass_through=True keeps them
    even then); tile="yes" and baseline=True alone write JPEGs again without loss (with shared_tables=True, too). Arrays and Pillow images are stored as PNG, without loss, unless `encoding` is given.
    fields="txt,json?" packs files next to the images of a folder or list, of a tar's samples, or features of a TFRecord file as
    fields of their records; items have none.
    A label is a number, several, or the name of a class; `classes` may be a list of names. Class names of an ImageFolder or a
    ClassLabel are kept. Errors about a missing, empty, infinite or inexact label, or a bad id, name the item.

    Items stream: only the set is written, and `memory` limits what is held. Exceptions of the iterable are raised here.
    Keys, columns and members that are not packed are listed in a warning of the logger imrec.
    Returns a dict: images packed, skipped and why (`first_skips`: ten of them, with path and reason), kinds, those `encoded`
    again (of these `rewritten` without loss), classes, sizes, bytes. After Ctrl-C a run over a folder, list or tar can be continued with resume=True; a run over an
    iterable leaves nothing.
    Raises ArgumentError, CorruptError and UnsupportedError (tars), DataError (on_error="stop", or nothing could be packed),
    StorageError, CancelledError.

    Parameters, by group:

""" + "\n".join("    " + line for line in describe(_tables.PACK).splitlines()) + "\n"
