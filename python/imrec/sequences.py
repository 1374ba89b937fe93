"""Writes CNTK's text (CTF) and binary (CBF) files from numpy and scipy.sparse, and reads them back.

    write_ctf("train.ctf", {"x": images, "y": one_hot})         # arrays (n, dim): n sequences of one sample
    write_cbf("train.cbf", {"words": [matrix, ...], "y": ...})  # lists: one array or matrix (samples, dim) per sequence
    for s in read_sequences("train.cbf"):
        s.id, s["words"], s["y"]

Streams of scipy.sparse matrices (or imrec.CSR) are sparse, others dense.
"""
from __future__ import annotations

import itertools
import os
from typing import Any, Iterable, Iterator, Mapping, Union

import numpy as np

from ._ffi import check, ffi, lib, new_error, text
from ._minibatch import CSR, DTYPES, dtype_of
from .errors import ArgumentError
from .minibatch import Deserializer, StreamDef, StreamDefs

__all__ = ["SequenceData", "read_sequences", "sequence_to_cntk_text_format", "streams_of", "write_cbf", "write_ctf"]

Samples = Union[CSR, "np.ndarray[Any, Any]"]  # of one sequence: (samples, dim)


# ---- writing -----------------------------------------------------------------------------------------------------------

def _csr(data: Any) -> CSR | None:
    """A CSR of a sparse matrix of any kind; None: it is not sparse."""
    if isinstance(data, CSR):
        return data.rows(0, data.shape[0])
    if not hasattr(data, "tocsr"):
        return None
    m = data.tocsr()
    return CSR(m.data, m.indices, m.indptr, m.shape).rows(0, m.shape[0])


def _samples(name: str, data: Any) -> Samples:
    """A stream of a sequence as (samples, dim)."""
    sparse = _csr(data)
    if sparse is not None:
        return sparse
    array = np.asarray(data)
    if array.dtype.kind not in "buif":
        raise ArgumentError(f"stream {name!r} has values that are not numbers, but {array.dtype}")
    return array.reshape(1, -1) if array.ndim < 2 else array.reshape(len(array), int(np.prod(array.shape[1:])))


def _sequences(streams: Any) -> Iterator[dict[str, Samples]]:
    """The sequences in an argument of write_ctf()."""
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
    """The format for numbers that read back as the same values."""
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
    """A sequence as lines of CTF, without the end of the last line. Values: an array (samples, dim), a sparse matrix, or a list
    of samples."""
    streams = {}
    for name, data in alias_tensor_map.items():
        if not name or name[0] == "#" or any(c in name for c in " \t|\r\n"):
            raise ArgumentError(f"{name!r} cannot be a stream's name in a text: it must have no blank and no pipe, and not "
                                "begin with #")
        samples = _samples(name, data)
        if not np.isfinite(samples.data if isinstance(samples, CSR) else samples).all():
            raise ArgumentError(f"stream {name!r} has a value that is not finite, which a text cannot hold")
        streams[name] = _lines(samples)
    lines = []
    while True:
        line = [f"|{name} {sample}".rstrip() for name, sample in ((n, next(s, None)) for n, s in streams.items())
                if sample is not None]
        if not line:
            break
        lines.append(f"{seq_idx}\t" + " ".join(line))
    if not lines:
        raise ArgumentError(f"sequence {seq_idx} has no sample in any stream, so a text cannot hold it")
    return "\n".join(lines)


class _Described(dict):  # type: ignore[type-arg]
    """Streams written so far: name -> (sparse, dim)."""

    def note(self, sequence: Mapping[str, Samples]) -> None:
        for name, data in sequence.items():
            now = isinstance(data, CSR), int(data.shape[1])
            if self.setdefault(name, now) != now:
                words = ["{} of {} values".format("sparse" if sparse else "dense", dim) for sparse, dim in (self[name], now)]
                raise ArgumentError(f"samples of stream {name!r} are {words[0]}, and then {words[1]}")


def _write_text(path: str, streams: Any, ids: Iterable[int] | None) -> _Described:
    described, n = _Described(), 0
    numbers = iter(ids) if ids is not None else itertools.count()
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
    return described


