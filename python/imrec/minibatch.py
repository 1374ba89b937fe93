"""Reads CNTK's text (CTF) and binary (CBF) files as minibatches of numpy arrays, with the names of cntk.io.

    source = MinibatchSource(CTFDeserializer("train.ctf", StreamDefs(
        features=StreamDef(field="x", shape=784), labels=StreamDef(field="y", shape=10, is_sparse=True))))
    while True:
        mb = source.next_minibatch(64, {"x": source.streams.features, "y": source.streams.labels})
        mb["x"].asarray()    # float32 (sequences, samples of the longest, 784)
        mb["y"].csr          # data, indices, indptr; .to_scipy()
"""
from __future__ import annotations

import json
import os
import threading
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _tables
from ._batch import _copied
from ._ffi import check, ffi, lib, new_error, same_process, text, to_dict
from ._minibatch import CSR, DTYPES, Minibatch, MinibatchData, StreamInformation, dtype_of
from ._options import assign, describe, fill
from ._running import close_at_exit, discard
from .errors import ArgumentError, CancelledError

__all__ = ["CBFDeserializer", "CSR", "CTFDeserializer", "Deserializer", "FULL_DATA_SWEEP", "INFINITELY_REPEAT", "Minibatch",
           "MinibatchData", "MinibatchSource", "StreamDef", "StreamDefs", "StreamInformation"]

_NOMINAL_TIME = "minibatchSourcePosition"  # CNTK's name of a source's state
INFINITELY_REPEAT: int = lib.IMREC_INFINITELY_REPEAT  #: for max_sweeps, max_samples, epoch_size: no end
FULL_DATA_SWEEP: int = lib.IMREC_FULL_DATA_SWEEP  #: for max_samples, epoch_size: one sweep, then the end


# ---- what is in the files ----------------------------------------------------------------------------------------------

class StreamDef:
    """An input. field: its name in the file (default: the stream's own); shape: of a sample, a number or several; a text's input
    is dense unless is_sparse; both are optional for a binary file. defines_mb_size: sizes count this stream's samples (at most
    one stream). precision: "float" or "double", the type of its values (default: that of the source)."""

    def __init__(self, field: str | None = None, shape: int | Sequence[int] | None = None, is_sparse: bool | None = None,
                 defines_mb_size: bool = False, *, precision: str | None = None) -> None:
        self.field, self.is_sparse, self.defines_mb_size, self.precision = field, is_sparse, defines_mb_size, precision
        if precision not in (None, *DTYPES):
            raise ArgumentError(f"precision={precision!r}: it must be one of {', '.join(DTYPES)}")
        self.shape: tuple[int, ...] | None = None
        if shape is not None:
            self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)  # type: ignore[arg-type]

    @property
    def dim(self) -> int:
        """Numbers of a sample; 0: as in the file."""
        return int(np.prod(self.shape)) if self.shape is not None else 0

    def __repr__(self) -> str:
        return f"StreamDef(field={self.field!r}, shape={self.shape}, is_sparse={self.is_sparse})"


