#!/usr/bin/env python3
"""stage.py SOURCE MANUALS STAGE - the pages of the site: those of docs/, README, CHANGELOG and CONTRIBUTING with links that
lead within the site, files of the tree that they link, the C reference made of include/imrec/*.h, and the manual pages.

The navigation is that of docs/README.md: its headings, its bold rows, and under each the pages that are linked there first, in
the second column of its tables.
"""
import os
import pathlib
import re
import shutil
import sys

import headers
import manuals

LINK = re.compile(r"(\[(?:[^\]\[]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
CODE = re.compile(r"(?ms)^```.*?^```|^ {4}[^\n]*$")
CODE_AFTER = r"(%s[^\n]*:\n\n(?:<!--[^>]*-->\n)?```.*?^```)$"
PAIR = re.compile(r"(?ms)^" + CODE_AFTER % "With (?!imrec)" + r"\s+^" + CODE_AFTER % "With imrec")
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".sh": "sh", ".yaml": "yaml", ".txt": "cmake"}
IMAGES = {".svg", ".jpg", ".png"}
OTHERS = {"README.md": "overview", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
REFERENCE = [("Parameters", "reference/parameters"), ("The C library", "reference/c"), ("The Python package", "reference/python"),
             ("im2rec(1)", "reference/im2rec"), ("imrec(1)", "reference/imrec"), ("ctf2bin(1)", "reference/ctf2bin")]


def side_by_side(pair):
    """The codes of a migration next to each other, where there is room (site.css)."""
    return "`````{container} pair\n" + "".join(f"````{{container}}\n{code}\n````\n" for code in pair.groups()) + "`````"


class Stage:
    def __init__(self, source, target):
        self.source, self.target = source.resolve(), target.resolve()
        self.files = []  # of the tree, that pages link

    def place(self, path):
        """Where the page of a file of the tree is in the site, without its suffix; of an image, with it."""
        name = path.relative_to(self.source).as_posix()
        if name in OTHERS:
            return OTHERS[name]
        if name == "docs/README.md":
            return "index"
        if name.startswith("docs/") and path.suffix == ".md":
            return name[len("docs/"):-len(".md")]
        if path.suffix in IMAGES:
            return name
        if name.startswith("include/imrec/"):
            return "reference/" + ("c" if path.stem == "imrec" else f"c-{path.stem}")
        return f"source/{name}"

    def write(self, place, text):
        path = self.target / f"{place}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def link(self, path, here, target):
        """What a link of the page of `path`, at `here`, leads to in the site."""
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not name:
            return target
        file = (path.parent / name).resolve()
        place = self.place(file)
        if file.suffix in IMAGES:
            copy = self.target / place
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        elif place.startswith("source/"):
            self.files.append(file)
            place += ".md"
        else:
            place += ".md"
        return os.path.relpath(place, pathlib.PurePath(here).parent) + ("#" + anchor if anchor else "")

    def page(self, path):
        here, text = self.place(path), path.read_text(encoding="utf-8")
        out, at = [], 0
        for code in CODE.finditer(text):
            out += [self.linked(text[at:code.start()], path, here), code[0]]
            at = code.end()
        text = PAIR.sub(side_by_side, "".join(out) + self.linked(text[at:], path, here))
        self.write(here, text)
        return here, text

    def linked(self, text, path, here):
        return LINK.sub(lambda m: m[1] + self.link(path, here, m[2]) + m[3], text)

    def file(self, path):
        name = path.relative_to(self.source).as_posix()
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.is_file())
            self.files += inside
            text = "\n".join(f"- [{p.name}]({path.name}/{p.name}.md)" for p in inside)
        else:
            fence = LANGUAGES.get(path.suffix, "text")
            text = f"````{fence}\n{path.read_text(encoding='utf-8')}````"
        self.write(self.place(path), f"---\norphan: true\n---\n\n# `{name}`\n\n{text}\n")


def toctree(caption, entries):
    lines = "\n".join(f"{title} <{page}>" if title else page for title, page in entries)
    return f"```{{toctree}}\n:hidden:\n:titlesonly:\n:caption: {caption}\n\n{lines}\n```\n" if entries else ""


def navigation(text):
    """Sections of the entry page and the pages that each is the first to link."""
    sections, seen = [], {"index", *OTHERS.values()}
    for line in text.splitlines():
        begin = re.match(r"## (.*)|\| \*\*(.*?)\*\* \|", line)
        if begin:
            sections.append((begin[1] or begin[2], []))
        for _, target, _ in LINK.findall("".join(line.split(" | ")[1:2])):
            page = target.partition("#")[0]
            if page.endswith(".md") and page[:-3] not in seen and not page.startswith(("source/", "reference/")) and sections:
                seen.add(page[:-3])
                sections[-1][1].append((None, page[:-3]))
    return "\n".join(toctree(*section) for section in sections)


def c_reference(stage):
    paths = sorted((stage.source / "include/imrec").glob("*.h"))
    known = headers.Names(paths)
    lines = ["# The C library", "`#include <imrec/imrec.h>` includes all of these headers. Link with `pkg-config --libs imrec` "
             "or, in CMake, with `imrec::imrec` ([Build and install](/guide/install.md)).", "| header | |\n|---|---|"]
    for path in paths:
        if path.stem == "imrec":
            continue
        place = stage.place(path)
        stage.write(place, headers.page(path, known))
        lines[-1] += f"\n| [imrec/{path.name}](/{place}.md) | {headers.summary(path)} |"
    pages = [(None, "/" + stage.place(p)) for p in paths if p.stem != "imrec"]
    stage.write("reference/c", "\n\n".join(lines) + "\n\n" + toctree("Headers", pages))


def main(source, manual_pages, target):
    stage = Stage(pathlib.Path(source), pathlib.Path(target))
    for path in sorted((stage.source / "docs").rglob("*.md")):
        here, text = stage.page(path)
        if here == "index":
            index = text
    for name in OTHERS:
        stage.page(stage.source / name)
    while stage.files:
        stage.file(stage.files.pop())
    c_reference(stage)
    for path in sorted(pathlib.Path(manual_pages).glob("*.1")):
        stage.write(f"reference/{path.stem}", manuals.page(path))
    python = sorted(p.stem for p in (stage.target / "reference").glob("python-*.md"))
    stage.write("reference/python", "# The Python package\n\n" + "\n".join(f"- [imrec{p[12:].replace('-', '.')}]({p}.md)" for p in python)
                + "\n\n" + toctree("Modules", [(None, p) for p in python]))
    stage.write("index", index + "\n" + navigation(index) + "\n" + toctree("Reference", REFERENCE)
                + "\n" + toctree("Project", [("Overview", "overview"), ("Changes", "changelog"), ("Contribute", "contributing")]))


if __name__ == "__main__":
    main(*sys.argv[1:])
