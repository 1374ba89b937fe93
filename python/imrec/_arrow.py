"""Rows of Arrow tables, of data sets of Hugging Face and of Parquet files. The images are used where Arrow has them."""
from __future__ import annotations

import contextlib
import fnmatch
import glob
import importlib
import os
import threading
from collections import OrderedDict
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ._fetch import LABELS, address, asked_for, data_of, fail, number_of, put_fields
from ._ffi import ffi
from ._objects import Objects
from .errors import ArgumentError, UnsupportedError

_WINDOW = 256 << 20  # the default of shuffle_window


def _arrow(module: str = "pyarrow") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ArgumentError("Parquet files need the package pyarrow: pip install pyarrow") from None


def _package(source: Any) -> str:
    return (type(source).__module__ or "").partition(".")[0]


def _paths(source: Any) -> list[str] | None:
    """Paths of Parquet files, if that is what they are."""
    several = source if isinstance(source, (list, tuple)) else [source]
    if not several or not all(isinstance(s, (str, os.PathLike)) for s in several):
        return None
    paths = [os.fspath(s) for s in several]
    return paths if all(isinstance(p, str) and p.endswith(".parquet") for p in paths) else None


def is_table(source: Any) -> bool:
    return _paths(source) is not None or (_package(source) == "pyarrow") or (
        _package(source) == "datasets" and type(source).__name__ in ("Dataset", "DatasetDict", "IterableDataset",
                                                                      "IterableDatasetDict"))


def rows_of(source: Any, image: str | None, label: str | None, width: int, parameters: dict[str, Any]) -> Any:
    """The rows. Parquet files that are larger than shuffle_window set an order in `parameters`."""
    columns = image or "image", label, width, asked_for(parameters)
    window = parameters.get("shuffle_window") or _WINDOW
    paths = _paths(source)
    if paths is not None:
        stores = _Stores(parameters)
        files: Any = ParquetRows(_files(paths, stores), *columns, window, stores.objects.cancel)
    elif _package(source) == "datasets":
        return _hugging(source, *columns)
    elif hasattr(source, "files") and source.format.default_extname == "parquet" and not getattr(source, "_scan_options", None):
        files = ParquetRows([(path, source.filesystem) for path in source.files], *columns, window)
    elif hasattr(source, "to_table"):
        names = [name for name in (image or "image", label or "label", *asked_for(parameters))
                 if name == label or name in source.schema.names]
        return TableRows(source.to_table(columns=names), "pyarrow.Dataset", *columns)
    elif type(source).__name__ == "RecordBatch":
        return TableRows(_arrow().Table.from_batches([source]), "pyarrow.RecordBatch", *columns)
    elif type(source).__name__ == "Table":
        return TableRows(source, "pyarrow.Table", *columns)
    else:
        raise ArgumentError(f"the data is a {type(source).__module__}.{type(source).__name__}: a Table, a RecordBatch and a data "
                            "set of pyarrow have rows by index")
    if parameters.get("shuffle") and parameters.get("order") is None and files.bytes > window:
        parameters.update(order="global", locality="chunk")
    return files


def _hugging(source: Any, image: str, label: str | None, width: int, fields: dict[str, bool]) -> Any:
    if type(source).__name__ != "Dataset":
        more = "choose one of its splits" if type(source).__name__ == "DatasetDict" else (
            "it cannot be read by index: load it without streaming, or give the paths of its Parquet files")
        raise ArgumentError(f"the data is a datasets.{type(source).__name__}: {more}")
    indices = None
    if source._indices is not None:
        indices = source._indices.column(0).to_numpy()
    return TableRows(source._data.table, "datasets.Dataset", image, label, width, fields, indices, source._fingerprint)


# ---- columns -----------------------------------------------------------------------------------------------------

