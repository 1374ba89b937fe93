"""Pictures into record shards."""
from __future__ import annotations

import inspect
import os
import shutil
import struct
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import numpy as np

from . import _tables
from ._ffi import check, ffi, lib, new_error, raise_error, to_dict
from ._options import assign, describe, signature
from ._running import Watch
from .errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._tables import PackParameters

_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


@ffi.def_extern(onerror=lambda *what: False)
def on_pack_progress(user: Any, p: Any) -> bool:
    watch: Watch = ffi.from_handle(user)
    return watch.step(p.done, p.total, {name: getattr(p, name) for name in _PROGRESS})


_PROGRESS = [name for name, _ in ffi.typeof("struct imrec_pack_progress").fields]


def _pack(source: Any, out: Any, *, root: Any = None, image: str = "image", label: str = "label",
          progress: bool | Callable[[Any], None] = False, **parameters: Any) -> dict[str, Any]:
    if isinstance(source, (str, os.PathLike)) and not str(source).endswith(".tar"):
        source = Path(source)
        if source.suffix == ".lst":
            return _run(source, root if root is not None else source.parent, out, progress, parameters)
        if not source.is_dir():
            raise ArgumentError(f"{source} is no folder, no .lst and no .tar")
        return _run(None, source, out, progress, parameters)
    items = webdataset(source) if _is_tar(source) else source
    beside = Path(os.fsdecode(os.fspath(out))).absolute().parent
    beside.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".imrec-", dir=beside))
    try:
        several = _spool(items, folder, image, label, parameters)
        if several:
            parameters.setdefault("pack_label", True)
        return _run(folder / "list.lst", folder, out, progress, parameters)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_tar(source: Any) -> bool:
    first = source[0] if isinstance(source, (list, tuple)) and source else source
    return isinstance(first, (str, os.PathLike)) and str(first).endswith(".tar")