def write_ctf(path: Any, streams: Any, *, ids: Iterable[int] | None = None) -> StreamDefs:
    """Writes sequences as a text, which gets its name when it is complete; returns its streams for CTFDeserializer.

    streams: name -> an array (n, dim) or a sparse matrix of n sequences of one sample, an array (n, samples, dim), or a list
    of n sequences: arrays (samples, dim), sparse matrices, or None for none. Or an iterable of sequences, each of them name ->
    array. ids: of the sequences, all different; default 0, 1, ... Numbers read back as the same values.
    """
    path, part = os.fspath(path), os.fspath(path) + ".part"
    try:
        described = _write_text(part, streams, ids)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
    return StreamDefs((name, StreamDef(shape=dim, is_sparse=sparse)) for name, (sparse, dim) in described.items())


class _BinaryWriter:
    """A CBF file that gets its name at commit()."""

    def __init__(self, path: Any, described: Mapping[str, tuple[bool, int]], dtypes: Mapping[str, np.dtype[Any]],
                 chunk_size: int) -> None:
        self._described, self._dtypes, kept = described, dtypes, [ffi.new("char[]", name.encode()) for name in described]
        streams = ffi.new("struct imrec_cbf_stream[]", len(described))
        for s, text_of_name, (name, (sparse, dim)) in zip(streams, kept, described.items()):
            s.name, s.sparse, s.dim = text_of_name, sparse, dim
            s.precision = lib.IMREC_PRECISION_DOUBLE if dtypes[name].itemsize == 8 else lib.IMREC_PRECISION_FLOAT
        out, err = ffi.new("struct imrec_cbf_writer **"), new_error()
        check(lib.imrec_cbf_writer_open(os.fsencode(path), streams, len(streams), chunk_size, out, err), err)
        self._writer, self._c = out[0], ffi.new("struct imrec_sequence_stream[]", len(described))

    def append(self, sequence: Mapping[str, Samples], length_of: str | None) -> None:
        kept: list[Any] = []
        for c, (name, (sparse, dim)) in zip(self._c, self._described.items()):
            data = sequence.get(name)
            if data is None:
                data = CSR(*(np.empty(0, np.int32),) * 2, np.zeros(1, np.int64), (0, dim)) if sparse else np.empty((0, dim))
            values = np.ascontiguousarray(data.data if isinstance(data, CSR) else data, self._dtypes[name])
            parts = [values]
            if isinstance(data, CSR):
                if len(data.indices) and not 0 <= data.indices.min() <= data.indices.max() < dim:
                    raise ArgumentError(f"stream {name!r} has indices that are not in [0, {dim})")
                parts += [np.ascontiguousarray(data.indices, np.int32), np.diff(data.indptr).astype(np.int32)]
            kept += [ffi.from_buffer(part) for part in parts]
            c.samples, c.value_count, c.values = data.shape[0], values.size, kept[-len(parts)]
            if sparse:
                c.indices, c.counts = kept[-2:]
        err, counted = new_error(), sequence.get(length_of) if length_of else None
        check(lib.imrec_cbf_writer_append(self._writer, self._c, counted.shape[0] if counted is not None else 0, err), err)

    def commit(self) -> dict[str, int]:
        writer, self._writer = self._writer, ffi.NULL
        out, err = ffi.new("struct imrec_sequences_totals *"), new_error()
        check(lib.imrec_cbf_writer_commit(writer, out, err), err)
        return {name: int(getattr(out, name)) for name in ("sequences", "samples", "chunks", "bytes")}

    def abort(self) -> None:
        writer, self._writer = self._writer, ffi.NULL
        lib.imrec_cbf_writer_abort(writer)


def _first_of(name: str, data: Any) -> Samples | None:
    """The first sequence with samples of a stream."""
    sparse = _csr(data)
    return sparse if sparse is not None else next((_samples(name, part) for part in data if part is not None), None)


def _describe(streams: Any, first: Mapping[str, Samples]) -> _Described:
    described = _Described()
    described.note(first)
    if isinstance(streams, Mapping):  # its lists may begin with None
        found = {name: _first_of(name, data) for name, data in streams.items()}
        described = _Described()
        described.note({name: data for name, data in found.items() if data is not None})
    return described