class _Images:
    """A column of binary, or of struct{bytes, path}, chunk by chunk, without a copy."""

    def __init__(self, column: Any, what: str) -> None:
        chunks = [getattr(chunk, "storage", chunk) for chunk in column.chunks]
        self.chunks = [self._chunk(chunk, what) for chunk in chunks]
        self.begin = np.cumsum([0] + [len(chunk) for chunk in chunks])
        self.rows = chunks
        self._column = column  # which the addresses are of

    @staticmethod
    def _chunk(chunk: Any, what: str) -> tuple[Any, int, int, Any]:
        """Offsets, address and size of the bytes, and which rows have none."""
        null = chunk.is_null().to_numpy(zero_copy_only=False) if chunk.null_count else None
        if str(chunk.type).startswith("struct"):
            if chunk.type.get_field_index("bytes") < 0:
                raise ArgumentError(f"{what} is a column of {chunk.type}: it must be binary, or a struct with a field bytes")
            chunk = chunk.field("bytes")
            if chunk.null_count:
                own = chunk.is_null().to_numpy(zero_copy_only=False)
                null = own if null is None else own | null
        kind = {"binary": np.int32, "large_binary": np.int64}.get(str(chunk.type))
        if kind is None:
            raise ArgumentError(f"{what} is a column of {chunk.type}: it must be binary, or a struct with a field bytes")
        if len(chunk) == 0:
            return np.zeros(1, np.int64), 0, 0, null
        _, offsets, data = chunk.buffers()
        size = np.dtype(kind).itemsize
        offsets = np.frombuffer(offsets, kind, len(chunk) + 1, chunk.offset * size)
        return offsets, data.address if data is not None else 0, data.size if data is not None else 0, null

    @property
    def bytes(self) -> int:
        return sum(int(offsets[-1]) - int(offsets[0]) for offsets, *_ in self.chunks)

    def fill(self, rows: np.ndarray[Any, Any], out: np.ndarray[Any, Any], kept: list[Any]) -> None:
        of = np.searchsorted(self.begin, rows, side="right") - 1
        for chunk in np.unique(of):
            at = np.flatnonzero(of == chunk)
            offsets, base, size, null = self.chunks[chunk]
            local = rows[at] - self.begin[chunk]
            begin, end = offsets[local].astype(np.int64), offsets[local + 1].astype(np.int64)
            out["image"][at], out["image_bytes"][at] = base + begin, end - begin
            for k in np.flatnonzero((begin < 0) | (end < begin) | (end > size)):  # out of a file that nobody has checked
                fail(out, int(at[k]), "its image lies outside the buffer of its column", kept)
            for k in np.flatnonzero(null[local]) if null is not None else ():
                self._read(int(chunk), int(local[k]), out, int(at[k]), kept)

    def _read(self, chunk: int, local: int, out: np.ndarray[Any, Any], i: int, kept: list[Any]) -> None:
        """The image of a row that has none: that of its file, if it names one."""
        row = self.rows[chunk][local].as_py()
        path = row.get("path") if isinstance(row, dict) else None
        if path is None:
            fail(out, i, "its image is null", kept)
            return
        try:
            buffer = ffi.from_buffer(data_of(row))
        except OSError as error:
            fail(out, i, error, kept)
            return
        kept.append(buffer)
        out["image"][i], out["image_bytes"][i] = address(buffer), len(buffer)


class _Labels:
    """A column of numbers, or of lists of numbers; None: each sample has the label 0."""

    def __init__(self, column: Any, what: str, width: int) -> None:
        self._offsets = self._null = None
        self._count = width
        if column is None:
            self._values, self._step = np.zeros(width, np.float32), 0
            return
        kind = str(column.type)
        if column.null_count:
            self._null = column.is_null().to_numpy()
        if kind.startswith(("list<", "large_list<", "fixed_size_list<")):
            lists = column.combine_chunks()
            lists = lists.chunk(0) if hasattr(lists, "chunk") else lists
            if kind.startswith("fixed"):
                lists = lists.cast(_arrow().list_(lists.type.value_type))
            self._offsets = np.asarray(lists.offsets.to_numpy(), np.int64)
            values = lists.values
        else:
            values = column.fill_null(0) if column.null_count else column
        self._values, self._step = self._numbers(values, what), 1

    @staticmethod
    def _numbers(values: Any, what: str) -> np.ndarray[Any, Any]:
        array = np.asarray(values.to_numpy(zero_copy_only=False) if not hasattr(values, "chunks") else values.to_numpy())
        if array.dtype.kind in "biu" and array.dtype != np.uint64:
            return np.ascontiguousarray(array, np.int64)
        if array.dtype == np.float32:
            return np.ascontiguousarray(array)
        if array.dtype.kind in "uf":
            return np.ascontiguousarray(array, np.float64)
        raise ArgumentError(f"{what} is a column of {values.type}: it must contain numbers, or lists of them")

    def fill(self, rows: np.ndarray[Any, Any], out: np.ndarray[Any, Any], kept: list[Any]) -> None:
        out["label_dtype"] = LABELS[self._values.dtype]
        if self._offsets is not None:
            out["labels"] = self._values.ctypes.data + self._offsets[rows] * self._values.itemsize
            out["label_count"] = self._offsets[rows + 1] - self._offsets[rows]
        else:
            out["labels"] = self._values.ctypes.data + rows * (self._step * self._values.itemsize)
            out["label_count"] = self._count if self._step == 0 else 1
        for i in np.flatnonzero(self._null[rows]) if self._null is not None else ():
            fail(out, int(i), "its label is null", kept)


