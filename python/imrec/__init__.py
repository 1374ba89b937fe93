"""Reads image records as training batches, and packs images into records.

    for batch in imrec.ImageRecordIter(path_imgrec="train.rec", data_shape=(3, 224, 224),
                                       batch_size=128, shuffle=True, rand_mirror=True):
        batch.data    # numpy float32 (128, 3, 224, 224), not a copy
        batch.labels  # numpy float32 (128,)
"""
from __future__ import annotations

from typing import Any

from ._batch import Batch
from ._dataset import View, convert, info, verify, view
from ._ffi import __version__
from ._fetch import Source
from ._folds import Fold, folds
from ._input_split import InputSplit
from ._iterator import ImageRecordIter
from ._options import describe
from ._pack import pack, webdataset
from ._reader import Record, RecordList, Records, decode, encode_jpeg
from ._reader import open as open  # not in __all__: `from imrec import *` keeps Python's open()
from ._store import FsspecStore, Store, StoredObject, register_store, unregister_store
from .minibatch import (CSR, FULL_DATA_SWEEP, INFINITELY_REPEAT, CBFDeserializer, CTFDeserializer, Deserializer,
                        Minibatch, MinibatchData, MinibatchSource, StreamDef, StreamDefs, StreamInformation)
from .sequences import (SequenceData, read_sequences, sequence_to_cntk_text_format, streams_of, write_cbf, write_ctf)
from .errors import (AccessError, ArgumentError, CancelledError, CorruptError, DataError, Error, ForkedError, LimitError,
                     MissingFileError, OutOfMemoryError, StorageError, TransformError, UnsupportedError)

__all__ = ["AccessError", "ArgumentError", "Batch", "CBFDeserializer", "CSR", "CTFDeserializer", "CancelledError",
           "CorruptError", "DataError", "Deserializer", "Error", "FULL_DATA_SWEEP", "Fold", "ForkedError", "FsspecStore",
           "INFINITELY_REPEAT", "ImageRecordIter", "InputSplit", "LimitError", "Minibatch", "MinibatchData",
           "MinibatchSource", "MissingFileError", "OutOfMemoryError", "Record", "RecordList", "Records", "SequenceData",
           "Source", "StorageError", "Store", "StoredObject", "StreamDef", "StreamDefs", "StreamInformation", "TransformError",
           "UnsupportedError",
           "View", "convert", "decode", "describe", "encode_jpeg", "folds", "info", "pack", "read_sequences", "register_store",
           "sequence_to_cntk_text_format", "streams_of", "unregister_store", "verify", "view", "webdataset",
           "write_cbf", "write_ctf", "__version__"]
_MODULES = ("huggingface", "io", "recordio", "torch")  # imported on demand: they import torch, and transformers


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        import importlib
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'imrec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "open", "errors", "minibatch", "sequences", *_MODULES})
