#!/usr/bin/env python3
"""tests/lint/markdown.py: every link of the documents leads to a file and a heading that exist, every page is in
docs/README.md, files that documents name and documents that sources name exist, and no line except a table's has
more than 120 columns.
"""
import pathlib
import re
import sys

WIDTH = 120
LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
SOURCES = ("*.c", "*.h", "*.py", "*.txt", "*.cmake", "*.sh")


def without_code(text):
    """The same lines, fenced and indented code and code spans emptied."""
    text = re.sub(r"(?ms)^```.*?^```", lambda m: "\n" * m[0].count("\n"), text)
    text = re.sub(r"(?m)^ {4}.*$", "", text)
    return re.sub(r"`[^`\n]+`", lambda m: "`" + "x" * (len(m[0]) - 2) + "`", text)


def anchors(path):
    """What GitHub makes of the headings."""
    found = {}
    text = re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))
    for heading in re.findall(r"(?m)^#{1,6} +(.*?) *$", text):
        heading = re.sub(r"\]\([^)]*\)", "]", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {slug if n == 0 else f"{slug}-{n}" for slug, count in found.items() for n in range(count + 1)}


def check_links(path, wrong):
    linked = set()
    for number, line in enumerate(without_code(path.read_text(encoding="utf-8")).splitlines(), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path.resolve()
            linked.add(file)
            if not file.exists():
                wrong.append(f"{path}:{number}: no file {name}")
            elif anchor and anchor not in anchors(file):
                wrong.append(f"{path}:{number}: no heading for #{anchor} in {name or path}")
    return linked


def check_files(top, path, wrong):
    """Code spans such as `tests/augment/test_image.c`."""
    for name in re.findall(r"`([a-z_]+/[\w/]+\.(?:c|h|py|sh|md|cmake))`", path.read_text(encoding="utf-8")):
        if not any((folder / name).is_file() for folder in (top, top / "include")):
            wrong.append(f"{path}: no file {name}")


def check_width(path, wrong):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if len(line) > WIDTH and not line.startswith("|"):
            wrong.append(f"{path}:{number}: {len(line)} columns, at most {WIDTH}")


def check_named(top, wrong):
    """docs/... in sources."""
    skipped = {"build", ".git"}
    for path in (p for kind in SOURCES for p in top.rglob(kind) if not skipped & set(p.relative_to(top).parts)):
        for name in re.findall(r"\bdocs/[\w/]+\.md\b", path.read_text(encoding="utf-8", errors="replace")):
            if not (top / name).is_file():
                wrong.append(f"{path.relative_to(top)}: no file {name}")


def main():
    top, wrong = pathlib.Path("."), []
    documents = [top / n for n in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests/bench/peers/README.md")]
    documents += sorted(top.glob("docs/**/*.md"))
    linked = {}
    for path in documents:
        linked[path] = check_links(path, wrong)
        check_width(path, wrong)
        check_files(top, path, wrong)
    index = top / "docs/README.md"
    for path in documents:
        if path.parts[0] == "docs" and path != index and path.resolve() not in linked[index]:
            wrong.append(f"{path}: docs/README.md does not link it")
    check_named(top, wrong)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
