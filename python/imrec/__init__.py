"""Image records to training batches.

    for batch in imrec.ImageRecordIter(path_imgrec="train.rec", data_shape=(3, 224, 224),
                                       batch_size=128, shuffle=True, rand_mirror=True):
        batch.data    # numpy float32 (128, 3, 224, 224), not a copy
        batch.labels  # numpy float32 (128,)
"""
from __future__ import annotations

from ._batch import Batch
from ._ffi import __version__
from ._iterator import ImageRecordIter
from ._options import describe
from .errors import (ArgumentError, CancelledError, CorruptError, DataError, Error, ForkedError, LimitError,
                     OutOfMemoryError, StorageError, UnsupportedError)

__all__ = ["ArgumentError", "Batch", "CancelledError", "CorruptError", "DataError", "Error", "ForkedError",
           "ImageRecordIter", "LimitError", "OutOfMemoryError", "StorageError", "UnsupportedError", "describe",
           "__version__"]
