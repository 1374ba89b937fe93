"""Batches of bytes normalized on any device."""
from __future__ import annotations

import functools
from typing import Any, Sequence, Union

import numpy as np
import torch

from ._accept import refuse_unit_scale
from .errors import ArgumentError

Numbers = Union[float, Sequence[float]]


@functools.lru_cache(maxsize=64)
def _constants(mean: tuple[float, ...], std: tuple[float, ...], scale: float,
               device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    gain = np.float32(scale) / np.asarray(std, np.float32)

    def on(values: Any) -> torch.Tensor:
        return torch.from_numpy(np.asarray(values, np.float32).reshape(1, -1, 1, 1)).to(device)

    return on(mean), on(gain)


def _channels(name: str, value: Any, channels: int) -> tuple[float, ...]:
    values = tuple(float(v) for v in np.ravel(np.asarray(value, np.float64)))
    values = values * channels if len(values) == 1 else values
    if len(values) != channels:
        raise ArgumentError(f"{name} has {len(values)} values, and the batch {channels} channels: write one for each", field=name)
    return values


def normalize(batch: torch.Tensor, mean: Numbers = 0.0, std: Numbers = 1.0, dtype: torch.dtype = torch.float32, *,
              scale: float = 1.0, layout: str = "NCHW") -> torch.Tensor:
    """(pixel - mean) * (scale / std) of a batch of bytes, on its device: for a Loader with dtype="uint8", which moves a quarter
    of the bytes to the device.

    batch: uint8 (slots, C, H, W), in any memory, or, with layout="NHWC", (slots, H, W, C), which is viewed as channels_last.
    mean, std: of pixels from 0 to 255, one number or one for each channel.
    Returns `dtype` (slots, C, H, W), in the batch's memory format. float32 equals what the iterator delivers with the same
    mean, std and scale bit for bit; other types are that, rounded by torch.

    Raises ArgumentError for other tensors, for a number of values that is not that of the channels, for std 0, and for values
    of a scale from 0 to 1.
    """
    if not isinstance(batch, torch.Tensor) or batch.dtype != torch.uint8 or batch.ndim != 4:
        what = f"{batch.dtype} of shape {tuple(batch.shape)}" if isinstance(batch, torch.Tensor) else type(batch).__name__
        raise ArgumentError(f"batch is {what}: it must be a tensor uint8 (slots, C, H, W); dtype='uint8' of a Loader gives one",
                            field="batch")
    if layout not in ("NCHW", "NHWC"):
        raise ArgumentError(f"layout={layout!r}: it must be 'NCHW' or 'NHWC'", field="layout")
    if layout == "NHWC":
        batch = batch.permute(0, 3, 1, 2)
    channels = int(batch.shape[1])
    means, stds = _channels("mean", mean, channels), _channels("std", std, channels)
    refuse_unit_scale("mean", means, scale)
    refuse_unit_scale("std", stds, scale)
    if 0.0 in stds:
        raise ArgumentError("std must not be 0", field="std")
    mean_, gain = _constants(means, stds, float(scale), batch.device)
    return batch.to(torch.float32).sub_(mean_).mul_(gain).to(dtype)  # two roundings, as in C: no operation is fused
