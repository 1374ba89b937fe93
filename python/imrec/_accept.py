"""Converts keywords to the form of ImageRecordIter's table, and recognizes the names of other loaders."""
from __future__ import annotations

import difflib
import numbers
import os
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy as np

from . import _log, _tables
from ._tables import Parameter
from .errors import ArgumentError

#: Python's defaults that differ from those of the table, in this one place. `preset` overrides them.
DEFAULTS: dict[str, Any] = {"last_batch": "partial", "path_imgidx": "auto"}
_OWN = {  # keywords of Python alone, each after the row that it abbreviates
    "mean_a": Parameter("mean", "floats", None, -1e6, 1e6, "0..255", "augmentation",
                        "mean_r, mean_g, mean_b (, mean_a) at once: a number, or one for each channel"),
    "std_a": Parameter("std", "floats", None, 0, 1e6, "0..255", "augmentation",
                       "std_r, std_g, std_b (, std_a) at once: a number, or one for each channel"),
}


def _rows() -> Iterator[Parameter]:
    for row in _tables.ITER:
        yield row._replace(default=DEFAULTS.get(row.name, row.default))
        if row.name in _OWN:
            yield _OWN[row.name]


#: The table with Python's defaults and keywords: for signatures, help and docs.
ITER: tuple[Parameter, ...] = tuple(_rows())

_DATASET = "imrec.torch.Dataset in a DataLoader of your own takes one"
_ELSEWHERE = {  # names of torch's DataLoader and torchvision, and what to write instead
    "num_workers": "write preprocess_threads=N: threads of this process decode, 0 = every CPU",
    "prefetch_factor": "write prefetch_buffer=N, in batches",
    "persistent_workers": "leave it out: the threads live as long as the iterator",
    "multiprocessing_context": "leave it out: threads decode, not processes",
    "timeout": "leave it out: the call waits until the batch is ready, and Ctrl-C ends the wait",
    "worker_init_fn": "leave it out: batches depend on data, parameters and seed, not on threads",
    "generator": "write seed=N",
    "drop_last": "write last_batch='drop' for drop_last=True; drop_last=False is the default, last_batch='partial'",
    "pin_memory": "write imrec.torch.Loader(..., pin_memory=True)",
    "pin_memory_device": "write imrec.torch.Loader(..., pin_memory=True)",
    "sampler": "write shuffle=True, or num_parts= and part_index= for a share of the data; " + _DATASET,
    "batch_sampler": "write batch_size= and shuffle=True; " + _DATASET,
    "collate_fn": "leave it out: batches are made as arrays; imrec.torch.Loader has collate=; " + _DATASET,
    "transform": "write parameters (random_resized_crop=True, rand_mirror=True, mean=, std=, ...) or "
                 "preset='imagenet-train-torch'; imrec.torch.Loader has transform=; " + _DATASET,
    "transforms": "write parameters (random_resized_crop=True, rand_mirror=True, ...); " + _DATASET,
    "target_transform": "write path_imglist=LIST for other labels; " + _DATASET,
    "image_size": "write data_shape=224 or data_shape=(3, 224, 224)",
    "img_size": "write data_shape=224 or data_shape=(3, 224, 224)",
    "input_size": "write data_shape=224 or data_shape=(3, 224, 224)",
    "crop_size": "write data_shape=224: a sample has the size of the crop",
    "root": "write path_imgrec=, the shards: imrec.pack() makes them from a folder",
    "dataset": "write path_imgrec=, the shards: imrec.pack() makes them from a data set",
    "num_replicas": "write num_parts=N and part_index=K; imrec.torch.Loader has world_size= and rank=",
    "horizontal_flip": "write rand_mirror=True",
    "device": "leave it out: batches are in the machine's memory",
}
_LOADERS_OWN = ("rank", "world_size", "pin_memory", "channels_last", "label_dtype", "weights", "restart", "copy", "allocator",
                "deliver", "transform", "collate", "transform_threads")
_OF_LOADER = {
    "collate_fn": "write collate=FUNCTION",
    "transforms": "write transform=FUNCTION of a tuple (image, label), or parameters (random_resized_crop=True, ...)",
    "num_replicas": "write world_size=N and rank=K",
    "sampler": "write shuffle=True: ranks share the data by themselves; " + _DATASET,
    "device": "write images.to(device): with pin_memory=True and non_blocking=True it does not wait",
}


def accepted(values: Mapping[str, Any], of_loader: bool = False) -> dict[str, Any]:
    """Keywords of an ImageRecordIter in the form of the table. Raises ArgumentError for a name of another loader, with what to
    write here, and for impossible values."""
    out = dict(values)
    what = "Loader" if of_loader else "ImageRecordIter"
    for name in values:
        elsewhere = (of_loader and _OF_LOADER.get(name)) or _ELSEWHERE.get(name)
        if elsewhere:
            raise ArgumentError(f"{what} has no parameter '{name}': {elsewhere}", field=name)
        known(name, ITER, what, _LOADERS_OWN if of_loader else ("copy", "allocator"))
    if out.get("path_imgrec") is not None:
        records = getattr(out["path_imgrec"], "records", out["path_imgrec"])
        out = {**getattr(records, "parameters", {}), **out, "path_imgrec": _shards(out["path_imgrec"], what)}
    if out.get("data_shape") is not None:
        out["data_shape"] = shape("data_shape", out["data_shape"])
    if isinstance(out.get("data_shape_schedule"), Mapping):
        out["data_shape_schedule"] = {sweep: shape(f"data_shape_schedule[{sweep!r}]", s) for sweep, s in out["data_shape_schedule"].items()}
    for row in ITER:
        if row.kind == "word" and out.get(row.name) is not None:
            out[row.name] = word(out[row.name])
    for name in ("mean", "std"):
        _spread(out, name, out.pop(name, None))
    return out


