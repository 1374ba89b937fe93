"""The dense and sparse arrays of a minibatch of imrec.MinibatchSource."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._batch import _copied
from ._ffi import lib, text

DTYPES: dict[str, np.dtype[Any]] = {"float": np.dtype(np.float32), "double": np.dtype(np.float64)}


class CSR(NamedTuple):
    """A sparse matrix, row by row, like scipy.sparse.csr_matrix: values of row i are data[indptr[i]:indptr[i + 1]]."""

    data: np.ndarray[Any, Any]
    indices: np.ndarray[Any, Any]  #: int32, for each value, in the file's order
    indptr: np.ndarray[Any, Any]  #: int64 (rows + 1,)
    shape: tuple[int, int]

    def rows(self, begin: int, end: int) -> CSR:
        """Some of the rows; data and indices are views."""
        a, b = int(self.indptr[begin]), int(self.indptr[end])
        return CSR(self.data[a:b], self.indices[a:b], self.indptr[begin:end + 1] - a, (end - begin, self.shape[1]))

    def toarray(self) -> np.ndarray[Any, Any]:
        """The dense array; values of the same place are added."""
        out = np.zeros(self.shape, self.data.dtype)
        np.add.at(out, (np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices), self.data)
        return out

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_matrix, without a copy of the values."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
        return csr_matrix((self.data, self.indices, self.indptr), self.shape)


def dtype_of(precision: int) -> np.dtype[Any]:
    """The type for an enum imrec_precision."""
    return DTYPES["double" if precision == lib.IMREC_PRECISION_DOUBLE else "float"]


class StreamInformation(NamedTuple):
    """A stream of a source."""

    name: str
    alias: str  #: its name in the file
    is_sparse: bool
    shape: tuple[int, ...]  #: of a sample
    dtype: np.dtype[Any] = DTYPES["float"]  #: of its values

    @property
    def dim(self) -> int:
        return int(np.prod(self.shape))


class MinibatchData:
    """A stream of a minibatch, in memory of its own. Sequence s has lengths[s] samples."""

    name: str  #: of the stream
    shape: tuple[int, ...]  #: of a sample
    is_sparse: bool
    num_sequences: int
    num_samples: int
    end_of_sweep: bool  #: the last sequence of a sweep is in the minibatch
    lengths: np.ndarray[Any, Any]  #: uint32 (sequences,): samples of each; may be 0
    rows: np.ndarray[Any, Any]  #: uint32 (sequences,): place of its first sample in asarray()
    columns: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any] | None  #: dense: (rows, width, *shape); zero where there is no sample
    mask: np.ndarray[Any, Any] | None  #: dense: uint8 (rows, width): 2 first sample of a sequence, 1 later one, 0 none
    csr: CSR | None  #: sparse: one row per sample, sequence after sequence

    def __init__(self, c: Any, shape: tuple[int, ...], end_of_sweep: bool) -> None:
        self.name, self.shape, self.end_of_sweep, dtype = text(c.name), shape, end_of_sweep, dtype_of(c.precision)
        self.is_sparse = c.storage == lib.IMREC_SPARSE
        self.num_sequences, self.num_samples = int(c.sequences), int(c.samples)
        self._size = int(c.rows), int(c.width)
        self.lengths, self.rows, self.columns = (_copied(p, np.uint32, c.sequences) for p in (c.length, c.row, c.column))
        self.values = self.mask = self.csr = None
        if self.is_sparse:
            starts = _copied(c.row_start, np.int64, c.samples + 1) if c.row_start else np.zeros(1, np.int64)
            self.csr = CSR(_copied(c.values, dtype, c.nnz), _copied(c.indices, np.int32, c.nnz), starts,
                           (self.num_samples, int(c.dim)))
        else:
            self.values = _copied(c.values, dtype, *self._size, *shape)
            self.mask = _copied(c.mask, np.uint8, *self._size)

    @property
    def sweep_end(self) -> bool:
        return self.end_of_sweep

    @property
    def data(self) -> Any:
        """`values`, or `csr`."""
        return self.csr if self.is_sparse else self.values

    def as_sequences(self) -> list[Any]:
        """An array (samples, *shape) for each sequence; sparse: a CSR for each."""
        if self.csr is not None:
            ends = np.cumsum(self.lengths)
            return [self.csr.rows(int(end - n), int(end)) for n, end in zip(self.lengths, ends)]
        assert self.values is not None
        return [self.values[r, c:c + n] for n, r, c in zip(self.lengths, self.rows, self.columns)]

    def asarray(self) -> np.ndarray[Any, Any]:
        """Dense: (rows, width, *shape), zero where there is no sample. A row is a sequence, or, with truncation_length, a slot."""
        if self.csr is None:
            return self.values  # type: ignore[return-value]
        out = np.zeros((*self._size, self.csr.shape[1]), self.csr.data.dtype)
        for n, r, c, s in zip(self.lengths, self.rows, self.columns, self.as_sequences()):
            out[r, c:c + n] = s.toarray()
        return out.reshape(*self._size, *self.shape)

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"MinibatchData({self.name}, {kind} {self.shape}, {self.num_samples} samples, {self.num_sequences} sequences)"


class Minibatch(dict):  # type: ignore[type-arg]
    """The streams of a minibatch by StreamInformation, or by the keys of input_map; a stream's name works, too. Empty, and so
    false, at the end of the data."""

    ids: np.ndarray[Any, Any]  #: uint64 (num_sequences,): of each sequence in its file (the first deserializer's)
    num_sequences: int = 0
    num_samples: int = 0  #: on the timeline: of this rank
    position: int = 0  #: of the timeline after it, in samples of all ranks
    sweep: int = 0  #: of its first sequence, from 0
    epoch: int = 0
    sweep_end: bool = False  #: the last sequence of a sweep is in the global minibatch
    epoch_end: bool = False  #: the next minibatch belongs to the next epoch

    def __missing__(self, name: Any) -> Any:
        for data in self.values():
            if data.name == name:
                return data
        raise KeyError(name)
