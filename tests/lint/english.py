#!/usr/bin/env python3
"""tests/lint/english.py [PATH...]: finds words for which plain English has better ones.

Checks prose only: Markdown without code spans and generated tables, comments of C, comments and strings of
Python, comments of shell scripts. Finds phrases across line ends. Without PATH it checks everything below ROOTS.
"""
import io
import pathlib
import re
import sys
import tokenize

ROOTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "include", "python", "examples", "tests/bench/peers/README.md",
         "base", "parallel", "storage", "codec", "formats", "augment", "container", "dataset", "iter", "minibatch",
         "im2rec", "cli", "tools", "data"]
WITH_STRINGS = {".py", ".pyi", ".c", ".h"} # messages, help, rows of the parameter tables

# A regular expression, in which a blank is any white space, and what to write instead.
WORDS = [
    (r"behind", "after (in order), under, inside"),
    (r"beside", "versus (compared), next to, besides"),
    (r"so many", "N, this many, that number"),
    (r"stands?(?! for\b)|stood|standing", "is, is in; runs; remains"),
    (r"told|tells? of", "reported, described, shown; is an error"),
    (r"says? so", "what it says"),
    (r"(?:go|goes|going|gone|went) on", "continue, resume; happen"),
    (r"left out", "skipped, omitted"),
    (r"for who|who waits|who changes|whoever", "for contributors, for callers; the caller"),
    (r"at most this|with this probability|at least this", "the maximum ..., probability of ..."),
    (r"there to be", "can be, must be"),
    (r"what to turn", "what to tune"),
    (r"shall", "must, will; to override"),
    (r"looks? whole|(?:is|are|was|were) whole(?! (?:numbers?|px))", "complete"),
    (r"costs? (?:its|their|a) (?:own )?(?:slots?|places?)", "only its slot fails"),
    (r"(?<!at\s)least(?! significant)", "minimum, smallest, fewest"),
    (r"greatest", "largest, maximum"),
    (r"the most(?= (?:of|that|it|any))", "the maximum"),
    (r"pictures?", "image"),
    (r"(?:the|both|of) originals?(?:'s?)?|originals?'s?", "MXNet, CNTK, dmlc-core by name; source image"),
    (r"as ever|anew|as yet", "again; (leave it out)"),
]

PATTERNS = [(re.compile(r"(?<![\w-])(?:%s)(?![\w-])" % words.replace(" ", r"\s+"), re.I), instead)
            for words, instead in WORDS]


def blank(text):
    """White space of the same shape."""
    return re.sub(r"\S", " ", text)


def markdown(text):
    text = re.sub(r"<!-- (table|speed: begin|peers: begin) -->.*?<!-- ([a-z]+: )?end -->", lambda m: blank(m[0]), text, flags=re.S)
    text = re.sub(r"`[^`\n]+`", lambda m: blank(m[0]), text)
    return re.sub(r"\]\([^)]*\)", lambda m: blank(m[0]), text)


def c_source(text, strings=False):
    """Comments, and with strings these too; everything else, names of files too, is blanked."""
    text = re.sub(r"[\w/]+\.[ch]\b", lambda m: blank(m[0]), text)
    kinds = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
    out, at = [], 0
    for found in kinds.finditer(text):
        out.append(blank(text[at:found.start()]))
        piece = found[0]
        kept = piece[0] == "/" or (strings and piece[0] == '"')
        out.append(re.sub(r"(?m)^\s*\*|^/\*|\*/$|^//|^\"|\"$", lambda m: blank(m[0]), piece) if kept else blank(piece))
        at = found.end()
    return "".join(out) + blank(text[at:])


def python_source(text):
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    out = list(blank(text))
    wanted = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in wanted:
            begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            out[begin:end] = re.sub(r"(?m)^\s*#|[\"']", lambda m: blank(m[0]), text[begin:end])
    return "".join(out)


def shell(text):
    return "".join(line if re.match(r"\s*#|.*\s# ", line) else blank(line) for line in text.splitlines(keepends=True))


def prose(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return markdown(text)
    if path.suffix in (".c", ".h"):
        return c_source(text, path.suffix in WITH_STRINGS)
    if path.suffix in (".py", ".pyi") or text.startswith("#!/usr/bin/env python"):
        return python_source(text)
    return shell(text)


def is_script(path):
    """A program without a suffix, as those of tools/."""
    return path.suffix == "" and path.open("rb").read(2) == b"#!"


def files(roots):
    for root in map(pathlib.Path, roots):
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and (path.suffix in (".md", ".c", ".h", ".py", ".pyi", ".sh", ".txt") or is_script(path)):
                yield path


def main(roots):
    found = 0
    for path in files(roots or ROOTS):
        text = prose(path)
        for pattern, instead in PATTERNS:
            for hit in pattern.finditer(text):
                words = " ".join(hit[0].split())
                print(f"{path}:{text.count(chr(10), 0, hit.start()) + 1}: '{words}': rather {instead}")
                found += 1
    if found:
        print(f"{found} places; the list is in tests/lint/english.py")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
