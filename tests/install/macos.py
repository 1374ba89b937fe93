"""macos.py NINJA BUILD FOLDER - compiles every file of the library, the programs and the toolbox for macOS, on Apple's and
on Intel's processors, by Zig (PyPI: ziglang), which has the headers of macOS's own library. Nothing is linked or run.

Exits 77, and says why, where Zig cannot be had.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of libraries, which Homebrew has in folders of their own: not all of /usr/include, which is that of Linux.
HEADERS = ("jpeglib.h jmorecfg.h jerror.h jconfig.h spng.h webp tiff.h tiffio.h tiffvers.h tiffconf.h gif_lib.h zlib.h zconf.h "
           "jansson.h jansson_config.h curl expat.h expat_external.h expat_config.h Random123 openssl/*").split()
TARGETS = {"aarch64-macos": r"_(avx2|avx512|bmi2)[.]c$", "x86_64-macos": r"_neon[.]c$"}  # and what is not theirs
OTHERS = re.compile(r"/(tests|examples|mpi|build)/")  # im2rec --mpi needs an MPI


def zig(folder):
    python = folder / "venv/bin/python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
    if subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-q", "install", "ziglang"]).returncode:
        print("skipped: pip cannot get ziglang")
        sys.exit(77)
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = str(folder / "cache")
    return [str(python), "-m", "ziglang", "cc"]


def headers(folder):
    """Links to the headers of libraries, and to an omp.h."""
    into = folder / "include"
    for name in HEADERS:
        for place in ("/usr/include", "/usr/include/x86_64-linux-gnu"):
            for found in pathlib.Path(place).glob(name):
                link = into / found.relative_to(place)
                link.parent.mkdir(parents=True, exist_ok=True)
                if not link.exists():
                    link.symlink_to(found)
    omp = subprocess.run(["cc", "-print-file-name=include/omp.h"], capture_output=True, text=True).stdout.strip()
    if not (into / "omp.h").exists():
        (into / "omp.h").symlink_to(omp)
    return into


def files(ninja, build):
    """What is compiled of the project, once each: file, flags."""
    text = subprocess.run([ninja, "-C", build, "-t", "compdb"], capture_output=True, text=True, check=True).stdout
    found = {}
    for step in json.loads(text[text.index("["):]):
        path = str((pathlib.Path(step["directory"]) / step["file"]).resolve())
        if path.endswith(".c") and " -c " in step["command"] and path.startswith(str(ROOT)):
            if not OTHERS.search(path[len(str(ROOT)):]):
                found[path] = [w for w in shlex.split(step["command"]) if re.match(r"-(I/|D|std=|W|fopenmp|m)", w) and "FORTIFY" not in w]
    return found


def compile_one(compiler, target, path, flags, folder):
    out = folder / target / (path[len(str(ROOT)) + 1:].replace("/", "-") + ".o")
    run = subprocess.run([*compiler, "-target", target, *flags, "-D_DARWIN_C_SOURCE", "-isystem", str(folder / "include"), "-Werror", "-c", path, "-o", str(out)],
                         capture_output=True, text=True)
    return path, run.returncode, run.stderr


def main():
    ninja, build, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    compiler = zig(folder)
    headers(folder)
    all_files, failed = files(ninja, build), 0
    assert len(all_files) > 500, "the project has more files than that"
    for target, others in TARGETS.items():
        (folder / target).mkdir(exist_ok=True)
        mine = {p: f for p, f in all_files.items() if not re.search(others, p)}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, status, text in pool.map(lambda one: compile_one(compiler, target, *one, folder), mine.items()):
                if status != 0:
                    failed += 1
                    print(f"{target}: {path[len(str(ROOT)) + 1:]}\n{text}")
        print(f"{target}: {len(mine)} files")
    sys.exit(failed != 0)


main()
