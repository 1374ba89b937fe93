"""CNTK's text (CTF) and binary (CBF) files out of numpy and scipy.sparse, and back.

    write_ctf("train.ctf", {"x": images, "y": one_hot})         # arrays (n, dim): n sequences of one sample
    write_cbf("train.cbf", {"words": [matrix, ...], "y": ...})  # lists: an array or matrix (samples, dim) a sequence
    for s in read_sequences("train.cbf"):
        s.id, s["words"], s["y"]

Streams of scipy.sparse matrices (or imrec.CSR) are sparse, others dense.
"""
from __future__ import annotations

import os
import tempfile
from itertools import count
from typing import Any, Iterable, Iterator, Mapping, Union

import numpy as np

from . import _tables
from ._ffi import check, ffi, lib, new_error, text, to_dict
from ._options import fill
from .errors import ArgumentError
from .minibatch import CSR, Deserializer, StreamDef, StreamDefs

__all__ = ["SequenceData", "read_sequences", "sequence_to_cntk_text_format", "streams_of", "write_cbf", "write_ctf"]

Samples = Union[CSR, "np.ndarray[Any, Any]"]  # of one sequence: (samples, dim)


# ---- writing -----------------------------------------------------------------------------------------------------------

def _csr(data: Any) -> CSR | None:
    """A sparse matrix of any kind; None: it is not sparse."""
    if isinstance(data, CSR):
        return data
    if not hasattr(data, "tocsr"):
        return None
    m = data.tocsr()
    return CSR(m.data, m.indices, m.indptr, m.shape)


def _samples(name: str, data: Any) -> Samples:
    """What a sequence has of a stream, as (samples, dim)."""
    sparse = _csr(data)
    if sparse is not None:
        if not np.isfinite(sparse.data).all():
            raise ArgumentError(f"stream {name!r} has a value that is not finite, which fits no text")
        return sparse
    array = np.asarray(data)
    array = array.reshape(1, -1) if array.ndim < 2 else array.reshape(len(array), int(np.prod(array.shape[1:])))
    if array.dtype.kind not in "buif" or not np.isfinite(array).all():
        raise ArgumentError(f"stream {name!r} has values that are not finite numbers, which fit no text")
    return array


def _sequences(streams: Any) -> Iterator[dict[str, Samples]]:
    """The sequences of what write_ctf() takes."""
    if not isinstance(streams, Mapping):
        for sequence in streams:
            yield {name: _samples(name, data) for name, data in sequence.items() if data is not None}
        return
    counts = {name: (_csr(data) or data).shape[0] if hasattr(data, "shape") else len(data) for name, data in streams.items()}
    if len(set(counts.values())) > 1:
        raise ArgumentError("all streams have the same number of sequences, not " +
                            ", ".join(f"{n} of {name!r}" for name, n in counts.items()))
    whole = {name: _csr(data) or data for name, data in streams.items()}
    for i in range(max(counts.values(), default=0)):
        parts = {name: data.rows(i, i + 1) if isinstance(data, CSR) else data[i] for name, data in whole.items()}
        yield {name: _samples(name, part) for name, part in parts.items() if part is not None}


def _format_of(array: Samples) -> str:
    """A number as text that reads back as the same one."""
    values = array.data if isinstance(array, CSR) else array
    if values.dtype.kind in "bui":
        return "%d"
    return "%r" if values.dtype.itemsize > 4 else "%.9g"


def _lines(array: Samples) -> Iterator[str]:
    number = _format_of(array)
    if isinstance(array, CSR):
        indices, values, starts = array.indices.tolist(), array.data.tolist(), np.asarray(array.indptr).tolist()
        one = f"%d:{number}"
        for a, b in zip(starts, starts[1:]):
            yield " ".join(one % pair for pair in zip(indices[a:b], values[a:b]))
        return
    row = " ".join([number] * array.shape[1])
    for values in array.tolist():
        yield row % tuple(values)