def _shards(path: Any, what: str) -> Any:
    """A path or several; also an imrec.Records or imrec.torch.Dataset, for its shards."""
    path = getattr(path, "records", path)
    path = getattr(path, "path", path) if not isinstance(path, os.PathLike) else path
    if isinstance(path, (str, bytes, os.PathLike)) or (isinstance(path, Sequence)
                                                       and all(isinstance(p, (str, bytes, os.PathLike)) for p in path)):
        return path
    raise ArgumentError(f"path_imgrec is of type {type(path).__name__}: {what} reads shards, write their path "
                        "(imrec.pack() makes them from a folder or a data set)")


def known(name: str, table: Iterable[Parameter], what: str, more: Iterable[str] = ()) -> None:
    """Raises ArgumentError for an unknown name, and suggests the nearest one."""
    names = [*(row.name for row in table), *more]
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        raise ArgumentError(f"{what} has no parameter '{name}'" + (f"; did you mean {near[0]}?" if near else ""), field=name)


def shape(name: str, value: Any) -> Any:
    """(channels, height, width) from a size (224), (height, width) or all three; text stays unchanged."""
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return 3, int(value), int(value)
    try:
        sizes = tuple(value)
    except TypeError:
        raise ArgumentError(f"{name}={value!r}: write a size as 224, (height, width), or (channels, height, width), in whole numbers",
                            field=name.partition("[")[0]) from None
    if len(sizes) == 2 and sizes[0] in (1, 3, 4):
        raise ArgumentError(f"{name}={sizes}: write (channels, height, width), as ({sizes[0]}, {sizes[1]}, {sizes[1]})")
    if len(sizes) == 3 and sizes[0] not in (1, 2, 3, 4) and sizes[2] in (1, 3, 4):
        raise ArgumentError(f"{name}={sizes}: the channels come first here, write ({sizes[2]}, {sizes[0]}, {sizes[1]}); "
                            "layout='NHWC' delivers batches with the channels last")
    return (3, *sizes) if len(sizes) == 2 else sizes


def word(value: Any) -> Any:
    """numpy's and torch's types by their names: np.float32, np.dtype("float32"), torch.float16, jax.numpy.uint8."""
    if isinstance(value, str):
        return value
    if type(value).__module__ == "torch":
        return str(value).rpartition(".")[2]
    try:
        return np.dtype(value).name
    except TypeError:
        return value


# ---- mean and std ----------------------------------------------------------------------------------------------------

def _spread(out: dict[str, Any], name: str, value: Any) -> None:
    """mean=(124, 116, 104) as mean_r, mean_g, mean_b."""
    letters = [f"{name}_{c}" for c in "rgba"]
    if value is None:
        _doubt({letter: out[letter] for letter in letters if out.get(letter) is not None}, out)
        return
    given = [letter for letter in letters if out.get(letter) is not None]
    if given:
        raise ArgumentError(f"{name} and {given[0]} are both given: leave out one of them")
    if isinstance(value, (str, bytes)):
        raise ArgumentError(f"{name}={value!r}: write one number per channel, such as {name}=(124, 116, 104)"
                            + ("; mean_img= takes the file of a mean image" if name == "mean" else ""))
    try:
        numbers_ = [float(v) for v in np.ravel(np.asarray(value, np.float64))]
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}={value!r}: write a number, or one for each channel, such as {name}=(124, 116, 104)",
                            field=name) from None
    channels = out["data_shape"][0] if isinstance(out.get("data_shape"), tuple) else None
    if len(numbers_) == 1:
        numbers_ *= channels if channels in (1, 3, 4) else 3
    if len(numbers_) not in (1, 3, 4) or (channels is not None and len(numbers_) != channels):
        raise ArgumentError(f"{name} has {len(numbers_)} values: write one for each of the {channels or '1, 3 or 4'} channels")
    if _of_unit_scale(name, numbers_, out):
        raise ArgumentError(_unit_scale(name, numbers_))
    out.update(zip(letters, numbers_))


def _of_unit_scale(name: str, values: list[float], out: Mapping[str, Any]) -> bool:
    """Whether numbers are meant for pixels from 0 to 1, like torchvision's; pixels here are from 0 to 255."""
    scaled = abs(float(out.get("scale") or 1)) < 0.1  # (pixel - mean) * scale / std: std is of scaled pixels
    return (not out.get("audio") and not (name == "std" and scaled) and max(values, default=0) <= 1
            and any(0 < v < 1 for v in values))


def refuse_unit_scale(name: str, values: Sequence[float], scale: float) -> None:
    """Raises ArgumentError if numbers are meant for pixels from 0 to 1."""
    if _of_unit_scale(name, list(values), {"scale": scale}):
        raise ArgumentError(_unit_scale(name, list(values)), field=name)


def _unit_scale(names: str, values: list[float]) -> str:
    def written(numbers: Iterable[float]) -> str:
        text = ", ".join(f"{v:.6g}" for v in numbers)
        return f"({text})" if len(values) > 1 else text

    return (f"{names}={written(values)} is for pixels from 0 to 1, but here they are from 0 to 255: write "
            f"{written(255 * v for v in values)}")


def _doubt(given: dict[str, Any], out: Mapping[str, Any]) -> None:
    """Warns of the same mistake in the parameters of the table, which are not refused."""
    values = [float(v) for v in given.values() if isinstance(v, numbers.Real)]
    if given and len(values) == len(given) and _of_unit_scale(next(iter(given))[:-2], values, out):
        _log.logger.warning("%s", _unit_scale(", ".join(given), values))