def _named(names: Sequence[str], image: str, label: str | None, fields: dict[str, bool], what: str) -> str | None:
    """The label's column."""
    needed = [name for name, must in fields.items() if must]
    for column in (image, *([label] if label is not None else []), *needed):
        if column not in names:
            raise ArgumentError(f"{what} has no column {column!r}, it has {', '.join(map(repr, names))}: image=, label= and fields= "
                                "name columns")
    return label if label is not None else "label" if "label" in names else None


class _Columns:
    """Images, labels and fields of a table."""

    def __init__(self, table: Any, image: str, label: str | None, width: int, fields: dict[str, bool], what: str) -> None:
        label = _named(table.column_names, image, label, fields, what)
        self.fields = {name: table.column(name) for name in fields if name in table.column_names}
        self.images = _Images(table.column(image), f"{what}: {image}")
        self.labels = _Labels(None if label is None else table.column(label), f"{what}: {label}", width)

    def fill(self, rows: np.ndarray[Any, Any], out: np.ndarray[Any, Any], kept: list[Any]) -> None:
        self.images.fill(rows, out, kept)
        self.labels.fill(rows, out, kept)
        if self.fields:
            values = [column.take(rows).to_pylist() for column in self.fields.values()]
            for i, row in enumerate(zip(*values)):
                put_fields(out, i, list(zip(self.fields, row)), kept)


