"""Makes the binding of the Python package to the C library from its public headers.

    binding.py INCLUDE_DIR C_COMPILER OUT.c OUT.py

OUT.c is the extension module `imrec._imrec` (cffi, API mode, stable ABI): every function, struct,
enum and number of imrec/imrec.h. For every callback type `imrec_NAME_fn`, and as `store_NAME` for
every function of struct imrec_store, it has a pointer `on_NAME` to give to C, which calls the
function of that name that imrec._ffi.callback() defines. OUT.py is the parameter tables, as data
and as types. A new header that imrec/imrec.h includes needs no change here.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cffi import FFI

TABLES = {  # macro of the headers -> names of the table and of its keywords' type
    "IMREC_ITER_PARAMS": ("ITER", "IterParameters"),
    "IMREC_PACK_PARAMS": ("PACK", "PackParameters"),
    "IMREC_MINIBATCH_PARAMS": ("MINIBATCH", "MinibatchParameters"),
    "IMREC_DESERIALIZER_PARAMS": ("DESERIALIZER", "DeserializerParameters"),
    "IMREC_CONVERT_PARAMS": ("CONVERT", "ConvertParameters"),
    "IMREC_READER_PARAMS": ("READER", "ReaderParameters"),
}


def preprocess(include, compiler, text):
    """`text` after the C preprocessor, without the contents of system headers."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            Path(folder, name).write_text("")
        source = Path(folder, "all.c")
        source.write_text(text)
        return subprocess.run([compiler, "-std=c11", "-E", "-P", "-nostdinc", "-I", folder, "-I",
                               include, str(source)], check=True, capture_output=True, text=True).stdout


def without_bodies(text):
    """Static inline functions as declarations: cffi can call them."""
    out, at = [], 0
    for m in re.finditer(r"static inline ([^{;]*)\{", text):
        depth, end = 1, m.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        out += [text[at:m.start()], m[1].strip(), ";"]
        at = end
    return "".join(out) + text[at:]


def whole_numbers(include):
    """Names of the object-like macros that are integers."""
    text = "".join(p.read_text() for p in sorted(Path(include, "imrec").glob("*.h")))
    return re.findall(r"^#define (IMREC_\w+) +(?=[-(]*(?:\(uint64_t\))?[\dU(I])(?!IMREC)[^\"\n\\]*$", text, re.M)


def declared(include, compiler):
    """What imrec/imrec.h declares, for cffi."""
    text = preprocess(include, compiler, '#include "imrec/imrec.h"\n')
    return without_bodies(re.sub(r"__attribute__\s*\(\(.*?\)\)(?=\s)", "", text))


def callbacks_of(text):
    """(result, name, arguments) of every callback type, and of every function of a store."""
    callbacks = re.findall(r"typedef ([\w\s]*[\s*])imrec_(\w+)_fn\(([^;]*)\);", text)
    members = re.search(r"struct imrec_store \{(.*?)\};", text, re.S)[1]
    callbacks += [(result, f"store_{name}", args) for result, name, args in
                  re.findall(r"([\w\s]*\s)\(\*(\w+)\)\(([^;]*)\);", members)]
    return [tuple(" ".join(part.split()) for part in callback) for callback in callbacks]


def declarations(include, text):
    for result, name, args in callbacks_of(text):
        text += f'extern "Python" {result} python_{name}({args});\nstatic {result} (*const on_{name})({args});\n'
    return text + "".join(f"#define {name} ...\n" for name in whole_numbers(include))


def pointers(text):
    """The pointers on_NAME, in C: Python's functions, between what callback.h does."""
    out = [Path(__file__).with_name("callback.h").read_text()]
    for result, name, args in callbacks_of(text):
        names = ", ".join(re.findall(r"(\w+)(?:,|$)", args))
        keep, give = ("", "") if result == "void" else (f"{result} result = ", " return result;")
        out.append(f"static {result} python_{name}({args});\n"
                   f"static {result} call_{name}({args}) {{ enter_python(); {keep}python_{name}({names}); leave_python();{give} }}\n"
                   f"static {result} (*const on_{name})({args}) = call_{name};\n")
    return "".join(out)


def rows_of(include, compiler, macro):
    """The rows of one table, as tuples."""
    text = '#include "imrec/imrec.h"\n#define FIRST(help, ...) help\n' \
           '#define ROW(ctype, name, preset, lo, hi, unit, group, ...) \\\n' \
           f'@@ (#ctype, #name, preset, "" #lo, "" #hi, unit, group, FIRST(__VA_ARGS__,))\n{macro}(ROW)\n'
    names = {"INT64_MAX": 2**63 - 1, "INT32_MAX": 2**31 - 1, "NULL": None}
    rows = []
    for piece in preprocess(include, compiler, text).split("@@")[1:]:
        row = list(eval(piece, names))  # our own header's literals
        for i in (3, 4):  # integers stay integers: INT64_MAX / 16
            row[i] = eval(row[i].replace("/", "//"), names)
        rows.append(row)
    return rows