class StreamDefs(dict):  # type: ignore[type-arg]
    """Streams by name: StreamDefs(features=StreamDef(...)); items are also attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no stream {name!r}, there are {', '.join(self)}") from None


class Deserializer:
    """A file, or several as one corpus (a list, a glob), with its streams. Options are those of the table
    (help(imrec.MinibatchSource)): skip_sequence_ids, max_errors, chunk_size_in_bytes, keep_data_in_memory, cache_index, ..."""

    def __init__(self, filename: Any, streams: Mapping[str, StreamDef] | None = None, **options: Any) -> None:
        self.streams = StreamDefs(streams or {})
        self.options = {"file": filename, **options}

    def _fill(self, c: Any, given: Mapping[str, Any]) -> list[Any]:
        """Fills struct imrec_deserializer; returns the objects that must live as long."""
        lib.imrec_deserializer_init(c)
        kept = fill(c, _tables.DESERIALIZER, {**given, **self.options}, "a deserializer")
        described = ffi.new("struct imrec_stream[]", max(len(self.streams), 1))
        c.stream, c.streams = described, len(self.streams)
        kept.append(described)
        for s, (name, stream) in zip(described, self.streams.items()):
            kept += [ffi.new("char[]", name.encode()), ffi.new("char[]", (stream.field or name).encode())]
            s.name, s.alias = kept[-2:]
            s.storage = lib.IMREC_SPARSE if stream.is_sparse else lib.IMREC_DENSE
            s.dim, s.defines_mb_size = stream.dim, stream.defines_mb_size
            s.storage_given = stream.is_sparse is not None or self.options.get("type") == "text"
            s.precision_given = stream.precision is not None
            s.precision = lib.IMREC_PRECISION_DOUBLE if stream.precision == "double" else lib.IMREC_PRECISION_FLOAT
        return kept


def CTFDeserializer(filename: Any, streams: Mapping[str, StreamDef], **options: Any) -> Deserializer:
    """A text file: all streams must be described."""
    return Deserializer(filename, streams, type="text", **options)


def CBFDeserializer(filename: Any, streams: Mapping[str, StreamDef] | None = None, **options: Any) -> Deserializer:
    """A binary file: it describes its streams; descriptions here rename them."""
    return Deserializer(filename, streams, type="binary", **options)


# ---- the source --------------------------------------------------------------------------------------------------------

class MinibatchSource:
    """Reads sequences of CTF and CBF files as minibatches, in a new random order every sweep.

    deserializers: one, a list of them (joined by sequence id, the first one leads), or the name of a CBF file. max_sweeps,
    max_samples, randomization_window_in_chunks or _in_samples, multithreaded_deserializer, frame_mode, max_errors and
    trace_level are CNTK's; further keywords are those of the table: precision, minibatch_size_in_samples (a number or a
    schedule: "128*2+1024"), epoch_size, num_ranks, rank, rank_mode, missing_ids, threads, prefetch, memory_limit, ...

    Iterating gives minibatches of minibatch_size_in_samples until the end; with next_minibatch() each has its own size. A
    pickled source continues where it was. In a forked child it raises ForkedError: open another one there.

    Raises: ArgumentError; CorruptError for bad samples beyond max_errors, with file, line and reason; StorageError.
    """

    def __init__(self, deserializers: Any, max_samples: int = INFINITELY_REPEAT, max_sweeps: int = INFINITELY_REPEAT,
                 randomization_window_in_chunks: int | None = None, randomization_window_in_samples: int | None = None,
                 randomization_seed: int = 0, trace_level: int | None = None, multithreaded_deserializer: bool | None = None,
                 frame_mode: bool | None = None, truncation_length: int = 0, randomize: bool = True,
                 max_errors: int | None = None, **parameters: Any) -> None:
        self._source = ffi.NULL
        self._config: str | None
        self._action: str | None
        self._variables: dict[str, Any]
        if isinstance(deserializers, (str, bytes, os.PathLike)):
            deserializers = Deserializer(deserializers)
        self._deserializers = [deserializers] if isinstance(deserializers, Deserializer) else list(deserializers)
        self._shared = {"trace_level": trace_level, "frame_mode": frame_mode, "max_errors": max_errors}
        o = {"randomize": randomize, "randomization_seed": randomization_seed, "truncation_length": truncation_length,
             "threads": 1 if multithreaded_deserializer is False else None, **parameters}
        o.update(_limits(max_samples, max_sweeps), **_window(randomization_window_in_chunks, randomization_window_in_samples))
        self._options, self._config, self._lock = _with_schedule(o), None, threading.Lock()
        self._action, self._variables = None, {}
        self._open()

    @classmethod
    def from_config(cls, path: Any, action: str | None = None, variables: Mapping[str, Any] | None = None,
                    **settings: Any) -> MinibatchSource:
        """A source described by a CNTK configuration: `reader = [ ... ]` alone, or a complete one, of which only the reader is
        used. action: selects one of several readers by the name of its section or of its action ("train", "test").
        variables: {"DataDir": "/data"} sets $DataDir$ and has precedence over the file. settings: parameters that override
        it: max_sweeps=1, file="other.ctf", **{"input.x.dim": 784}, ..."""
        self = cls.__new__(cls)
        self._source, self._deserializers, self._shared = ffi.NULL, [], {}
        self._options, self._config, self._lock = _with_schedule(settings), os.fsdecode(path), threading.Lock()
        self._action, self._variables = action, dict(variables or {})
        self._open()
        return self

    def _described(self) -> tuple[Any, list[Any]]:
        """struct imrec_minibatch_options, and the objects that must live as long."""
        if self._config is not None:
            return self._configured(self._config)
        o = ffi.new("struct imrec_minibatch_options *")
        lib.imrec_minibatch_options_init(o)
        kept = fill(o, _tables.MINIBATCH, self._options, "MinibatchSource")
        files = ffi.new("struct imrec_deserializer[]", max(len(self._deserializers), 1))
        for i, d in enumerate(self._deserializers):
            kept += d._fill(files + i, {k: v for k, v in self._shared.items() if v is not None})
        o.deserializer, o.deserializers = files, len(self._deserializers)
        return o, [*kept, files]

    def _configured(self, path: str) -> tuple[Any, list[Any]]:
        out, err = ffi.new("struct imrec_minibatch_config **"), new_error()
        check(lib.imrec_minibatch_config_new(out, err), err)
        config = ffi.gc(out[0], lib.imrec_minibatch_config_free)
        for name, value in self._variables.items():
            check(lib.imrec_minibatch_config_define(config, os.fsencode(f"{name}={value}"), err), err)
        if self._action is not None:
            check(lib.imrec_minibatch_config_set(config, os.fsencode(f"action={self._action}"), err), err)
        check(lib.imrec_minibatch_config_load(config, os.fsencode(path), err), err)
        kept = assign(lambda c, text, err: lib.imrec_minibatch_config_set(c, text, err), config,
                      (*_tables.MINIBATCH, *_tables.DESERIALIZER), self._options)
        return lib.imrec_minibatch_config_options(config), [config, kept]

    def _open(self) -> None:
        out, err = ffi.new("struct imrec_minibatch_source **"), new_error()
        o, kept = self._described()
        check(lib.imrec_minibatch_source_open(o, out, err), err)
        #: whether it never ends
        self.is_infinite = not (o.max_samples or o.max_sweeps or o.epoch_size == FULL_DATA_SWEEP)
        self._share = int(o.num_ranks), int(o.rank)
        old, self._source, self._kept, self._pid = self._source, out[0], kept, os.getpid()
        close_at_exit(self)
        if old:
            lib.imrec_minibatch_source_close(old)
        shapes = {name: s.shape for d in self._deserializers for name, s in d.streams.items() if s.shape is not None}
        listed = ffi.new("const struct imrec_stream **")
        n = lib.imrec_minibatch_streams(self._source, listed)
        #: the delivered streams, by name and as attributes
        self.streams = StreamDefs((s.name, s) for s in (
            StreamInformation(text(c.name), text(c.alias) or text(c.name), c.storage == lib.IMREC_SPARSE,
                              shapes.get(text(c.name), (int(c.dim),)), dtype_of(c.precision)) for c in listed[0][0:n]))

    def _served(self) -> Any:
        if not self._source:
            raise CancelledError("this MinibatchSource is closed")
        same_process(self._pid, "MinibatchSource")
        return self._lock

    # ---- minibatches ---------------------------------------------------------------------------------------------------

    def next_minibatch(self, minibatch_size_in_samples: int = 0, input_map: Mapping[Any, Any] | None = None, device: Any = None,
                       num_data_partitions: int | None = None, partition_index: int | None = None) -> Minibatch:
        """Delivers as many complete sequences as fit into this number of samples (0: minibatch_size_in_samples of the source); a
        larger one comes alone. Empty at the end of the data. input_map: key -> stream (or its name), for some of the streams.
        num_data_partitions, partition_index: this process's share from here on. `device` has no effect: arrays are numpy's."""
        with self._served():
            self._take_share(num_data_partitions, partition_index)
            wanted = {s: s.name for s in self.streams.values()} if input_map is None else {
                key: s if isinstance(s, str) else s.name for key, s in input_map.items()}
            maps, kept = ffi.new("struct imrec_stream_map[]", max(len(wanted), 1)), []
            for c, name in zip(maps, wanted.values()):
                kept.append(ffi.new("char[]", name.encode()))
                setattr(c, "from", kept[-1])
                c.to = kept[-1]
            return self._next(int(minibatch_size_in_samples), maps, wanted)

    def _next(self, size: int, maps: Any, wanted: dict[Any, str]) -> Minibatch:
        if size < 0 or not wanted:
            raise ArgumentError(f"minibatch_size_in_samples={size}: it must not be below 0" if wanted else "no stream is requested")
        c, err, out = ffi.new("struct imrec_minibatch *"), new_error(), Minibatch()
        if check(lib.imrec_minibatch_next(self._source, size, maps, len(wanted), c, err), err) == lib.IMREC_END:
            out.ids = np.empty(0, np.uint64)
            return out
        for key, stream in zip(wanted, c.stream[0:c.streams]):
            out[key] = MinibatchData(stream, self.streams[wanted[key]].shape, bool(c.sweep_end))
        out.ids = _copied(c.ids, np.uint64, c.sequences)
        out.num_sequences, out.num_samples, out.position = int(c.sequences), int(c.samples), int(c.position)
        out.sweep, out.epoch, out.sweep_end, out.epoch_end = int(c.sweep), int(c.epoch), bool(c.sweep_end), bool(c.epoch_end)
        return out

    def _take_share(self, ranks: int | None, rank: int | None) -> None:
        if ranks is None and rank is None:
            return
        if (ranks or 1, rank or 0) != self._share:
            state = self._position()
            self._options = {**self._options, "num_ranks": ranks or 1, "rank": rank or 0}
            self._open()
            self._seek(state)

    def __iter__(self) -> Iterator[Minibatch]:
        return self

    def __next__(self) -> Minibatch:
        out = self.next_minibatch()
        if not out:
            raise StopIteration
        return out

    # ---- streams -------------------------------------------------------------------------------------------------------

    def stream_info(self, name: str) -> StreamInformation:
        """A stream by its name. Raises KeyError."""
        return self.streams[name]  # type: ignore[no-any-return]

    __getitem__ = stream_info

    def stream_infos(self) -> list[StreamInformation]:
        """All streams, in their order."""
        return list(self.streams.values())

    # ---- position ------------------------------------------------------------------------------------------------------

    def _position(self) -> str:
        out, err = ffi.new("const char **"), new_error()
        check(lib.imrec_minibatch_position(self._source, out, err), err)
        return text(out[0])

    def _seek(self, position: str) -> None:
        err = new_error()
        check(lib.imrec_minibatch_seek(self._source, position.encode(), err), err)

    def get_checkpoint_state(self) -> dict[str, Any]:
        """The position after the last delivered minibatch, to be pickled or saved as JSON: "position", which is exact, and
        CNTK's "minibatchSourcePosition", the nominal time, a number of samples."""
        with self._served():
            position = self._position()
            return {_NOMINAL_TIME: json.loads(position)["position"], "position": position}

    def restore_from_checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        """Goes to a position of the same data, seed and window, in any process; with rank_mode="global" the number of ranks
        may differ. Or to a nominal time: CNTK's {"minibatchSourcePosition": samples}, alone or inside the state of its
        Trainer, means the first sequence that begins at or after that sample. A state whose number was changed means that
        nominal time."""
        with self._served():
            self._seek(_exact(checkpoint) or json.dumps(checkpoint, default=_plain))

    state_dict, load_state_dict = get_checkpoint_state, restore_from_checkpoint
    current_position = property(get_checkpoint_state, restore_from_checkpoint, doc="The state of a checkpoint; can be set.")

    # ---- the rest ------------------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Sequences, samples and chunks of a sweep, errors and bytes read so far, memory in bytes; `traffic`: as in
        ImageRecordIter.stats()."""
        out, moved = ffi.new("struct imrec_minibatch_stats *"), ffi.new("struct imrec_traffic *")
        with self._served():
            lib.imrec_minibatch_get_stats(self._source, out)
            lib.imrec_minibatch_get_traffic(self._source, moved)
        traffic = to_dict(moved[0])
        del traffic["struct_size"]
        return {**to_dict(out[0]), "traffic": traffic}

    def dropped(self) -> list[str]:
        """What was dropped and why, one sentence each; the first 1,000."""
        with self._served():
            return [text(m) for m in iter(_numbered(self._source), ffi.NULL)]

    def close(self) -> None:
        """Stops the workers. Twice is harmless."""
        source, self._source = self._source, ffi.NULL
        if source and self._pid == os.getpid():
            lib.imrec_minibatch_source_close(source)

    def __enter__(self) -> MinibatchSource:
        return self

    def __exit__(self, *what: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_source", None):
            discard(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"_deserializers": self._deserializers, "_shared": self._shared, "_options": self._options,
                "_config": self._config, "_action": self._action, "_variables": self._variables,
                "state": self.get_checkpoint_state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        checkpoint = state.pop("state")
        self.__dict__.update({"_action": None, "_variables": {}, **state}, _source=ffi.NULL, _lock=threading.Lock())
        self._open()
        self.restore_from_checkpoint(checkpoint)

    def __repr__(self) -> str:
        return f"<imrec.MinibatchSource: {', '.join(self.streams) if self._source else 'closed'}>"


def _with_schedule(options: dict[str, Any]) -> dict[str, Any]:
    """Sizes of minibatches as text: a number, a list of them, or CNTK's pairs (epochs, size)."""
    sizes = options.get("minibatch_size_in_samples")
    if sizes is None or isinstance(sizes, str):
        return options
    written = str(sizes) if np.isscalar(sizes) else "[" + ", ".join(
        f"({', '.join(map(str, size))})" if isinstance(size, (tuple, list)) else str(size) for size in sizes) + "]"
    return {**options, "minibatch_size_in_samples": written}