def sequence_to_cntk_text_format(seq_idx: int, alias_tensor_map: Mapping[str, Any]) -> str:
    """A sequence as lines of CTF, without the last line's end. Values: an array (samples, dim), a sparse matrix, or a list of
    samples."""
    streams = {}
    for name, data in alias_tensor_map.items():
        if not name or name[0] == "#" or any(c in name for c in " \t|\r\n"):
            raise ArgumentError(f"{name!r} cannot be a stream's name in a text: it must have no blank and no pipe, and not "
                                "begin with #")
        streams[name] = iter(list(_lines(_samples(name, data))))
    lines = []
    while True:
        line = [f"|{name} {sample}".rstrip() for name, sample in ((n, next(s, None)) for n, s in streams.items())
                if sample is not None]
        if not line:
            break
        lines.append(f"{seq_idx}\t" + " ".join(line))
    if not lines:
        raise ArgumentError(f"sequence {seq_idx} has no sample in any stream, and fits no text")
    return "\n".join(lines)


class _Described(dict):  # type: ignore[type-arg]
    """Streams that have been written: name -> (sparse, dim)."""

    def note(self, sequence: Mapping[str, Samples]) -> None:
        for name, data in sequence.items():
            now = isinstance(data, CSR), int(data.shape[1])
            if self.setdefault(name, now) != now:
                words = ["{} of {} values".format("sparse" if sparse else "dense", dim) for sparse, dim in (self[name], now)]
                raise ArgumentError(f"samples of stream {name!r} are {words[0]}, and then {words[1]}")


def _write_text(path: str, streams: Any, ids: Iterable[int] | None) -> tuple[int, _Described]:
    described, n = _Described(), 0
    numbers = iter(ids) if ids is not None else count()
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        for sequence in _sequences(streams):
            described.note(sequence)
            number = next(numbers, None)
            if number is None:
                raise ArgumentError(f"there are more sequences than the {n} ids")
            f.write(sequence_to_cntk_text_format(number, sequence) + "\n")
            n += 1
        f.flush()
        os.fsync(f.fileno())
    if n == 0:
        raise ArgumentError(f"{path}: there is no sequence to write")
    return n, described


def write_ctf(path: Any, streams: Any, *, ids: Iterable[int] | None = None) -> StreamDefs:
    """Writes sequences as a text, which gets its name when it is whole; returns its streams, as CTFDeserializer wants them.

    streams: name -> an array (n, dim) or a sparse matrix of n sequences of one sample, an array (n, samples, dim), or a list
    of n sequences: arrays (samples, dim), sparse matrices, None where there is none. Or an iterable of sequences, each of
    them name -> array. ids: of the sequences, all different; default 0, 1, ... Numbers read back as the same values.
    """
    path, part = os.fspath(path), os.fspath(path) + ".part"
    try:
        described = _write_text(part, streams, ids)[1]
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
    return StreamDefs((name, StreamDef(shape=dim, is_sparse=sparse)) for name, (sparse, dim) in described.items())


def write_cbf(path: Any, streams: Any, *, precision: str = "float", **options: Any) -> dict[str, int]:
    """Writes sequences as a binary file; arguments as of write_ctf(). precision: "float" or "double"; options: chunk_size
    (bytes), defines_mb_size (a stream's name), threads. Returns counts: sequences, samples, chunks, bytes."""
    path = os.fspath(path)
    with tempfile.TemporaryDirectory(prefix=".cbf-", dir=os.path.dirname(path) or ".") as folder:
        source, header = os.path.join(folder, "text.ctf"), os.path.join(folder, "header.txt")
        described = _write_text(source, streams, None)[1]
        with open(header, "w", encoding="utf-8") as f:
            f.writelines(f"{name} {name} {'sparse' if sparse else 'dense'} {dim}\n" for name, (sparse, dim) in described.items())
        o, out, err = ffi.new("struct imrec_convert_options *"), ffi.new("struct imrec_convert_result *"), new_error()
        lib.imrec_convert_options_init(o)
        kept = fill(o, _tables.CONVERT, {**options, "input": source, "header": header, "output": path, "precision": precision},
                    "write_cbf()")
        check(lib.imrec_ctf_to_cbf(o, ffi.NULL, ffi.NULL, out, err), err)
        del kept
    return to_dict(out[0])


