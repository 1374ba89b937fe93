#!/usr/bin/env python3
"""check_circles.py SOURCE BUILD [NM] - fail when files of the product call each other in a circle.

Files are linked as objects; who calls whom is what their symbols say. Circles that remain are
in cmake/circles.txt, each with its reason: a line `file file ...: reason`, files without their
suffix. A line that no circle needs any more is a fault, too: the list only gets shorter.
"""
import pathlib
import subprocess
import sys

OURS = ("base/", "parallel/", "storage/", "formats/", "codec/", "augment/", "container/", "iter/", "split/", "dataset/", "minibatch/",
        "cli/", "im2rec/", "tools/")


def objects(source, build):
    """(name, path) of the product's objects; a name is the source's path without its suffix. A build folder also
    holds objects of files that are gone."""
    for path in sorted(build.rglob("*.c.o")):
        folder, _, rest = path.relative_to(build).as_posix().partition("/CMakeFiles/")
        name = f"{folder}/{rest.partition('.dir/')[2]}".removesuffix(".c.o")
        if name.startswith(OURS) and (source / f"{name}.c").exists():
            yield name, path


def read_symbols(source, build, nm):
    """{name: symbols it defines}, {name: symbols it asks others for}"""
    defined, wanted = {}, {}
    for name, path in objects(source, build):
        listing = subprocess.run([nm, "-P", str(path)], capture_output=True, text=True, check=True).stdout
        for symbol, kind, *_ in map(str.split, listing.splitlines()):
            if kind == "U":
                wanted.setdefault(name, set()).add(symbol)
            elif kind.isupper() and kind != "C":
                defined.setdefault(name, set()).add(symbol)
    return defined, wanted


def calls(defined, wanted):
    """{name: names that it calls}"""
    homes = {}
    for name, symbols in defined.items():
        for symbol in symbols:
            homes.setdefault(symbol, set()).add(name)
    return {name: {home for s in symbols for home in homes.get(s, ()) if home != name} for name, symbols in wanted.items()}


def circles_of(graph):
    """Sets of names that reach each other (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(frozenset(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def read_list(path, faults):
    listed = []
    for n, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        names, _, reason = line.partition(":")
        if not reason.strip():
            faults.append(f"{path.name}:{n}: a circle without a reason")
        listed.append((n, frozenset(names.split())))
    return listed


def main(source, build, nm="nm"):
    faults = []
    listed = read_list(source / "cmake" / "circles.txt", faults)
    graph = calls(*read_symbols(source, build, nm))
    if not graph:
        faults.append(f"{build} holds no objects: build first")
    found = circles_of(graph)
    for circle in found:
        if not any(circle <= names for _, names in listed):
            faults.append(f"files that call each other: {' '.join(sorted(circle))}")
    for n, names in listed:
        if not any(circle <= names for circle in found):
            faults.append(f"circles.txt:{n}: no circle needs this line any more")
    print("\n".join(faults) or f"circles: {len(graph)} files that call others, {len(found)} circles, all of them known")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:]))
