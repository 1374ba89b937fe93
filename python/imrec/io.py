"""Iterators over .rec files with the names, defaults and batches of mxnet.io, for training code without MXNet.

    from imrec import io                     # from mxnet import io
    train = io.ImageRecordIter(path_imgrec="train.rec", data_shape=(3, 112, 112), batch_size=128, shuffle=True)
    for epoch in range(20):
        train.reset()
        for batch in train:
            images, labels = batch.data[0].asnumpy(), batch.label[0]

Arrays are numpy's. Improvements: `pad` and `index` are right in every batch; an unknown keyword is an error that suggests the
nearest one; order and augmentation depend on `seed` alone, with any number of threads; `seed_aug` gives other draws for each
sample and sweep; damage is an exception, not the end of the process.
"""
from __future__ import annotations

from collections import namedtuple
from typing import Any, Sequence

import numpy as np

from ._batch import Batch
from ._iterator import ImageRecordIter as _Iterator
from .errors import ArgumentError

__all__ = ["DataBatch", "DataDesc", "DataIter", "ImageDetRecordIter", "ImageRecordInt8Iter", "ImageRecordIter",
           "ImageRecordIter_v1", "ImageRecordUInt8Iter", "ImageRecordUInt8Iter_v1", "NDArray"]


class NDArray(np.ndarray):
    """A numpy array with the methods that code for MXNet uses. It is the iterator's memory, not a copy, and does not change as
    long as anything refers to it."""

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """A copy, as a plain numpy array."""
        return np.array(self, subok=False)

    def asscalar(self) -> Any:
        """The value of an array of one."""
        return self.item()

    def as_in_context(self, context: Any) -> NDArray:
        """The array itself: there is one kind of memory."""
        return self

    def wait_to_read(self) -> None:
        """Batches are complete."""


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name and shape of an array of a batch; unpacks into these two."""

    dtype: Any
    layout: str

    def __new__(cls, name: str, shape: Sequence[int], dtype: Any = np.float32, layout: str = "NCHW") -> DataDesc:
        self = super().__new__(cls, name, tuple(shape))
        self.dtype, self.layout = dtype, layout
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.name, self.shape, self.dtype, self.layout

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The dimension that counts samples."""
        return 0 if layout is None else layout.find("N")

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{np.dtype(self.dtype).name},{self.layout}]"


class DataBatch:
    """A batch of an iterator."""

    data: list[NDArray]  #: one array: (batch_size, C, H, W)
    label: list[NDArray]  #: one array, float32: (batch_size,), or (batch_size, label_width)
    pad: int  #: slots at the end that do not belong to this pass: repeated samples, or zeros with round_batch=False
    index: np.ndarray[Any, Any] | None  #: uint64 (batch_size,): ids of the images

    def __init__(self, data: Any, label: Any = None, pad: int = 0, index: Any = None, bucket_key: Any = None,
                 provide_data: Any = None, provide_label: Any = None) -> None:
        for name, value in (("data", data), ("label", label)):
            if value is not None and not isinstance(value, (list, tuple)):
                raise ArgumentError(f"{name} is a list of arrays, not {type(value).__name__}")
        self.data, self.label, self.pad, self.index, self.bucket_key = data, label, pad, index, bucket_key
        self.provide_data, self.provide_label = provide_data, provide_label

    def __repr__(self) -> str:
        return f"DataBatch: data shapes: {[a.shape for a in self.data]} label shapes: {[a.shape for a in self.label or []]}"