# ---- reading -----------------------------------------------------------------------------------------------------------

class SequenceData(dict):  # type: ignore[type-arg]
    """A sequence: stream -> array (samples, *shape), or CSR; empty ones have no samples."""

    id: int  #: text: its id, or the number of its line; binary: its number
    file: str


def streams_of(path: Any) -> StreamDefs:
    """The streams that a CTF or CBF file has, found out: of a text by its first 16 MiB (a sparse stream has the greatest index
    there + 1 as its dim)."""
    uri, err, binary = os.fsencode(path), new_error(), ffi.new("_Bool *")
    check(lib.imrec_is_cbf(uri, binary, err), err)
    if binary[0]:
        card = ffi.new("struct imrec_cbf_card *")
        check(lib.imrec_cbf_card(uri, False, ffi.NULL, ffi.NULL, card, err), err)
        try:
            return StreamDefs((text(s.name), StreamDef(shape=s.dim, is_sparse=s.sparse)) for s in card.stream[0:card.streams])
        finally:
            lib.imrec_cbf_card_free(card)
    card = ffi.new("struct imrec_ctf_card *")
    check(lib.imrec_ctf_card(uri, False, 0, card, err), err)
    try:
        return StreamDefs((text(s.alias), StreamDef(shape=s.max_index + 1 if s.sparse else max(s.width, 1), is_sparse=s.sparse))
                          for s in card.input[0:card.inputs])
    finally:
        lib.imrec_ctf_card_free(card)


def read_sequences(source: Any, streams: Mapping[str, StreamDef] | None = None, *, precision: str = "float",
                   **options: Any) -> Iterator[SequenceData]:
    """The sequences of a CTF or CBF file, in the file's order. source: its name, or a Deserializer; streams: as CTFDeserializer
    wants them, default: those that streams_of() finds. Raises CorruptError for a bad sample more than max_errors."""
    if not isinstance(source, Deserializer):
        source = Deserializer(source, streams_of(source) if streams is None else streams, **options)
    if precision not in ("float", "double"):
        raise ArgumentError(f"precision={precision!r}: it must be one of float, double")
    d, out, err = ffi.new("struct imrec_deserializer *"), ffi.new("struct imrec_sequences **"), new_error()
    kept = source._fill(d, {})
    kind = lib.IMREC_PRECISION_DOUBLE if precision == "double" else lib.IMREC_PRECISION_FLOAT
    check(lib.imrec_sequences_open(d, kind, ffi.NULL, ffi.NULL, out, err), err)
    try:
        yield from _read(out[0], source, np.dtype(np.float64 if precision == "double" else np.float32))
    finally:
        lib.imrec_sequences_close(out[0])
        del kept


def _read(reader: Any, source: Deserializer, dtype: np.dtype[Any]) -> Iterator[SequenceData]:
    listed, c, err = ffi.new("const struct imrec_stream **"), ffi.new("struct imrec_sequence *"), new_error()
    n = lib.imrec_sequences_streams(reader, listed)
    names = [(text(s.name), int(s.dim)) for s in listed[0][0:n]]
    shapes = {name: s.shape for name, s in source.streams.items() if s.shape}
    while check(lib.imrec_sequences_next(reader, c, err), err) != lib.IMREC_END:
        out = SequenceData((name, _values(s, dim, shapes.get(name, (dim,)), dtype))
                           for (name, dim), s, in zip(names, c.stream[0:n]))
        out.id, out.file = int(c.id), text(c.uri)
        yield out


def _array(pointer: Any, dtype: Any, n: int) -> np.ndarray[Any, Any]:
    return np.frombuffer(bytes(ffi.buffer(pointer, n * np.dtype(dtype).itemsize)), dtype) if n else np.empty(0, dtype)


def _values(s: Any, dim: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Samples:
    values = _array(s.values, dtype, s.value_count)
    if not s.counts:
        return values.reshape(s.samples, *shape)
    counts = _array(s.counts, np.int32, s.samples)
    return CSR(values, _array(s.indices, np.int32, s.value_count), np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
               (int(s.samples), dim))