def _dtypes(precision: str | Mapping[str, str], streams: Iterable[str]) -> dict[str, np.dtype[Any]]:
    """The type of each stream's values, from one word for all or one for each; "float" without a word."""
    words = {name: precision for name in streams} if isinstance(precision, str) else dict(precision)
    for name, word in words.items():
        if word not in DTYPES:
            raise ArgumentError(f"precision={word!r}: it must be one of {', '.join(DTYPES)}")
        if name not in streams:
            raise ArgumentError(f"precision names {name!r}, which is not a stream; there are {', '.join(streams)}")
    return {name: DTYPES[words.get(name, "float")] for name in streams}


def write_cbf(path: Any, streams: Any, *, precision: str | Mapping[str, str] = "float", chunk_size: int = 0,
              defines_mb_size: str | None = None) -> dict[str, int]:
    """Writes sequences as a binary file, which gets its name when it is complete; `streams` as for write_ctf(), but the first
    item of an iterable must have all streams. precision: "float" or "double", or {stream: "double"}, others are "float";
    chunk_size: bytes, 0 = 32 MiB; defines_mb_size: the stream whose samples are the length of a sequence, by default the
    longest of each.
    Returns counts: sequences, samples, chunks, bytes."""
    sequences = _sequences(streams)
    first = next(sequences, None)
    if first is None:
        raise ArgumentError(f"{os.fspath(path)}: there is no sequence to write")
    described = _describe(streams, first)
    if defines_mb_size and defines_mb_size not in described:
        raise ArgumentError(f"defines_mb_size={defines_mb_size!r}: there is no such stream")
    writer = _BinaryWriter(path, described, _dtypes(precision, described), chunk_size)
    try:
        for sequence in itertools.chain([first], sequences):
            if not sequence.keys() <= described.keys():
                raise ArgumentError(f"stream {min(sequence.keys() - described.keys())!r} was not in the first sequence")
            described.note(sequence)
            writer.append(sequence, defines_mb_size)
    except BaseException:
        writer.abort()
        raise
    return writer.commit()


# ---- reading -----------------------------------------------------------------------------------------------------------

class SequenceData(dict):  # type: ignore[type-arg]
    """A sequence: stream -> array (samples, *shape), or CSR; empty streams have no samples."""

    id: int  #: text: its id, or the number of its line; binary: its number
    file: str


def streams_of(path: Any) -> StreamDefs:
    """Finds the streams of a CTF or CBF file: of a text from its first 16 MiB (the dim of a sparse stream is the largest index
    there + 1)."""
    uri, err, kind = os.fsencode(path), new_error(), ffi.new("enum imrec_file_kind *")
    check(lib.imrec_file_kind(uri, kind, ffi.NULL, err), err)
    if kind[0] == lib.IMREC_FILE_CBF:
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
    """Reads the sequences of a CTF or CBF file, in the file's order. source: its name, or a Deserializer; streams: as for
    CTFDeserializer, by default those that streams_of() finds; precision: of streams without one of their own. Raises
    CorruptError for bad samples beyond max_errors."""
    if not isinstance(source, Deserializer):
        source = Deserializer(source, streams_of(source) if streams is None else streams, **options)
    if precision not in DTYPES:
        raise ArgumentError(f"precision={precision!r}: it must be one of {', '.join(DTYPES)}")
    d, out, err = ffi.new("struct imrec_deserializer *"), ffi.new("struct imrec_sequences **"), new_error()
    kept = source._fill(d, {})
    kind = lib.IMREC_PRECISION_DOUBLE if precision == "double" else lib.IMREC_PRECISION_FLOAT
    check(lib.imrec_sequences_open(d, kind, ffi.NULL, ffi.NULL, out, err), err)
    try:
        yield from _read(out[0], source)
    finally:
        lib.imrec_sequences_close(out[0])
        del kept


def _read(reader: Any, source: Deserializer) -> Iterator[SequenceData]:
    listed, c, err = ffi.new("const struct imrec_stream **"), ffi.new("struct imrec_sequence *"), new_error()
    n = lib.imrec_sequences_streams(reader, listed)
    streams = [(text(s.name), int(s.dim), dtype_of(s.precision)) for s in listed[0][0:n]]
    shapes = {name: s.shape for name, s in source.streams.items() if s.shape}
    while check(lib.imrec_sequences_next(reader, c, err), err) != lib.IMREC_END:
        out = SequenceData((name, _values(s, dim, shapes.get(name, (dim,)), dtype))
                           for (name, dim, dtype), s, in zip(streams, c.stream[0:n]))
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
