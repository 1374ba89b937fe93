#!/usr/bin/env python3
"""golden.py BUILD [options] - compares what the programs of a build write with sums that are kept.

Makes data with the build's own make_photos, runs im2rec, imrec and ctf2bin over it, and takes the
first 16 digits of the SHA-256 and the size of every file and dump. outputs.txt has a line for each,

    case<TAB>artifact<TAB>sha256 size

and vectors.txt the same of the shared vectors, where $IMREC_SHARED, or ../shared beside the
project, has them. Sentences, times, the version and a card's `source` are left out before. A case
that has a program fail has a line with the statuses too.

The exit status is 0 where all is equal, 1 where a case differs: each is named, with its commands.
It is 77 where cases differ but the libraries are others than those that the file names: another
libjpeg-turbo or zlib writes other bytes.

    --only REGEX   runs the cases with such names, and those that they read
    --keep FOLDER  leaves everything there, to repeat commands and to compare with another build
    --jobs N       programs at the same time; the default is one a CPU
    --write        writes outputs.txt and vectors.txt anew. Only for a deliberate change of output:
                   whoever does it says in the commit which cases change, and why.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True # the tests write nothing into the tree
# pylint: disable=wrong-import-position
import batches
import inputs
import packing
import sequences
import sets
import vectors
from case import Case, files_below, folder_of, read

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("im2rec", "imrec", "ctf2bin", "make_photos")
MODULES = ("libsparkle.so", "libppm.so", "libsources.so") # an augmenter, and two sources
LIBRARIES = ("libjpeg", "libspng", "libwebp", "libtiff", "libgif", "libz")
COMMANDS_OF = 40 # so many cases that differ are told with their commands


# ---- the build --------------------------------------------------------------------------------------


def find_programs(build):
    """Path of each program and module, wherever it lies in the build."""
    found = {}
    for folder, below, names in os.walk(build):
        below[:] = [b for b in below if b not in ("CMakeFiles", "venv")]
        for name in names:
            path = os.path.join(os.path.abspath(folder), name)
            if name in PROGRAMS + MODULES and os.access(path, os.X_OK): # scripts of a wheel bear the names too
                found.setdefault(name, path)
    missing = [name for name in PROGRAMS + MODULES if name not in found]
    if missing:
        sys.exit(f"golden: {build} has no {', '.join(missing)}: build it first")
    return found


def libraries(program):
    """Names and versions of what decides bytes beside the project: image libraries, the C library."""
    try:
        listed = subprocess.run(["ldd", program], check=True, capture_output=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        listed = ""
    paths = [line.split("=>")[1].split("(")[0].strip() for line in listed.splitlines() if "=>" in line]
    names = [os.path.basename(os.path.realpath(path)) for path in paths]
    libc = os.confstr("CS_GNU_LIBC_VERSION") or "another-libc"
    return sorted(name for name in names if name.split(".so")[0] in LIBRARIES) + [libc.replace(" ", "-")]


# ---- running ----------------------------------------------------------------------------------------


class Runner:
    """Runs cases, and has them by name in the order of the tables."""

    def __init__(self, root, programs, jobs):
        self.root, self.programs, self.jobs = root, programs, jobs
        self.done = {}

    def run_one(self, name, function):
        case = Case(self.root, self.programs, name)
        try:
            function(case)
        except Exception: # pylint: disable=broad-except # a case that cannot go on is one that differs
            case.lines = [("broken", traceback.format_exc().strip().splitlines()[-1].replace("\t", " "))]
        return case

    def run(self, listed):
        """Runs (name, function) cases; they must not read what others of them write."""
        listed = [(name.strip() + ("plain" if name.endswith("/") else ""), function) for name, function in listed]
        folders = collections.Counter(folder_of(name) for name, _ in listed)
        if len(folders) < len(listed):
            sys.exit(f"golden: cases of one name: {[folder for folder, n in folders.items() if n > 1]}")
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for case in pool.map(lambda c: self.run_one(*c), listed):
                self.done[case.name] = case


def make_inputs(case):
    inputs.make(case)
    for name in sorted(os.listdir(case.at("in"))):
        files = files_below(case.at("in/" + name))
        case.keep(name, b"".join(os.path.relpath(path, case.root).encode() + b"\0" + read(path) for path in files))


def run_outputs(runner, only):
    """Inputs, then what packs them, then all that reads the sets."""
    def wanted(listed):
        return [c for c in listed if only is None or only.search(c[0])]
    for name in MODULES: # by the same path in every build
        shutil.copyfile(runner.programs[name], os.path.join(runner.root, name))
    readers = wanted([c for family in (batches, sets, sequences) for c in family.cases()])
    first = list(packing.cases()) + list(sequences.conversions())
    runner.run([("data/inputs", make_inputs)])
    runner.run(first if readers else wanted(first))
    if readers:
        runner.run([("data/damage", packing.damage)])
    runner.run(readers)


def run_vectors(runner, only, shared):
    os.symlink(os.path.abspath(shared), os.path.join(runner.root, "vectors"))
    runner.run([c for c in vectors.cases(shared) if only is None or only.search(c[0])])


# ---- comparing --------------------------------------------------------------------------------------


def as_lines(runner):
    done = runner.done.values()
    return [f"{case.name}\t{artifact}\t{what}" for case in done for artifact, what in case.results()]


def read_lines(path):
    """The file's libraries, and {case: {artifact: sum}}."""
    names, known = [], {}
    with open(path, encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith("# libraries:"):
                names = line.split(":", 1)[1].split()
            elif not line.startswith("#"):
                case, artifact, what = line.split("\t")
                known.setdefault(case, {})[artifact] = what
    return names, known


def differences(runner, known, all_ran):
    """(case, what differs, commands) of each; cases that did not run only where all should have."""
    out = []
    for case in runner.done.values():
        now, then = dict(case.results()), known.get(case.name, {})
        differs = [artifact for artifact in then if artifact in now and now[artifact] != then[artifact]]
        differs += ["no " + artifact for artifact in then if artifact not in now]
        differs += ["new: " + artifact for artifact in now if artifact not in then]
        if differs:
            out.append((case.name, differs, case.commands))
    if all_ran:
        out += [(name, ["the case is gone"], []) for name in known if name not in runner.done]
    return out


def report(found, what):
    for i, (name, differs, commands) in enumerate(found):
        print(f"{name}: {', '.join(differs)}")
        for command in commands if i < COMMANDS_OF else ():
            print("    " + command)
    if found:
        print(f"golden: {len(found)} cases differ from {what}")


def write_log(runner, path):
    """What each case runs, and what the programs say: for reading, never compared."""
    with open(path, "w", encoding="utf-8") as f:
        for case in runner.done.values():
            f.write(f"== {case.name}: {' '.join(case.statuses)}\n" + "\n".join(case.commands) + f"\n{case.said}")


def write_lines(path, lines, here):
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"# Written by golden.py --write; its head says when.\n# libraries: {' '.join(here)}\n")
        f.write("".join(line + "\n" for line in lines))


