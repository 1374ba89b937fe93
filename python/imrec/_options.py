"""Sets C's options structs from keywords, and makes signatures and docs from the tables."""
from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Iterable, Mapping

from ._accept import ITER, known
from ._ffi import check, ffi, lib, new_error
from ._tables import Parameter
from .errors import ArgumentError

ON_ERROR = {"stop": "IMREC_ON_ERROR_STOP", "skip": "IMREC_ON_ERROR_SKIP"}


def as_text(row: Parameter | None, name: str, value: Any) -> str:
    """A Python value in the form of key=value. Names of files may be any bytes: os.fsencode() restores them."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    if row is not None and row.kind == "bool" and value in (0, 1):  # bool, numpy.bool_, 0, 1
        return str(int(value))
    if isinstance(value, Mapping):  # data_shape_schedule={0: (3, 128, 128), 30: (3, 224, 224)}
        return ";".join(f"{key}:{as_text(None, name, v)}" for key, v in value.items())
    if isinstance(value, Iterable) and getattr(value, "shape", None) != ():
        separator = ";" if name.startswith("path_") or name == "file" else ","
        return separator.join(as_text(None, name, v) for v in value)
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if type(value) is float else str(value)


def chosen(name: str, words: dict[str, str], value: str) -> int:
    """The number of C that a word means."""
    if value not in words:
        raise ArgumentError(f"{name}={value!r}: it must be {' or '.join(map(repr, words))}")
    return int(getattr(lib, words[value]))


def assign(setter: Callable[..., int], options: Any, table: tuple[Parameter, ...], values: Mapping[str, Any]) -> list[Any]:
    """Sets options from `values`. Returns their text, which must live as long as the options."""
    rows, kept, err = {row.name: row for row in table}, [], new_error()
    for name in sorted(values, key=lambda n: n != "preset"):  # the recipe first, so that the others override it
        value = values[name]
        if value is None:
            continue
        encoded = os.fsencode(f"{name}={as_text(rows.get(name), name, value)}")
        if b"\0" in encoded:
            raise ArgumentError(f"{name} must not have a zero byte in it", field=name)
        kept.append(ffi.new("char[]", encoded))
        check(setter(options, kept[-1], err), err, field=name)
    return kept


def fill(struct: Any, table: tuple[Parameter, ...], values: Mapping[str, Any], what: str) -> list[Any]:
    """Sets fields of an options struct without a setter. Returns its text, which must live as long as the struct."""
    rows, kept = {row.name: row for row in table}, []
    for name, value in values.items():
        row = rows.get(name)
        if row is None:
            known(name, table, what)
        if row is None or value is None:
            continue
        if row.kind == "text":
            written = as_text(row, name, value)
            kept.append(ffi.new("char[]", written if isinstance(written, bytes) else os.fsencode(written)))
            value = kept[-1]
        elif row.kind == "word":
            if value not in row.unit.split("|"):
                raise ArgumentError(f"{name}={value!r}: it must be one of {', '.join(row.unit.split('|'))}", field=name)
            value = row.unit.split("|").index(value)
        elif row.kind == "bool":
            value = bool(value)
        elif not row.minimum <= value <= row.maximum:
            raise ArgumentError(f"{name}={value!r}: it must be in [{row.minimum:g}, {row.maximum:g}]", field=name)
        setattr(struct, name, value)
    return kept


def default_of(row: Parameter) -> Any:
    """The default as a Python value."""
    if row.kind == "floats":
        return None
    if row.default is None:
        return inspect.Parameter.empty
    if row.kind == "bool":
        return row.default == "1"
    if row.kind in ("int", "float"):
        return {"int": int, "float": float}[row.kind](row.default)
    return row.default


_TYPES = {"text": "Text", "int": "int", "float": "float", "bool": "bool", "shape": "Shape", "word": "str", "share": "str",
          "floats": "Floats | None"}


def signature(table: tuple[Parameter, ...], first: Iterable[inspect.Parameter] = (), returns: Any = None,
              without: Iterable[str] = ()) -> inspect.Signature:
    """The signature for help() and editors: every row as a keyword."""
    skip = set(without)
    rows = sorted((r for r in table if r.name not in skip), key=lambda r: default_of(r) is not inspect.Parameter.empty)
    keywords = [inspect.Parameter(r.name, inspect.Parameter.KEYWORD_ONLY, default=default_of(r),
                                  annotation=_TYPES[r.kind]) for r in rows]
    return inspect.Signature([*first, *keywords], return_annotation=returns)


def describe(table: tuple[Parameter, ...] = ITER) -> str:
    """Describes the parameters of ImageRecordIter (or of another table) as text, one per line, by group."""
    lines: list[str] = []
    for group in dict.fromkeys(row.group for row in table):
        lines += ["", f"{group}:"]
        for row in (r for r in table if r.group == group):
            default = f"default {row.default or repr('')}" if row.default is not None else (
                "default none" if row.kind == "floats" else "required")
            unit = f"{row.unit}; " if row.unit else ""
            written = {"int": "d", "float": "g"}.get(row.kind)
            span = f" [{row.minimum:{written}}, {row.maximum:{written}}]" if written else ""
            lines.append(f"    {row.name}: {row.help} ({unit}{default}{span})")
    return "\n".join(lines).lstrip("\n")
