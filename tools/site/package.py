"""package.py FOLDER - writes the reference of the Python package, and the tables of all parameters. Runs with the interpreter
for which the package was built; a module whose own requirements are missing (torch, transformers) gets a page that names them."""
import importlib
import inspect
import pathlib
import re
import sys

from words import escape, paragraphs, span

MODULES = ["imrec", "imrec.torch", "imrec.distributed", "imrec.io", "imrec.recordio", "imrec.minibatch", "imrec.sequences",
           "imrec.huggingface", "imrec.errors"]
TABLES = [("ITER", "ImageRecordIter, Loader, imrec batches, imrec bench, imrec view --augmented"),
          ("PACK", "im2rec, imrec.pack()"), ("READER", "imrec info, imrec ls, imrec verify, imrec.open()"),
          ("MINIBATCH", "MinibatchSource, imrec minibatches"), ("DESERIALIZER", "a file of a MinibatchSource"),
          ("CONVERT", "ctf2bin, imrec.convert()")]


def cut_table(doc):
    """A docstring without the parameters that have a page of their own."""
    doc, found, _ = doc.partition("Parameters, by group:")
    return doc.rstrip(), bool(found)


def one(parameter):
    """A parameter as it is written in a signature, its type without quotes."""
    kind = parameter.annotation
    text = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + parameter.name
    if kind is not parameter.empty:
        text += f": {kind if isinstance(kind, str) else getattr(kind, '__name__', kind)}"
    default = parameter.default
    return text if default is parameter.empty else f"{text} = {default.__name__ if inspect.isclass(default) else repr(default)}"


def signature(thing, tabled):
    """The parameters of a function, except those of the tables."""
    try:
        found = [p for p in inspect.signature(thing).parameters.values() if p.name != "self"]
    except (TypeError, ValueError):
        return None
    own = [p for p in found if p.name not in tabled or p.kind is not p.KEYWORD_ONLY]
    texts = [one(p) for p in own]
    keyword = next((i for i, p in enumerate(own) if p.kind is p.KEYWORD_ONLY), None)
    if keyword is not None and not any(p.kind is p.VAR_POSITIONAL for p in own):
        texts.insert(keyword, "*")
    if len(own) < len(found):
        texts.append("**parameters")
    text = f"({', '.join(texts)})"
    return text if len(text) < 90 else "(\n    " + ",\n    ".join(texts) + ")"


def doc_of(thing):
    """A docstring. That of a module keeps its indents: it may have no line at the margin but the first."""
    return (thing.__doc__ if inspect.ismodule(thing) else inspect.getdoc(thing)) or ""


def described(title, thing, names, level):
    doc, has_table = cut_table(doc_of(thing))
    out = ["#" * level + " " + span(title)]
    said = signature(thing, names) if callable(thing) else None
    if said is not None:
        out.append(f"```python\n{title}{said}\n```")
    out.append(paragraphs(doc, terms=True))
    if has_table:
        out.append("[All parameters, with their defaults](/reference/parameters.md).")
    return out


def members(thing, own):
    for name, member in vars(thing).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod))):
            continue
        inner = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if inner and inspect.getdoc(inner):
            yield name, member, inner


def module_page(name, names):
    try:
        module = importlib.import_module(name)
    except ImportError as e:
        return f"# `{name}`\n\nThis page was built without what `{name}` needs: {escape(str(e))}.\n"
    out = [f"# `{name}`", paragraphs(doc_of(module), terms=True)]
    public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    for public_name in sorted(public, key=str.lower):
        thing = getattr(module, public_name)
        if not (inspect.isclass(thing) or inspect.isroutine(thing)) or not doc_of(thing):
            continue
        if not getattr(thing, "__module__", "").startswith("imrec"):
            continue
        out += described(public_name, thing, names, 2)
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            for member_name, member, inner in members(thing, public_name):
                if isinstance(member, property):
                    out += [f"### {span(public_name + '.' + member_name)}", paragraphs(doc_of(inner), terms=True)]
                else:
                    out += described(f"{public_name}.{member_name}", inner, names, 3)
    return "\n\n".join(piece for piece in out if piece) + "\n"


def values(row):
    """What may be given."""
    unit = f" {row.unit}" if re.fullmatch(r"[a-z]{2,}", row.unit) else ""
    if row.kind == "word":
        return ", ".join(map(span, row.unit.split("|")))
    if row.kind == "bool":
        return "0 or 1"
    if row.kind not in ("int", "float"):
        return escape(row.unit)
    if row.maximum >= 2 ** 58:
        return f"{row.minimum} or more{unit}"
    return f"{row.minimum:.9g} to {row.maximum:.9g}{unit}" if row.kind == "float" else f"{row.minimum} to {row.maximum}{unit}"


def tables_page(tables):
    out = ["# Parameters", "Every parameter, from the tables that the library, the programs and the Python package read. "
           "A size in bytes may end in K, M, G or KiB, MiB, GiB (all powers of 1024)."]
    for name, users in TABLES:
        rows = getattr(tables, name)
        out.append(f"## {users}")
        for group in dict.fromkeys(row.group for row in rows):
            out.append(f"### {group}")
            lines = ["| name | |", "|---|---|"]
            for row in rows:
                if row.group == group:
                    default = "required" if row.default is None else f"default {span(row.default)}" if row.default != "" else ""
                    more = "; ".join(text for text in (default, values(row)) if text)
                    lines.append(f"| {span(row.name)} | {escape(row.help)}{f' ({more})' if more else ''} |")
            out.append("\n".join(lines))
    return "\n\n".join(out) + "\n"


def main(folder):
    from imrec import _tables  # made by the build

    names = {row.name for name, _ in TABLES for row in getattr(_tables, name)}
    top = pathlib.Path(folder)
    top.mkdir(parents=True, exist_ok=True)
    (top / "parameters.md").write_text(tables_page(_tables))
    for name in MODULES:
        (top / f"python-{name.replace('.', '-')}.md").write_text(module_page(name, names))


if __name__ == "__main__":
    main(sys.argv[1])
