"""What tests/soak/soak.py reads, by tests/soak/reader.py in processes of their own, and how it judges that."""
import collections
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import faults

BASE = {"data_shape": [3, 32, 32], "resize": 40, "dtype": "uint8", "on_error": "skip", "batch_size": 8, "preprocess_threads": 1}
PLACE = re.compile(r"([^/]*): (record at byte \d+, id \d+|bytes \d+ to \d+)")
TOTAL = re.compile(r"sweep \d+: (?:samples that failed: (\d+) \(replaced: (\d+), zeroed: (\d+)\))?(?:; )?(?:damaged ranges: (\d+))?")


class Fault(Exception):
    """Something that is promised was not so."""


def must(true, what, *more):
    if not true:
        raise Fault(" ".join([what, *(repr(m)[:2000] for m in more)]))


class Stops:
    """Stops a process for a while, at moments by chance, as long as the block lasts."""
    count = 0

    def __init__(self, pid, rng, most):
        self.pid, self.plan = pid, [(rng.random() * 0.03, rng.random() * 0.05) for _ in range(rng.randrange(most + 1))]
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        for wait, stopped in self.plan:
            if self.done.wait(wait):
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGSTOP)
                time.sleep(stopped)
                os.kill(self.pid, signal.SIGCONT)
            Stops.count += 1

    def __enter__(self):
        if self.plan:
            self.thread.start()

    def __exit__(self, *_):
        self.done.set()
        if self.plan:
            self.thread.join()


class Reader:
    """A process that reads."""

    def __init__(self, page, environment):
        self.page = page
        self.process = subprocess.Popen([sys.executable, Path(__file__).with_name("reader.py")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**page.environment, **environment})

    def ask(self, stops=None, **words):
        """The answer; None: the process ended, loudly."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(words) + "\n")
            self.process.stdin.flush()
        with stops or contextlib.nullcontext():
            line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        said = self.process.communicate()[1]
        must(self.process.returncode > 0 and said, "a reader ended in silence:", self.process.returncode, said, words)
        return None

    def gauges(self):
        """Descriptors, threads, resident bytes, bytes of malloc()."""
        return (*faults.count_of(self.process.pid), self.ask(do="gauge")["ok"])

    def close(self):
        if self.process.poll() is None:
            self.process.communicate()


def place_of(line):
    found = PLACE.search(line)
    must(found, "a warning without a place:", line)
    return found.group(1), found.group(2)


class Sweep:
    """What a sweep has delivered and reported, of all partitions together."""

    def __init__(self, answers):
        self.samples, self.places, self.lines = collections.Counter(), collections.Counter(), []
        self.failed = self.replaced = self.ranges = 0
        for a in answers:
            must(a["error"] is None, "a sweep ended with an error:", a["error"])
            must(a["dirty"] == 0, "slots that are no samples have values:", a["dirty"])
            self.samples.update((n, label, pixels) for n, label, pixels in a["samples"])
            self.replaced += a["replaced"]
            listed = 0
            for line in a["warned"]:
                total = TOTAL.search(line)
                if total:
                    failed, _, zeroed, ranges = (int(n or 0) for n in total.groups())
                    self.failed, self.ranges = self.failed + failed, self.ranges + ranges
                else:
                    self.places[place_of(line)] += 1
                    self.lines.append(line)
                    listed += 1

    @property
    def ids(self):
        return collections.Counter(n for n, _, _ in self.samples.elements())


def bytes_of(place):
    """[begin, end) of what a warning names."""
    numbers = [int(n) for n in re.findall(r"\d+", place)]
    return (numbers[0], numbers[0] + 1) if place.startswith("record") else (numbers[0], numbers[1])


def judge_calm(sweep, truth, set_, shards, checksums):
    """Of a damaged set that nobody disturbs: everything but what was damaged is there, each damage is reported, and nothing else is."""
    want = collections.Counter((n, *truth[n]) for n in truth if n not in set_.touched)
    must(not want - sweep.samples, "lost, though not damaged:", want - sweep.samples, sweep.lines)
    rest = sweep.samples - want
    must(sum(rest.values()) <= len(set_.touched), "delivered twice:", rest)  # a flipped bit may be in an id
    must(not checksums or not rest, "delivered, though its checksum differs:", rest)
    must(max(sweep.places.values(), default=0) <= 1, "reported twice:", sweep.places.most_common(3))
    must(sum(sweep.places.values()) == sweep.failed + sweep.ranges, "the total differs from what is listed:", sweep.lines)
    damaged = {}
    for name, begin, end in set_.ranges:
        for number in shards[name].touched(begin, end):
            damaged[name, shards[name].places[number]] = number
    for name, place in sweep.places:
        begin, end = bytes_of(place)
        near = [k for k in damaged if k[0] == name and k[1][0] < end and k[1][1] > begin]
        must(near, "reported, though not damaged:", name, place)
    silent = []
    for (name, (begin, end)), number in damaged.items():
        near = [p for f, p in sweep.places if f == name and bytes_of(p)[0] < end and bytes_of(p)[1] > begin]
        must(near or not checksums, "damaged and not reported:", name, number, sweep.lines)
        if not near and begin < (set_.folder / name).stat().st_size:
            silent.append((name, number))
    must(len(silent) <= sum(rest.values()), "damaged, gone and not reported:", silent, sweep.lines)


def judge(sweep, calm, kind, places=True):
    """Of a reading that was disturbed: what the calm one delivered and reported."""
    if kind == "replace":
        must(not calm.samples - sweep.samples, "lost:", calm.samples - sweep.samples)
        must(set(sweep.samples) == set(calm.samples), "other samples:", set(sweep.samples) - set(calm.samples))
        must(sum((sweep.samples - calm.samples).values()) == sweep.replaced, "not as many more as replace others:", sweep.replaced)
    else:
        must(sweep.samples == calm.samples, "lost:", calm.samples - sweep.samples, "too many:", sweep.samples - calm.samples, sweep.lines)
    if places:
        must(sweep.places == calm.places, "not reported:", calm.places - sweep.places, "reported too often:",
             sweep.places - calm.places)
        must((sweep.failed, sweep.ranges) == (calm.failed, calm.ranges), "totals:", sweep.failed, sweep.ranges, calm.failed, calm.ranges)


def soft(rng):
    """Faults that must not change anything."""
    rates = {"read_short": 300000, "read_eintr": 200000, "read_slow": 100000, "read_eio": 300000}
    return {kind: rng.randrange(most) for kind, most in rates.items() if rng.random() < 0.7}


def options_of(rng, index):
    """Options that change what is read when, and nothing of a sample."""
    more = {"preprocess_threads": rng.randrange(1, 5), "batch_size": rng.randrange(1, 18), "prefetch_buffer": rng.randrange(1, 4),
            "on_error": rng.choice(["skip", "skip", "stop", "replace"]), "last_batch": rng.choice(["partial", "pad"]),
            "shuffle": rng.random() < 0.7, "seed": rng.randrange(1000)}
    if rng.random() < 0.5:
        more.update(shuffle_window=rng.choice([16384, 65536]), shuffle_chunk=rng.choice([4096, 8192]))
    if rng.random() < 0.2:
        more["drop_behind"] = True
    if rng.random() < 0.2:
        more["keep_in_memory"] = True
    if index == "auto" and more["on_error"] != "replace" and rng.random() < 0.3:
        more.update(order="global")
    return more


def rng_of(*words):
    return random.Random("/".join(map(str, words)))