def _run(lst: Any, root: Any, out: Any, progress: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    options, task, result = (ffi.new(f"struct imrec_pack_{n} *") for n in ("options", "task", "result"))
    err, watch = new_error(), Watch(progress, "img")
    lib.imrec_pack_options_init(options)
    texts = assign(lib.imrec_pack_options_set, options, _tables.PACK, parameters)
    for field, value in (("list", lst), ("root", root), ("out", out)):
        if value is not None:
            texts.append(ffi.new("char[]", os.fsencode(value)))
            setattr(task, field, texts[-1])
    task.progress, task.user = lib.on_pack_progress, watch.handle
    call = lib.imrec_append if options.append else lib.imrec_pack
    status = watch.run(lambda: call(task, options, result, err))
    if status != lib.IMREC_OK:
        raise_error(status, err)
    card = to_dict(result[0])
    for many, few in (("kinds", "kind_count"), ("reasons", "reason_count")):
        card[many] = {entry["name"]: entry["count"] for entry in card[many][:card.pop(few)]}
    return card


# ---- iterables -------------------------------------------------------------------------------------------------------

def _spool(items: Iterable[Any], folder: Path, image: str, label: str, parameters: dict[str, Any]) -> bool:
    """Writes the pictures as files, and their list; True where some have several labels."""
    several, arrays, n = False, False, 0
    with open(folder / "list.lst", "w") as lines:
        for n, item in enumerate(items, 1):
            data, labels, number = _parts(item, n - 1, image, label)
            raw = isinstance(data, (bytes, bytearray, memoryview))
            arrays |= not raw
            name = f"{(n - 1) // 1000:06d}/{n - 1}" + (".jpg" if raw else ".bmp")  # the packer looks at bytes, not names
            if (n - 1) % 1000 == 0:
                (folder / name).parent.mkdir()
            (folder / name).write_bytes(data if raw else bmp(data))
            several |= len(labels) > 1
            lines.write(f"{number}\t" + "".join(f"{float(v)!r}\t" for v in labels) + f"{name}\n")
    if n == 0:
        raise ArgumentError("there is nothing to pack: the iterable has no item")
    image_rows = {row.name for row in _tables.PACK if row.group == "image"} - {"check", "max_pixels", "accept_truncated"}
    if not arrays and not image_rows & set(parameters):
        parameters["pass_through"] = True  # files are stored as they are unless something is to become of them
    return several


def _parts(item: Any, n: int, image: str, label: str) -> tuple[Any, list[Any], int]:
    """(picture, labels, id) of an item: (picture, label), (picture, label, id), or a dict as of Hugging Face."""
    number = n
    if isinstance(item, dict):
        if image not in item:
            raise ArgumentError(f"item {n} has no '{image}': it has {', '.join(map(str, item))}; say image= and label=")
        data, labels, number = item[image], item.get(label, 0), item.get("id", n)
        number = number if isinstance(number, (int, np.integer)) else n
    elif isinstance(item, (tuple, list)) and len(item) in (2, 3):
        data, labels = item[0], item[1]
        number = int(item[2]) if len(item) == 3 else n
    else:
        raise ArgumentError(f"item {n} is {type(item).__name__}: it must be (picture, label), (picture, label, id) or a dict")
    if isinstance(data, dict):  # an undecoded Image of Hugging Face
        data = data["bytes"] if data.get("bytes") is not None else Path(data["path"])
    if isinstance(data, (str, os.PathLike)):
        data = Path(data).read_bytes()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        data = np.asarray(data.convert("RGB") if hasattr(data, "convert") else data)
        if data.dtype != np.uint8 or data.ndim not in (2, 3) or (data.ndim == 3 and data.shape[2] not in (1, 3)) or not data.size:
            raise ArgumentError(f"item {n} is an array of {data.dtype} {data.shape}: a picture is uint8 (H, W), (H, W, 1) or (H, W, 3)")
    return data, list(np.atleast_1d(np.asarray(labels, np.float64))), int(number)


def bmp(pixels: np.ndarray[Any, Any]) -> bytes:
    """uint8 (H, W), (H, W, 1) or (H, W, 3) as a BMP file: nothing is lost, nothing is computed."""
    pixels = np.broadcast_to(pixels if pixels.ndim == 3 else pixels[:, :, None], (*pixels.shape[:2], 3))
    height, width = pixels.shape[:2]
    rows = np.zeros((height, (3 * width + 3) // 4 * 4), np.uint8)
    rows[:, :3 * width] = pixels[::-1, :, ::-1].reshape(height, -1)
    head = struct.pack("<2sIIIIiiHHIIiiII", b"BM", 54 + rows.size, 0, 54, 40, width, height, 1, 24, 0, rows.size, 2835, 2835, 0, 0)
    return head + rows.tobytes()


def webdataset(paths: Any) -> Iterator[tuple[bytes, float]]:
    """(picture, label) of each sample in WebDataset's tar files: files that share a name up to the first dot, a picture
    and a .cls (or .id, .label) with the label."""
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        with tarfile.open(path) as tar:
            key: Any = None
            sample: dict[str, bytes] = {}
            for member in tar:
                if not member.isfile():
                    continue
                folder, _, name = member.name.rpartition("/")
                stem, _, suffix = name.partition(".")
                if (folder, stem) != key:
                    yield from _sample(path, key, sample)
                    key, sample = (folder, stem), {}
                sample["." + suffix.lower()] = tar.extractfile(member).read()  # type: ignore[union-attr]
            yield from _sample(path, key, sample)


def _sample(path: Any, key: Any, sample: dict[str, bytes]) -> Iterator[tuple[bytes, float]]:
    picture = next((data for suffix, data in sample.items() if suffix.endswith(_PICTURES)), None)
    if picture is None:
        return
    label = next((sample[s] for s in (".cls", ".label", ".id") if s in sample), b"0")
    try:
        yield picture, float(label)
    except ValueError:
        raise ArgumentError(f"{path}: the label of {'/'.join(key).lstrip('/')} is {label[:40]!r}, it must be a number") from None


# ---- the public function ---------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    def pack(source: Any, out: Any, *, root: Any = ..., image: str = ..., label: str = ...,
             progress: bool | Callable[[Any], None] = ..., **parameters: Unpack[PackParameters]) -> dict[str, Any]: ...
else:
    pack = _pack
    pack.__name__ = pack.__qualname__ = "pack"
    _SKIP = ("quiet", "json")
    pack.__signature__ = signature(_tables.PACK, [p for p in inspect.signature(_pack).parameters.values()
                                                  if p.kind is not inspect.Parameter.VAR_KEYWORD], "dict[str, Any]", _SKIP)
    pack.__doc__ = """Packs pictures into record shards: `out`.rec, .idx, .lst, .crc, class list, manifest, all or nothing.

    source    a folder of classes; a LIST.lst (its paths are relative to `root`, or to the list's folder); a .tar of
              WebDataset's, or a list of them; or an iterable of (picture, label), (picture, label, id), or dicts as
              Hugging Face's data sets give them (keys `image` and `label`). A picture is bytes of a file, a path, an
              array uint8 (H, W), (H, W, 1), (H, W, 3), or an image of Pillow's; a label is a number or several. Bytes
              are stored as they are, unless an option of the group "image" asks for something; arrays are encoded.
              What an iterable gives is kept in files beside `out` until it is packed.
    progress  True: a bar of tqdm's; or a function that is called with a dict of counts, and ends the run with False
    Returns a dict: pictures packed, skipped and why, kinds, classes, sizes, bytes. Ctrl-C ends it as an interrupted
    run ends: nothing stands under a final name, and resume=True goes on (folders and lists).
    Raises ArgumentError, DataError (on_error="stop", or nothing could be packed), StorageError, CancelledError.

    Parameters, by group:

""" + "\n".join("    " + line for line in describe(tuple(r for r in _tables.PACK if r.name not in _SKIP)).splitlines()) + "\n"