def type_of(ctype, unit):
    """The Python type of a keyword's value."""
    if ctype.startswith("enum"):
        words = f"Literal[{', '.join(repr(word) for word in unit.split('|'))}]"
        return f"Union[{words}, DType]" if {"uint8", "float32"} & set(unit.split("|")) else words
    if ctype == "const char *":
        return "Text"
    return {"int64_t": "int", "float": "float", "bool": "bool", "struct imrec_shape": "Shape",
            "struct imrec_share": "str"}[ctype]


OTHER_TYPES = {"epoch_size": "Union[int, Literal['INFINITELY_REPEAT', 'FULL_DATA_SWEEP']]",
               "data_shape_schedule": "Union[Text, Mapping[int, Shape]]"}


def kind_of(ctype):
    return {"const char *": "text", "int64_t": "int", "float": "float", "bool": "bool",
            "struct imrec_shape": "shape", "struct imrec_share": "share"}.get(ctype, "word")


POSITIONAL = ("path_imgrec",)  # also a positional parameter, which the function declares itself
OWN = {"IterParameters": [("mean", "Floats", "mean_r, mean_g, mean_b (, mean_a) at once"),
                          ("std", "Floats", "std_r, std_g, std_b (, std_a) at once"),
                          ("image", "str", "of a source: the name of its images"),
                          ("label", "str", "of a source: the name of its labels"),
                          ("fetch_threads", "int", "of a source: threads that fetch its samples"),
                          ("fetch_records", "int", "of a source: samples of a call at most")]}
# imrec.torch.Loader: name -> (of these, without, no longer required)
DERIVED = {"LoaderParameters": ("IterParameters", ("num_parts", "part_index"), ("data_shape",))}
HEAD = '''"""The parameter tables of the C headers; generated by python/binding.py."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Mapping, NamedTuple, Sequence, TypedDict, Union

if TYPE_CHECKING:
    import numpy as np
    import torch  # type: ignore[import-not-found,unused-ignore]
    from typing_extensions import Required

    from ._fetch import Source
    from ._reader import Records

Text = Union[str, "os.PathLike[str]", Sequence[Any]]
Shards = Union[Text, "Records"]
Data = Union[Shards, "Source"]
Shape = Union[str, int, Sequence[int]]
DType = Union["np.dtype[Any]", "type[np.generic]", "torch.dtype"]
Floats = Union[float, Sequence[float], "np.ndarray[Any, Any]"]


class Parameter(NamedTuple):
    """A row of a table. `default` is text; None: the parameter is required."""

    name: str
    kind: str  # text, int, float, bool, word, shape, share; floats: only in Python
    default: str | None
    minimum: float
    maximum: float
    unit: str  # or the allowed words
    group: str
    help: str


'''


def typed(name, fields):
    lines = [f"\n\nclass {name}(TypedDict, total=False):\n"]
    lines += [f"    {field}: {kind if optional else f'Required[{kind}]'}  # {text}\n" for field, kind, text, optional in fields]
    return "".join(lines)


def tables(include, compiler):
    out, fields = [HEAD], {}
    for macro, (name, keywords) in TABLES.items():
        rows = rows_of(include, compiler, macro)
        out.append(f"{name}: tuple[Parameter, ...] = (\n")
        out += [f"    Parameter({p!r}, {kind_of(t)!r}, {d!r}, {lo!r}, {hi!r}, {u!r}, {g!r}, {h!r}),\n"
                for t, p, d, lo, hi, u, g, h in rows]
        fields[keywords] = [(p, OTHER_TYPES.get(p) or type_of(t, u), h, d is not None)
                            for t, p, d, _, _, u, _, h in rows if p not in POSITIONAL]
        known = {field[0] for field in fields[keywords]}
        fields[keywords] += [(*own, True) for own in OWN.get(keywords, ()) if own[0] not in known]
        out.append(")\n" + typed(keywords, fields[keywords]) + "\n\n")
    for name, (base, without, optional) in DERIVED.items():
        out.append(typed(name, [(f, kind, text, default or f in optional) for f, kind, text, default in fields[base]
                                if f not in without]).lstrip("\n"))
    return "".join(out).rstrip() + "\n"


def main(include, compiler, c_file, py_file):
    ffi = FFI()
    text = declared(include, compiler)
    ffi.cdef(declarations(include, text) + "extern const char imrec_py_version[];\n"
             "int imrec_py_in_callback(void);\n")
    ffi.set_source("imrec._imrec", '#include "imrec/imrec.h"\n'
                   'static const char imrec_py_version[] = IMREC_VERSION_STRING;\n' + pointers(text))
    ffi.emit_c_code(c_file)
    Path(py_file).write_text(tables(include, compiler))


if __name__ == "__main__":
    main(*sys.argv[1:])
