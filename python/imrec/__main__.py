"""Runs the programs that come with the package: `python -m imrec ARGS` is `imrec ARGS`, `python -m imrec im2rec ARGS` is
`im2rec ARGS`, likewise ctf2bin. The scripts of these names on PATH run this file, too, without importing the package."""
from __future__ import annotations

import os
import shutil
import signal
import sys

PROGRAMS = ("imrec", "im2rec", "ctf2bin")


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def _file_of(program: str) -> str:
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")
    for name in (program, "imrec"):  # a wheel has one file, which is each of them by its name
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    other = shutil.which(program)  # Debian has the programs in a package of their own
    if other is not None and not _is_script(other):  # which would run this file again
        return other
    return os.path.join(folder, program)


def run(program: str, arguments: list[str]) -> int:
    """Replaces this process by the program, with its exit status and signals. Returns only if that fails."""
    path = _file_of(program)
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and the program would inherit that
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    sys.stdout.flush()
    try:
        os.execv(path, [program, *arguments])
    except OSError as why:
        print(f"{program}: cannot run {path}: {why.strerror}", file=sys.stderr)
        return 127


def main(arguments: list[str]) -> int:
    if arguments and arguments[0] in PROGRAMS:
        return run(arguments[0], arguments[1:])
    return run("imrec", arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
