#!/usr/bin/env python3
"""pass_through.py [--runs N] IM2REC FOLDER WORK - im2rec --pass-through beside cat, in turns.

Both make one file in WORK of all files below FOLDER (class folders), from the page cache. `cat`
leaves its file in the page cache; im2rec ends when everything is on the disk, with index, list and
checksums: on a real disk look at "cat, sync" too. Prints medians and the share of cat's speed.
"""
import argparse
import pathlib
import statistics
import subprocess
import time


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("im2rec")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    files = sorted(p for p in args.folder.rglob("*") if p.is_file())
    names = args.work / "names"
    names.write_bytes(b"".join(bytes(p.absolute()) + b"\0" for p in files))
    out, rec = args.work / "cat.out", args.work / "out.rec"
    cat = f"xargs -0 cat < '{names}' > '{out}'"
    pack = [args.im2rec, "--pass-through", "--force", "--quiet"]
    commands = {
        "cat": ["sh", "-c", cat],
        "cat, sync": ["sh", "-c", f"{cat}; sync '{out}'"],
        "im2rec": [*pack, args.folder, rec],
        "im2rec, 1 thread": [*pack, "--threads", "1", args.folder, rec],
    }
    times = {name: [] for name in commands}
    for _ in range(args.runs):
        for name, command in commands.items():
            for old in args.work.glob("*out*"):
                old.unlink()
            times[name].append(seconds(command))
    bytes_all = sum(p.stat().st_size for p in files)
    print(f"{len(files)} files, {bytes_all / 1e6:.0f} MB, {args.runs} runs in turns")
    for name, t in times.items():
        middle = statistics.median(t)
        print(f"{name:17} {middle * 1e3:8.1f} ms (+- {(max(t) - min(t)) / 2 / middle:4.0%})"
              f"  {statistics.median(times['cat']) / middle:.2f} of cat's speed")


if __name__ == "__main__":
    main()
