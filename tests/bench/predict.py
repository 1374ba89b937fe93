#!/usr/bin/env python3
"""predict.py [--rounds N] [--seconds S] BUILD - real runs beside what `simulate read|pack` predicts for them.

BUILD has im2rec, the package and the tests' programs. In each round a process alone, on the first CPU, gives the service times:
seconds and bytes of an image. With them the simulator predicts 1 and 2 processes, each on a CPU of its own, and 3 and 4, which share
two CPUs and a web server whose bandwidth, for all together, is a third of what one process could take. Then those run. Reading, a
process is a rank of order=global; packing, a worker of one plan. Prints predicted / real, median and range of the rounds, and the
service times as arguments of the simulator.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BATCH, PHOTOS, TIMES, TASKS = 64, 256, 8, 32
WARM = 3  # seconds until the buffers are full
PLAIN, THROTTLED = (1, 2), (3, 4)


def read(path, ranks, rank, begin, seconds):
    """A rank, in a process of its own: prints images a second between two moments, and the bytes of an image."""
    import imrec
    it = imrec.ImageRecordIter(path, data_shape=(3, 224, 224), batch_size=BATCH, shuffle=True, rand_crop=True, rand_mirror=True,
                               order="global", locality="chunk", shuffle_chunk=1 << 18, shuffle_window=4 << 20, seed=3,
                               num_parts=ranks, part_index=rank, preprocess_threads=1, verbose=False)
    images, marks = 0, []
    while True:
        for batch in it:
            images += int(batch.valid.sum())
            if time.time() >= begin + len(marks) * seconds:
                marks.append((time.time(), images, it.stats()["bytes_read"]))
                if len(marks) == 2:
                    (t0, n0, b0), (t1, n1, b1) = marks
                    print((n1 - n0) / (t1 - t0), (b1 - b0) / (n1 - n0))
                    return
        it.reset()


class Bench:
    def __init__(self, build, work, seconds):
        self.build, self.work, self.seconds = build, work, seconds
        self.im2rec, self.photos, self.set = build / "im2rec/im2rec", work / "photos", work / "t.rec"
        self.env = {**os.environ, "PYTHONPATH": str(build / "python")}
        self.cpus = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]]
        self.run(self.tool("make_photos"), self.photos, "--count", PHOTOS, "--jobs", 2)
        rows = sorted(path.relative_to(self.photos) for path in self.photos.rglob("*.jpg"))
        self.list = work / "photos.lst"
        self.list.write_text("".join(f"{n}\t{n % 10}\t{row}\n" for n, row in enumerate(rows * TIMES)))
        self.run(self.im2rec, "--quiet", "--resize", 256, self.list, self.photos, self.set)
        self.photo_bytes = statistics.mean((self.photos / row).stat().st_size for row in rows)

    def tool(self, name):
        found = next((path for path in self.build.rglob(name) if path.is_file() and os.access(path, os.X_OK)), None)
        return found or sys.exit(f"predict.py: {self.build} has no program {name}")

    def run(self, *command):
        return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, env=self.env).stdout

    def begin(self, cpus, *command):
        return subprocess.Popen(["taskset", "-c", cpus, *map(str, command)], stdout=subprocess.PIPE, text=True, env=self.env)

    def cpus_of(self, process, ranks):
        return self.cpus[process] if ranks <= len(self.cpus) else ",".join(self.cpus)

    def server(self, folder, bandwidth):
        """A web server in front of the folder, and its URL."""
        server = subprocess.Popen([self.tool("http_proxy"), "--folder", folder, "--bandwidth", str(int(bandwidth))],
                                  stdout=subprocess.PIPE, text=True)
        return server, server.stdout.readline().strip()

    def predict(self, kind, ranks, **service):
        """Images a second."""
        words = [f"{name}={value:.9g}" for name, value in service.items()]
        return float(self.run(self.tool("simulate"), kind, f"ranks={ranks}", *words).splitlines()[1].split("\t")[1])

    # ---- reading ---------------------------------------------------------------------------------------------------------

    def readers(self, path, ranks):
        """Images a second of all ranks, and bytes of an image."""
        begin = time.time() + WARM
        jobs = [self.begin(self.cpus_of(k, ranks), sys.executable, __file__, "--read", path, ranks, k, begin, self.seconds)
                for k in range(ranks)]
        answers = [tuple(map(float, job.communicate()[0].split())) for job in jobs]
        return sum(answer[0] for answer in answers), statistics.mean(answer[1] for answer in answers)

    def reading(self):
        rate, image_bytes = self.readers(self.set, 1)
        service = {"images": PHOTOS * TIMES, "image_bytes": image_bytes, "cpu_us": 1e6 / rate, "lockstep": 0}
        for ranks in PLAIN:
            yield ranks, self.predict("read", ranks, **service), self.readers(self.set, ranks)[0], service
        limits = {"storage": rate * image_bytes / 3}
        server, url = self.server(self.work, limits["storage"])
        for ranks in THROTTLED:
            real = self.readers(f"{url}/t.rec", ranks)[0]
            yield ranks, self.predict("read", ranks, **service, **limits, cores=2 / ranks), real, service
        server.kill()

    # ---- packing ---------------------------------------------------------------------------------------------------------

    def workers(self, root, ranks):
        """Seconds of the plan, the work and the finish, and bytes written."""
        plan, out = self.work / "job", self.work / "out"
        shutil.rmtree(plan, ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        marks = [time.monotonic()]
        self.run(self.im2rec, "--plan", plan, "--shards", TASKS, "--resize", 256, self.list, root, out / "t.rec")
        marks.append(time.monotonic())
        jobs = [self.begin(self.cpus_of(k, ranks), self.im2rec, "--quiet", "--threads", 1, "--work", plan) for k in range(ranks)]
        if any([job.wait() for job in jobs]):
            sys.exit("predict.py: a worker failed")
        marks.append(time.monotonic())
        self.run(self.im2rec, "--quiet", "--finish", plan)
        marks.append(time.monotonic())
        seconds = [b - a for a, b in zip(marks, marks[1:])]
        return seconds, sum(path.stat().st_size for path in out.glob("*.rec"))

    def packing(self):
        images = PHOTOS * TIMES
        (plan, work, finish), written = self.workers(self.photos, 1)
        service = {"images": images, "image_bytes": self.photo_bytes, "packed_bytes": written / images, "cpu_us": 1e6 * work / images,
                   "tasks": TASKS, "plan_us": 1e6 * plan / images, "finish_ms": 1e3 * finish / TASKS}
        for ranks in PLAIN:
            yield ranks, self.predict("pack", ranks, **service), images / sum(self.workers(self.photos, ranks)[0]), service
        limits = {"storage": images / work * self.photo_bytes / 3, "packed_bytes": 0}  # what is written does not go there
        server, url = self.server(self.photos, limits["storage"])
        for ranks in THROTTLED:
            real = images / sum(self.workers(url, ranks)[0])
            yield ranks, self.predict("pack", ranks, **{**service, **limits, "cores": 2 / ranks}), real, service
        server.kill()


def tell(name, found):
    for ranks, rows in found.items():
        ratios = sorted(predicted / real for predicted, real in rows)
        print(f"{name}, {ranks} process{'es' if ranks > 1 else ''}{', throttled' if ranks in THROTTLED else ''}: "
              f"{statistics.median(real for _, real in rows):.0f} images/s, predicted / real "
              f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def main():
    if sys.argv[1:2] == ["--read"]:
        path, ranks, rank, begin, seconds = sys.argv[2:]
        return read(path, int(ranks), int(rank), float(begin), float(seconds))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("build", type=pathlib.Path)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(o.build.resolve(), pathlib.Path(work), o.seconds)
        for kind in (bench.reading, bench.packing):
            found, service = {}, {}
            for number in range(o.rounds):
                for ranks, predicted, real, measured in kind():
                    found.setdefault(ranks, []).append((predicted, real))
                    service = {**service, **measured}
                    print(f"round {number}: {kind.__name__}, {ranks}: predicted {predicted:.0f}, real {real:.0f} images/s",
                          file=sys.stderr, flush=True)
            tell(kind.__name__, found)
            print("  of the last round: " + " ".join(f"{name}={value:.4g}" for name, value in service.items()))


if __name__ == "__main__":
    main()
