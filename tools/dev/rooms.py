#!/usr/bin/env python3
"""rooms.py [--write] - the rooms of the house, in CONTRIBUTING.md, out of every CMakeLists.txt: a folder with an
imrec_layer() line, and the comment in the file's first line. Without --write, fails where the page differs.
"""
import pathlib
import re
import sys

PAGE = "CONTRIBUTING.md"
BEGIN, END = "<!-- rooms: written by tools/dev/rooms.py -->\n", "<!-- rooms end -->\n"
TOP = ("base", "parallel", "storage", "formats", "codec", "augment", "container", "iter", "split", "dataset", "minibatch", "cli",
       "im2rec", "tools")
LAYER = re.compile(r"^imrec_layer\(\s*\w+(.*?)\)", re.M | re.S)


def room(root, folder, faults):
    """One line: folder, sentence, layers below."""
    text = (root / folder / "CMakeLists.txt").read_text()
    sentence = re.match(r"# (.+)\n", text)
    if not sentence:
        faults.append(f"{folder}/CMakeLists.txt: its first line must say what the room is, as a comment")
    deps = re.search(r"DEPENDS\s+([\w\s]+?)(?=\s+[A-Z]{3,}\b|\s*$)", LAYER.search(text)[1])
    below = " ".join(deps[1].split()) if deps else ""
    return f"| `{folder}/` | {sentence[1] if sentence else ''} | {below} |\n"


def table(root, faults):
    lines = ["| room | what it is | may call |\n", "|---|---|---|\n"]
    for top in TOP:
        for cmake in sorted(root.joinpath(top).rglob("CMakeLists.txt")):
            if LAYER.search(cmake.read_text()):
                lines.append(room(root, cmake.parent.relative_to(root).as_posix(), faults))
    return "".join(lines)


def main(root, write):
    faults = []
    page = root / PAGE
    text = page.read_text()
    before, rest = text.split(BEGIN)
    now = before + BEGIN + "\n" + table(root, faults) + "\n" + END + rest.split(END)[1]
    if write:
        page.write_text(now)
    elif now != text:
        faults.append(f"{PAGE}: its rooms differ from the CMakeLists.txt: tools/dev/rooms.py --write")
    print("\n".join(faults) or f"rooms: {PAGE} says what the folders say")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parents[2], "--write" in sys.argv[1:]))
