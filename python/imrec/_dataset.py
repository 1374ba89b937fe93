"""A data set as a whole: summarizes, checks, converts and shows it."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _show
from ._ffi import callback, check, ffi, lib, new_error, text, to_dict
from ._options import ON_ERROR, chosen
from ._reader import Options, Record, Records, reading, shards
from ._running import Watch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._tables import ReaderParameters


class _Call(Watch):
    """A call over all records, and its findings."""

    def __init__(self, progress: bool | Callable[[Any], None]) -> None:
        super().__init__(progress, "B", scale=True)
        self.findings: list[dict[str, Any]] = []

    def told(self, p: Any) -> bool:
        return self.step(p.bytes, p.total_bytes, {"records": p.done, "bytes": p.bytes, "total_bytes": p.total_bytes})


@callback()
def on_finding(user: Any, f: Any) -> None:
    found = to_dict(f[0])
    del found["lost"]  # of CNTK's files
    found["kind"] = text(lib.imrec_finding_name(f.kind))
    ffi.from_handle(user).findings.append(found)


def _uri(path: Any, allow_missing: bool = False, options: Options | None = None) -> Any:
    return ffi.new("char[]", os.fsencode(shards(path, allow_missing, options)))


@reading
def verify(path: Any, *, structure_only: bool = False, threads: int = 0, max_pixels: int | None = None,
           progress: bool | Callable[[Any], Any] = False, allow_missing: bool = False,
           **parameters: Unpack[ReaderParameters]) -> dict[str, Any]:
    """Checks every record: framing, checksums, index, headers, manifest, and (unless structure_only) decodes every image.
    Findings are the result, not an error: `findings` is a list of dicts (kind, uri, shard, begin, end, id, reason). The other
    keys are counts (records, images, bytes, decoded, checksums, indexed, found by kind). They are the same for every number of
    threads (0 = every CPU). progress: True (tqdm), or a function that receives a dict and may return False to end the call.
    allow_missing: missing shards of a set are a warning instead of a finding. Other parameters: see open().
    Raises StorageError and ArgumentError if the set cannot be checked; CancelledError."""
    call, err, uri, reader = _Call(progress), new_error(), _uri(path), Options(parameters, "verify")
    options, result = ffi.new("struct imrec_verify_options *"), ffi.new("struct imrec_verify_result *")
    lib.imrec_verify_options_init(options)
    options.structure_only, options.threads, options.allow_missing = structure_only, threads, allow_missing
    options.reader = reader.c
    if max_pixels is not None:
        options.max_pixels = max_pixels
    options.finding, options.progress, options.user = lib.on_finding, lib.on_progress, call.handle
    check(call.run(lambda: lib.imrec_dataset_verify(uri, options, result, err)), err)
    out = to_dict(result[0])
    names = (text(lib.imrec_finding_name(kind)) for kind in range(lib.IMREC_FOUND_KINDS))
    out["found"] = dict(zip(names, out["found"]))
    out["findings"] = call.findings
    return out


@reading
def convert(path: Any, output: Any, *, shards: int = 0, shard_size: int = 0, on_error: str = "stop",
            progress: bool | Callable[[Any], Any] = False, allow_missing: bool = False,
            **parameters: Unpack[ReaderParameters]) -> dict[str, Any]:
    """Writes the records of a set, in their order and with their images as they are, into output: NAME.tar, NAME.tfrecord or
    NAME.rec (with .idx and .crc), as `imrec convert`. "NAME-{0000..0015}.tar", shards and shard_size (bytes) write several
    files, the latter two as NAME-00000-of-00016.tar. on_error: "stop" raises DataError at damage and leaves no file, "skip"
    leaves it out. The result is a dict: records, bytes, shards, left_out and `findings` of what was damaged, `fields` that the
    output cannot hold, `unchecked` records without checksums, `rewritten` Examples that come back by value only. progress: as
    of verify(). allow_missing and other parameters: see open()."""
    reader = Options(parameters, "convert")
    call, err, uri = _Call(progress), new_error(), _uri(path, allow_missing, reader)
    to = ffi.new("char[]", os.fsencode(output))
    options, result = ffi.new("struct imrec_records_options *"), ffi.new("struct imrec_records_result *")
    lib.imrec_records_options_init(options)
    options.input, options.output = uri, to
    options.shards, options.shard_size = shards, shard_size
    for name in ("image", "label", "label_offset", "path_root", "container", "mask"):
        setattr(options, name, getattr(reader.c, name))
    options.on_error = chosen("on_error", ON_ERROR, on_error)
    options.finding, options.progress, options.user = lib.on_finding, lib.on_progress, call.handle
    check(call.run(lambda: lib.imrec_convert_records(options, result, err)), err)
    return {**to_dict(result[0]), "findings": call.findings}


@reading
def info(path: Any, *, progress: bool | Callable[[Any], Any] = False, allow_missing: bool = False,
         **parameters: Unpack[ReaderParameters]) -> dict[str, Any]:
    """The data set's card: shards and what they are (`source`), records, images, labels (dict of label to records), kinds of
    images, their sizes (px and bytes: min, median, max), damage, identities of insightface's files; `indexed`: every shard
    has an index, so path_imgidx="auto" shuffles single records. Reads every record's head and image header once.
    allow_missing and other parameters: see open()."""
    call, err, options = _Call(progress), new_error(), Options(parameters, "info")
    uri = _uri(path, allow_missing, options)
    card = ffi.new("struct imrec_dataset_card *")
    try:
        check(call.run(lambda: lib.imrec_dataset_card_with(uri, options.c, lib.on_progress, call.handle, card, err)), err)
        out = to_dict(card[0])
        out["shards"] = [to_dict(s) for s in ffi.unpack(card.shards, card.shard_count)] if card.shard_count else []
        out["labels"] = {c.label: c.records for c in ffi.unpack(card.labels, card.label_count)} if card.label_count else {}
        out["kinds"] = {f"{k['format']} {k['kind']}".strip(): k["records"] for k in out["kinds"][:card.kind_count]}
        out["indexed"] = all(shard["indexed"] for shard in out["shards"])
        for count in ("shard_count", "label_count", "kind_count"):
            del out[count]
    finally:
        lib.imrec_dataset_card_free(card)
    return out


def class_names(path: Any, **parameters: Unpack[ReaderParameters]) -> list[str]:
    """The class list of a data set; [] if there is none. Parameters: see open()."""
    out, err, options = ffi.new("struct imrec_classes **"), new_error(), Options(parameters, "class_names")
    check(lib.imrec_classes_open_with(_uri(path), options.c, out, err), err)
    classes = ffi.gc(out[0], lib.imrec_classes_close)
    return [text(lib.imrec_classes_name(classes, i)) for i in range(lib.imrec_classes_count(classes))]


def image_names(path: Any, **parameters: Unpack[ReaderParameters]) -> Callable[[int], str]:
    """A function from an id to the path that the image was packed from, according to the list of a data set; '' without one.
    Parameters: see open()."""
    out, err, options = ffi.new("struct imrec_names **"), new_error(), Options(parameters, "image_names")
    check(lib.imrec_names_open_with(_uri(path), options.c, out, err), err)
    names = ffi.gc(out[0], lib.imrec_names_close)
    return lambda id: text(lib.imrec_names_find(names, id))


class View:
    """A contact sheet of some records: shows itself in a notebook; str() is a page of HTML."""

    def __init__(self, records: list[tuple[int, Record]], names: list[str], size: int) -> None:
        self._records, self._names, self._size = records, names, size

    def _figure(self, number: int, record: Record) -> str:
        label = record.label
        name = self._names[int(label)] if label.is_integer() and 0 <= label < len(self._names) else f"{label:g}"
        return _show.figure(record.image, f"{number}: {name}, id {record.id}", self._size)

    def _repr_html_(self) -> str:
        return _show.page(self._figure(n, r) for n, r in self._records)

    def __repr__(self) -> str:
        return f"<imrec.View: {len(self._records)} records>"

    def __str__(self) -> str:
        return f'<!DOCTYPE html><meta charset="utf-8"><title>imrec</title>{self._repr_html_()}\n'

    def save(self, path: Any) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as page:
            page.write(str(self))


@reading
def view(path: Any, count: int = 24, *, seed: int | None = None, size: int = 128, allow_missing: bool = False,
         **parameters: Unpack[ReaderParameters]) -> View:
    """A contact sheet of the first `count` records of a data set, or, with a seed, of random ones, with class names and ids, each
    image `size` px. It shows itself in a notebook; .save("page.html") writes it. allow_missing and other parameters: see
    open()."""
    records = Records(path, allow_missing=allow_missing, **parameters)
    names = class_names(path, **parameters)
    numbers = range(min(count, len(records)))
    if seed is not None:
        chosen = np.random.default_rng(seed).permutation(len(records))[:count]
        return View([(int(i), records[i]) for i in np.sort(chosen)], names, size)
    return View([(i, records[i]) for i in numbers], names, size)
