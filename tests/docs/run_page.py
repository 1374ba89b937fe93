#!/usr/bin/env python3
"""run_page.py PAGE PHOTOS - runs what a page of the documents shows, as written, in a new folder that has photos/ (a copy of
PHOTOS, a folder of images by class), from top to bottom.

    ```sh        by bash, and an error ends it; so are lines of a $ prompt in ```console, whose output must be what follows
    ```python    all of a page in one process, one after another
    ```c         into the file that a comment before it names: <!-- file: train.c -->; so is ```python with such a comment

A comment before a block changes that: <!-- needs: torchvision --> skips it, with a sentence, where a module or a program is
missing; so <!-- check: torchvision --> is Python that nobody sees, which checks what the page says. <!-- not run: why --> is
not run. <!-- store: s3 --> starts a store in memory, whose buckets are there already, for all that follows. Exits 77 if nothing failed, but a check was skipped, or nothing ran.
"""
import atexit
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

BLOCK = re.compile(r"^<!-- (?P<word>needs|not run|file|store|check)(?:: ?(?P<rest>[^\n]*?))?(?P<end> -->\n|\n(?P<body>.*?)^-->\n)|"
                   r"^```(?P<language>sh|console|python|c)\n(?P<code>.*?)^```$", re.M | re.S)


class Mistake(Exception):
    pass


def missing(names):
    """The first of these modules and programs (in brackets: `[cc]`) that is not there."""
    for name in names:
        if name.startswith("["):
            if not shutil.which(name[1:-1]):
                return name[1:-1]
            continue
        try:
            importlib.import_module(name)
        except ImportError:
            return name
    return None


def shell(code):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Mistake(f"exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def console(code):
    """Lines after a prompt, and what each of them must print."""
    for piece in re.split(r"(?m)^\$ ", code)[1:]:
        command, _, expected = piece.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command += "\n" + more
        printed = shell(command)
        if printed.strip() != expected.strip():
            raise Mistake(f"$ {command}\nprints\n{printed}\nand not\n{expected}")


def serve():
    """A store as S3, of this process, and the variables that lead to it."""
    server = subprocess.Popen([sys.executable, pathlib.Path(__file__).parents[1] / "support/fake_bucket.py", ".port"])
    atexit.register(server.kill)
    while not os.path.exists(".port"):
        time.sleep(0.02)
    port = pathlib.Path(".port").read_text()
    os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="eu-west-1",
                      AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")


def steps(text):
    """(line, language, code, modules it needs, reason not to run, file) of what is to be run."""
    needs, reason, file = [], None, None
    written = len(re.findall(r"(?m)^<!-- (?:needs|not run|file|store|check)\b|^```(?:sh|console|python|c)$", text))
    if written != len(BLOCK.findall(text)):
        raise SystemExit("a block or a comment of this page does not end, or is not written as run_page.py reads it")
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        word, rest = found["word"], (found["rest"] or "").split()
        if word == "needs":
            needs = rest
        elif word == "not run":
            reason = found["rest"]
        elif word == "file":
            file = found["rest"]
        elif word == "store":
            yield line, "store", "", [], None, None
        elif word == "check":
            yield line + 1, "check", found["body"], rest, None, None
        else:
            yield line + 1, found["language"], found["code"], needs, reason, file
            needs, reason, file = [], None, None


def refuse_indented(page, text):
    """docs/README.md promises of these folders that all code is run; what is indented is not."""
    rest = BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text)
    indented = re.search(r"^\s*\n    \S", rest, re.M)
    if indented and page.parent.name in ("tutorial", "migrate"):
        raise SystemExit(f"{page}:{rest.count(chr(10), 0, indented.end()) + 1}: code that is indented is not run: fence it")


def run(page, names):
    ran, unchecked = 0, 0
    text = page.read_text(encoding="utf-8")
    refuse_indented(page, text)
    for line, language, code, needs, reason, file in steps(text):
        where = f"{page}:{line}"
        lacking = missing(needs)
        if reason or lacking:
            unchecked += language == "check"
            print(f"{where}: skipped: {reason or f'no {lacking} here'}")
            continue
        ran += 1
        try:
            if file:
                pathlib.Path(file).write_text(code, encoding="utf-8")
            elif language == "c":
                raise Mistake("no comment names its file")
            elif language == "store":
                serve()
            elif language in ("python", "check"):
                exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
            else:
                (console if language == "console" else shell)(code)
        except Mistake as e:
            print(f"{where}: {e}")
            return 1
    return 77 if unchecked or not ran else 0


def main(page, photos):
    page = pathlib.Path(page).resolve()
    with tempfile.TemporaryDirectory(prefix="imrec-page-") as folder:
        shutil.copytree(photos, pathlib.Path(folder) / "photos")
        (pathlib.Path(folder) / "photos/LICENSES.csv").touch()  # a file that is in no class, as folders of images have them
        os.chdir(folder)
        os.environ["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
        try:
            status = run(page, {"__name__": "__main__"})
        finally:
            os.chdir("/")
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
