#!/usr/bin/env python3
"""over_distance.py [OPTIONS] BUILD FOLDER [key=value ...] - sweeps of a set over a distance, beside the same set's file.

BUILD is a build's folder, FOLDER has the set's *.rec, cold for every sweep of the store, not for the file's (whose
pages are in memory). The iterator runs on one CPU, the scripted server of the tests (tests/support/http_proxy) on
another. File and store take turns; printed are medians of images a second after the first window, of the time to the
first batch, of CPU time an image, and the median of the pairs' ratios, with their range. The key=value are the
iterator's options; `shuffle=1 shuffle_window=64M` by default.

With --curl the turns are those of `curl --parallel` and the iterator's reading alone (no decoding): bytes a second,
CPU time a byte.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.request

SWEEP = """
import json, os, resource, sys, time
import imrec
options, skip = json.loads(sys.argv[1]), int(sys.argv[2])
def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime
began, images, counted, at, used = time.perf_counter(), 0, 0, None, 0
with imrec.ImageRecordIter(**options) as it:
    for batch in it.sweep():
        images += len(batch.ids) - batch.pad
        if at is None and images == len(batch.ids):
            first = time.perf_counter() - began
        if at is None and images >= skip:
            at, used, counted = time.perf_counter(), cpu(), images
    seconds, used = time.perf_counter() - at, cpu() - used
    stats = it.stats()
print(json.dumps({"first": first, "rate": (images - counted) / seconds, "cpu": used / (images - counted), "images": images}))
"""


class Server:
    """The scripted server, on CPU `core`."""

    def __init__(self, build, folder, core, options, rules):
        program = build / "tests" / "http_proxy"
        self.process = subprocess.Popen(["taskset", "-c", str(core), program, "--folder", folder, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = next(w for w in self.process.stdout.readline().split() if w.startswith("http://")).rstrip("/")
        if rules:
            urllib.request.urlopen(self.url + "/_proxy/rules", rules.encode()).read()

    def stats(self):
        return json.load(urllib.request.urlopen(self.url + "/_proxy/stats"))

    def stop(self):
        self.process.kill()
        self.process.wait()


def sweep(build, core, options, skip):
    environment = dict(os.environ, PYTHONPATH=str(build / "python"))
    python = build.parent / "venv" / "bin" / "python3"
    command = ["taskset", "-c", str(core), python if python.exists() else sys.executable, "-c", SWEEP, json.dumps(options),
               str(skip)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def option(text):
    key, value = text.split("=", 1)
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
        if value[:-1].isdigit() and value[-1] in units:
            return key, int(value[:-1]) * units[value[-1]]
        return key, tuple(map(int, value.split(","))) if "," in value else value


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--delay", default="50", help="of each request, ms")
    parser.add_argument("--bandwidth", default="1000000000", help="of the answers, bytes a second")
    parser.add_argument("--rules", default="", help="of the server: http_proxy.h")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("options", nargs="*", type=option)
    args = parser.parse_args()
    build = args.build.absolute()
    options = {"data_shape": (3, 224, 224), "batch_size": 128, "rand_crop": True, "rand_mirror": True, "shuffle": True,
               "shuffle_window": 64 << 20, "preprocess_threads": 1, **dict(args.options)}
    shards = sorted(p.name for p in args.folder.glob("*.rec"))
    images_of_window = 0
    found = {"file": [], "store": []}
    server_cpu = []
    for _ in range(args.pairs):
        for kind in found:
            server = None
            if kind == "store":
                server = Server(build, args.folder.absolute(), 1, ["--delay", args.delay, "--bandwidth", args.bandwidth],
                                args.rules)
            where = server.url if server else str(args.folder.absolute())
            o = dict(options, path_imgrec=";".join(f"{where}/{s}" for s in shards))
            images = images_of_window or 1
            r = sweep(build, 0, o, images)
            if not images_of_window:  # after the first window: an eighth of all is more than that
                images_of_window = r["images"] // 8
            found[kind].append(r)
            if server:
                server_cpu.append(server.stats()["cpu_s"] / r["images"])
                server.stop()
    print(f"{found['file'][0]['images']} images, {args.pairs} pairs, {args.delay} ms, {float(args.bandwidth) / 1e6:.0f} MB/s")
    for kind, runs in found.items():
        print(f"{kind:6} images/s {spread([r['rate'] for r in runs])}  CPU us an image "
              f"{spread([r['cpu'] * 1e6 for r in runs])}  first batch s {spread([r['first'] for r in runs])}")
    pairs = list(zip(found["file"], found["store"]))[1:] or list(zip(found["file"], found["store"]))
    print(f"ratio  images/s {spread([s['rate'] / f['rate'] for f, s in pairs])}  CPU time an image "
          f"{spread([s['cpu'] / f['cpu'] for f, s in pairs])}")
    print(f"server CPU us an image {spread([c * 1e6 for c in server_cpu])}")


if __name__ == "__main__":
    main()