class DataIter:
    """The base class of the iterators. A pass ends with StopIteration, which repeats until reset() begins the next one.
    `iterator` is the imrec.ImageRecordIter below, for state_dict() and stats()."""

    _preset = "ImageRecordIter"

    def __init__(self, path_imgrec: Any = None, *, data_name: str = "data", label_name: str = "softmax_label",
                 **parameters: Any) -> None:
        dtype = parameters.get("dtype")
        if dtype is not None and not isinstance(dtype, str):
            parameters["dtype"] = np.dtype(dtype).name
        if "last_batch" in parameters or "round_batch" in parameters:  # otherwise the preset's default applies
            parameters["last_batch"] = parameters.get("last_batch") or ("repeat" if _true(parameters["round_batch"]) else "pad")
            parameters.pop("round_batch", None)
        if parameters.get("path_imgidx") is None:
            parameters["path_imgidx"] = "none"  # like MXNet
        self.iterator = _Iterator(path_imgrec, **{"preset": self._preset, **parameters})
        self.batch_size = int(parameters["batch_size"])
        self._layout = str(parameters.get("layout", "NCHW"))
        self._names = data_name, label_name
        self._first: Batch | None = None  # read for its shapes
        self._now: Batch | None = None
        self._ended = False

    def reset(self) -> None:
        """Begins the next pass, from anywhere. Before the first batch it changes nothing."""
        if self._first is None:
            self.iterator.reset()
        self._now, self._ended = None, False

    def iter_next(self) -> bool:
        """Goes to the next batch, which getdata(), getlabel(), getpad() and getindex() describe; False at the end of a pass."""
        if self._ended:
            return False
        first, self._first = self._first, None
        self._now = first if first is not None else next(self.iterator, None)
        self._ended = self._now is None
        return not self._ended

    def next(self) -> DataBatch:
        """The next batch. Raises StopIteration at the end of a pass, DataError for a sample that fails."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex(), None,
                         self.provide_data, self.provide_label)

    __next__ = next

    def __iter__(self) -> DataIter:
        return self

    def _current(self) -> Batch:
        if self._now is None:
            raise ArgumentError("there is no batch: iter_next() goes to one")
        return self._now

    def getdata(self) -> NDArray:
        return self._current().data.view(NDArray)

    def getlabel(self) -> NDArray:
        return self._current().labels.view(NDArray)

    def getpad(self) -> int:
        return self._current().pad

    def getindex(self) -> np.ndarray[Any, Any]:
        return self._current().ids

    def _shapes(self) -> Batch:
        """A batch for its shapes: the current one, or the first, which next() still delivers."""
        if self._now is not None:
            return self._now
        if self._first is None:
            self._first = next(self.iterator, None)
        if self._first is None:
            raise ArgumentError("there is no sample, so the shapes are unknown")
        return self._first

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name and shape of the data."""
        data = self._shapes().data
        return [DataDesc(self._names[0], data.shape, data.dtype, self._layout)]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name and shape of the labels."""
        labels = self._shapes().labels
        return [DataDesc(self._names[1], labels.shape, labels.dtype, "NCHW")]

    def __len__(self) -> int:
        """Batches of a pass."""
        return len(self.iterator)

    def close(self) -> None:
        """Stops the workers."""
        self._now = self._first = None
        self.iterator.close()

    def __enter__(self) -> DataIter:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<imrec.io.{type(self).__name__}: {self.iterator!r}>"


def _true(value: Any) -> bool:
    return value.lower() in ("1", "true") if isinstance(value, str) else bool(value)


class ImageRecordIter(DataIter):
    """Images and labels of .rec files as float32; keywords of imrec.ImageRecordIter, defaults of MXNet (round_batch=True: a
    last batch that is not full ends in samples of the next pass, `pad` of them)."""


class ImageRecordUInt8Iter(DataIter):
    """The same as uint8, without mean and scale."""

    _preset = "ImageRecordUInt8Iter"


class ImageRecordInt8Iter(DataIter):
    """The same as int8: values minus the mean, saturated."""

    _preset = "ImageRecordInt8Iter"


class ImageDetRecordIter(DataIter):
    """Images with boxes: labels are (batch_size, 4 + label_pad_width), see the guide on boxes."""

    _preset = "ImageDetRecordIter"

    def __init__(self, path_imgrec: Any = None, *, label_name: str = "label", **parameters: Any) -> None:
        super().__init__(path_imgrec, label_name=label_name, **parameters)


ImageRecordIter_v1, ImageRecordUInt8Iter_v1 = ImageRecordIter, ImageRecordUInt8Iter


def __dir__() -> list[str]:
    return __all__