def _exact(checkpoint: Any) -> str | None:
    """The text of a position, unless the nominal time next to it was changed."""
    position = checkpoint.get("position") if isinstance(checkpoint, Mapping) else None
    if not isinstance(position, str):
        return None
    time = checkpoint.get(_NOMINAL_TIME)
    return position if time is None or time == json.loads(position).get("position") else None


def _plain(value: Any) -> Any:
    """Converts what json cannot write: numpy's numbers, mappings; the rest of a trainer's state does not matter here."""
    if isinstance(value, Mapping):
        return dict(value)
    return value.item() if isinstance(value, np.generic) else None


def _numbered(source: Any) -> Any:
    at = iter(range(2**31))
    return lambda: lib.imrec_minibatch_dropped(source, next(at))


def _limits(max_samples: int, max_sweeps: int) -> dict[str, Any]:
    """CNTK's limits in the form of the table, where 0 means none."""
    out: dict[str, Any] = {}
    if max_samples == FULL_DATA_SWEEP or max_samples == 2**64 - 2:
        out["max_sweeps"] = 1
    elif max_samples < INFINITELY_REPEAT:
        out["max_samples"] = max_samples
    if max_sweeps < FULL_DATA_SWEEP:
        out["max_sweeps"] = min(max_sweeps, out.get("max_sweeps", max_sweeps))
    return out


def _window(chunks: int | None, samples: int | None) -> dict[str, Any]:
    if chunks and samples:
        raise ArgumentError("randomization_window_in_chunks and randomization_window_in_samples: give one of them")
    if samples:
        return {"randomization_window": samples, "sample_based_randomization_window": True}
    return {"randomization_window": chunks} if chunks else {}


MinibatchSource.__doc__ = (MinibatchSource.__doc__ or "") + "\n".join(
    ["    Parameters:", *("    " + line for line in describe(_tables.MINIBATCH).splitlines()), "", "    Of a Deserializer:",
     *("    " + line for line in describe(_tables.DESERIALIZER).splitlines())]) + "\n"