class TableRows:
    """A table in memory, or in files that are mapped into it."""

    block_begin: np.ndarray[Any, Any] | None = None
    threads, at_once = 2, 64

    def __init__(self, table: Any, name: str, image: str, label: str | None, width: int, fields: dict[str, bool],
                 indices: Any = None, fingerprint: Any = None) -> None:
        self.name, self._indices, self.fingerprint = name, indices, number_of(fingerprint)
        self._columns = _Columns(table, image, label, width, fields, name)
        self._total = table.num_rows
        self.count = table.num_rows if indices is None else len(indices)
        self.record_bytes = self._columns.images.bytes // max(1, table.num_rows)

    def fill(self, numbers: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> Any:
        kept: list[Any] = []
        rows = numbers if self._indices is None else self._indices[numbers].astype(np.int64)
        if self._indices is not None and not ((0 <= rows) & (rows < self._total)).all():
            raise IndexError(f"the data set selects a row that its table of {self._total} does not have")
        self._columns.fill(rows, out, kept)
        return kept or None

    def cancel(self) -> None:
        """Nothing waits."""


# ---- Parquet -----------------------------------------------------------------------------------------------------

class _Stores:
    """imrec's stores, as a file system of pyarrow's."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.objects = Objects(parameters)

    def open_input_file(self, uri: str) -> Any:
        return _arrow().PythonFile(self.objects.open(uri), "r")


def _files(paths: list[str], stores: _Stores) -> list[tuple[str, Any]]:
    """Files and their file systems; None: this machine's."""
    out: list[tuple[str, Any]] = []
    for path in paths:
        scheme, separator, _ = path.partition("://")
        if separator and scheme.lower() != "file":
            out += _there(path, stores)
        else:
            fs, inside = _arrow("pyarrow.fs").FileSystem.from_uri(path) if separator else (None, path)
            out += _named_files(path, inside, fs)
    return out


def _there(path: str, stores: _Stores) -> list[tuple[str, Any]]:
    """Objects of imrec's stores, or of a scheme that pyarrow alone knows."""
    try:
        return [(uri, stores) for uri in stores.objects.find(path)]
    except UnsupportedError:
        try:
            fs, inside = _arrow("pyarrow.fs").FileSystem.from_uri(path)
        except Exception:
            fs = None
        if fs is None:
            raise
    return _named_files(path, inside, fs)


def _named_files(path: str, inside: str, fs: Any) -> list[tuple[str, Any]]:
    found = _matches(inside, fs) if any(c in inside for c in "*?[") else [inside]
    if not found:
        raise ArgumentError(f"{path}: no file has such a name")
    return [(name, fs) for name in found]


def _matches(pattern: str, fs: Any) -> list[str]:
    if fs is None:
        return sorted(glob.glob(pattern))
    folder = os.path.dirname(pattern)
    entries = fs.get_file_info(_arrow("pyarrow.fs").FileSelector(folder))
    return sorted(e.path for e in entries if e.is_file and fnmatch.fnmatchcase(e.path, pattern))


class _Group:
    """A row group, decoded by the first thread that needs it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.columns: _Columns | None = None
        self.bytes = 0


class ParquetRows:
    """Files of Parquet. A row group is decoded as a whole; as many as `memory` bytes hold are kept for later samples."""

    threads, at_once = 4, 64

    def __init__(self, files: list[tuple[str, Any]], image: str, label: str | None, width: int, fields: dict[str, bool],
                 memory: int, cancel: Callable[[], None] = lambda: None) -> None:
        self.cancel = cancel
        self._pq, self._fields = _arrow("pyarrow.parquet"), fields
        self._image, self._width, self._memory = image, width, memory
        self._files, self._metadata = files, [self._head(path, fs) for path, fs in files]
        there = self._metadata[0].schema.to_arrow_schema().names
        self._label = _named(there, image, label, fields, files[0][0])
        self._names = list(dict.fromkeys([image, *([self._label] if self._label is not None else []),
                                          *(name for name in fields if name in there)]))
        self._places: list[tuple[int, int]] = []  # file and row group of each block
        begin, self.bytes, facts = [0], 0, []
        for n, metadata in enumerate(self._metadata):
            for group in range(metadata.num_row_groups):
                rows = metadata.row_group(group)
                self._places.append((n, group))
                begin.append(begin[-1] + rows.num_rows)
                self.bytes += rows.total_byte_size
                facts.append((rows.num_rows, rows.total_byte_size))
        self.count = begin[-1]
        self.block_begin = np.array(begin[:-1] or [0], np.uint64)
        self._begin = np.array(begin, np.int64)
        self.name = os.path.basename(files[0][0])
        self.fingerprint = number_of(([os.path.basename(path) for path, _ in files], facts))
        self.record_bytes = self.bytes // max(1, self.count)
        self._lock = threading.Lock()
        self._groups: OrderedDict[int, _Group] = OrderedDict()  # the one used last is last
        self.decoded = 0  # row groups, over all

    @contextlib.contextmanager
    def _open(self, path: str, fs: Any, metadata: Any = None) -> Iterator[Any]:
        source: Any = path if fs is None else fs.open_input_file(path)
        try:
            with self._pq.ParquetFile(source, metadata=metadata) as file:
                yield file
        finally:
            if fs is not None:  # ParquetFile leaves it open
                source.close()

    def _head(self, path: str, fs: Any) -> Any:
        with self._open(path, fs) as file:
            return file.metadata

    def _group(self, block: int) -> _Columns:
        with self._lock:
            group = self._groups.setdefault(block, _Group())
            self._groups.move_to_end(block)
        with group.lock:
            if group.columns is None:
                group.columns, group.bytes = self._decode(block)
                self._forget(block)
            return group.columns

    def _decode(self, block: int) -> tuple[_Columns, int]:
        number, group = self._places[block]
        path, fs = self._files[number]
        with self._open(path, fs, self._metadata[number]) as file:
            table = file.read_row_group(group, columns=self._names, use_threads=False)
        if table.num_rows != self._begin[block + 1] - self._begin[block]:
            raise ValueError(f"{path}: row group {group} has {table.num_rows} rows, its metadata says otherwise")
        return _Columns(table, self._image, self._label, self._width, self._fields, path), table.nbytes

    def _forget(self, block: int) -> None:
        """Those used longest ago, until the others fit; windows that still use one keep it alive."""
        with self._lock:
            self.decoded += 1
            held = sum(group.bytes for group in self._groups.values())
            for old in list(self._groups):
                if held <= self._memory or old == block:
                    break
                held -= self._groups.pop(old).bytes

    def fill(self, numbers: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> Any:
        kept: list[Any] = []
        of = np.searchsorted(self._begin, numbers, side="right") - 1
        for block in np.unique(of):
            at = np.flatnonzero(of == block)
            part = np.zeros(len(at), out.dtype)
            part["id"] = out["id"][at]
            try:
                columns = self._group(int(block))
                columns.fill(numbers[at] - self._begin[block], part, kept)
                kept.append(columns)
            except MemoryError:
                raise
            except Exception as error:  # the row group cannot be decoded
                for i in range(len(at)):
                    fail(part, i, error, kept)
            out[at] = part
        return kept