def settle(runner, name, args, here):
    """Compares with, or writes, the file; returns an exit status."""
    path, lines = os.path.join(HERE, name), as_lines(runner)
    write_log(runner, os.path.join(runner.root, name + ".log"))
    broken = [line for line in lines if "\tbroken\t" in line]
    if args.write and broken:
        sys.exit("golden: nothing is written: cases could not go on:\n" + "\n".join(broken))
    if args.write:
        write_lines(path, lines, here)
    names, known = read_lines(path)
    found = differences(runner, known, args.only is None)
    report(found, name)
    if not found:
        print(f"golden: {len(runner.done)} cases, {len(lines)} artifacts equal {name}")
    elif names != here:
        print(f"golden: skipped: {name} is of {' '.join(names)}; here are {' '.join(here)}")
        return 77
    return 1 if found else 0


def run_all(args, root):
    programs = find_programs(args.build)
    here = libraries(programs["im2rec"])
    runner = Runner(root, programs, args.jobs)
    run_outputs(runner, args.only)
    statuses = [settle(runner, "outputs.txt", args, here)]
    shared = os.path.join(os.environ.get("IMREC_SHARED") or os.path.join(HERE, "../../../shared"), "vectors")
    if os.path.isdir(shared):
        runner = Runner(root, programs, args.jobs)
        run_vectors(runner, args.only, shared)
        statuses.append(settle(runner, "vectors.txt", args, here))
    else:
        print(f"golden: vectors.txt is not compared: no vectors at {shared} (set IMREC_SHARED)")
    return 1 if 1 in statuses else max(statuses)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("--only", type=re.compile, metavar="REGEX")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.write and args.only is not None:
        parser.error("--write is of all cases, not of --only some")
    began = time.monotonic()
    if args.keep is not None:
        os.makedirs(args.keep)
        status = run_all(args, os.path.abspath(args.keep))
    else:
        with tempfile.TemporaryDirectory(prefix="imrec-golden-") as root:
            status = run_all(args, root)
    print(f"golden: {time.monotonic() - began:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
