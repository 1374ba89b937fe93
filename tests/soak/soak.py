"""soak.py BUILD SHIM: packs and reads for IMREC_SOAK_SECONDS (6) while calls of the system fail, as tests/soak/faulty_calls.c has it.

Each round packs a set under faults of the disk, SIGSTOP, SIGKILL or too little memory, and reads sets, most of them damaged at
places that are known, in a process that lives as long as the soak does and in ones that do not. What is asked:
nothing is lost but what was damaged, each damage is reported once, no slot that is no sample has values, a packing run that
fails is loud and leaves nothing half-written, and the memory, descriptors and threads of the long-lived process stay what they were.

IMREC_SOAK_SEED (by the clock) decides everything but the moments of threads and signals; IMREC_SOAK_ROUND=N runs that round alone;
IMREC_SOAK_CPU (100) is the share of a processor in % that it takes at most. Exit status 0; 1 with what is wrong.
"""
import collections
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import damaged
import faults
import packings
import readings
from readings import BASE, Fault, Reader, Stops, Sweep, must, rng_of

SECONDS, CPU = float(os.environ.get("IMREC_SOAK_SECONDS", 6)), float(os.environ.get("IMREC_SOAK_CPU", 100)) / 100
IMAGES = 120
DAMAGE = ["frame", "head", "image", "image", "zero", "cut"]
MAX_FAULTS = 10  # then it ends
FLAT_ROUNDS = 200  # so many must have been run before memory is compared
# Of a process that has run for minutes: what it holds may differ by what the last requests left, not by the number of
# rounds. 256 KiB in 2 hours are less than 100 bytes a round; resident pages also move with the C library's arenas.
MALLOC_BOUND, RESIDENT_BOUND = 256 << 10, 8 << 20


class Soak:
    def __init__(self, build, shim, work, seed):
        self.build, self.work, self.seed = build, work, seed
        self.count = collections.Counter()
        self.folder = work / "sets"
        self.folder.mkdir()
        self.sources = self.make_sets()
        self.environment = {"PYTHONPATH": str(build / "python"), "MALLOC_ARENA_MAX": "2"}
        (work / "packs").mkdir()
        photos = work / "packs" / "photos"
        shutil.copytree(work / "photos", photos)
        self.pages = {name: faults.FaultPage(work / f"{name}.page", work / folder, seed, shim)
                      for name, folder in (("long", "sets"), ("short", "sets"), ("calm", "sets"), ("pack", "packs"))}
        self.packer = packings.Packer(build / "im2rec/im2rec", build / "tools/imrec", photos, work / "packs", self.pages["pack"])
        self.long, self.calm = self.reader("long"), self.reader("calm")
        self.truths = {name: self.truth(name) for name in self.sources}
        self.kept = self.keep()
        self.gauges = []

    def reader(self, name):
        return Reader(self.pages[name], self.environment)

    def make_sets(self):
        """Clean sets by name; the folder of each, and what is opened of it."""
        subprocess.run([self.build / "data/make_photos", self.work / "photos", "--count", str(IMAGES), "--size", "small", "--jobs", "1"],
                       check=True, stdout=subprocess.DEVNULL)
        kinds = {"one": [], "three": ["--shards", "3"], "cbf": ["--format", "cbf"]}
        for name, words in kinds.items():
            (self.folder / name).mkdir()
            subprocess.run([self.build / "im2rec/im2rec", "--quiet", "--resize", "48", *words, self.work / "photos",
                            self.folder / name / "set.rec"], check=True)
        return kinds

    def truth(self, name):
        """{id: (label, pixels)} of a clean set."""
        answer = self.calm.ask(do="read", path=self.opened(self.folder / name), options=BASE, sweeps=1)
        sweep = Sweep(answer["ok"])
        must(len(sweep.samples) == IMAGES and not sweep.lines, "a clean set is not read:", answer)
        return {n: (label, pixels) for n, label, pixels in sweep.samples}

    @staticmethod
    def opened(folder):
        return ";".join(str(p) for p in sorted(folder.iterdir()) if p.suffix in (".rec", ".cbf"))

    # ---- iterators that stay open ----

    def keep(self):
        """{name: (what it must deliver, on_error)}"""
        rng, kept = rng_of(self.seed, "kept"), {}
        for name, source, index, more in (
                ("clean", "three", "auto", {"shuffle": True, "preprocess_threads": 3}),
                ("sums", "three", "none", {"verify_checksums": True, "shuffle": True, "shuffle_window": 65536, "shuffle_chunk": 8192}),
                ("global", "one", "auto", {"order": "global", "shuffle": True, "preprocess_threads": 2}),
                ("replace", "one", "auto", {"on_error": "replace", "verify_checksums": True})):
            kinds = [] if name == "clean" else ["frame", "image", "zero", "head"]
            set_ = damaged.damage(rng, self.folder / source, self.folder / f"kept_{name}", "set", kinds)
            options = {**BASE, "path_imgidx": index, **more}
            calm = self.read_calm(set_, source, index, bool(more.get("verify_checksums")))
            answer = self.long.ask(do="keep", name=name, path=self.opened(set_.folder), options=options)
            must("ok" in answer, "cannot be opened:", answer)
            kept[name] = (calm, options.get("on_error"))
        return kept

    def read_calm(self, set_, source, index, checksums):
        """What a set delivers that nobody disturbs, judged by what is known of the damage. None: it is refused."""
        options = {**BASE, "path_imgidx": index, "verify_checksums": checksums}
        answer = self.calm.ask(do="read", path=self.opened(set_.folder), options=options, sweeps=1)
        if "error" in answer:
            must(set_.cut and index == "auto" and answer["error"][0] == "CorruptError", "it is refused:", answer)
            return None
        calm = Sweep(answer["ok"])
        shards = {p.name: damaged.Shard(p) for p in sorted((self.folder / source).glob("*.rec"))}
        readings.judge_calm(calm, self.truths[source], set_, shards, checksums)
        self.count["damages made"] += len(set_.ranges)
        self.count["damages reported"] += sum(calm.places.values())
        return calm

    def read_kept(self, rng):
        name = rng.choice(sorted(self.kept))
        calm, on_error = self.kept[name]
        self.pages["long"].set(**readings.soft(rng))
        answer = self.long.ask(Stops(self.long.process.pid, rng, 3), do="more", name=name, sweeps=rng.randrange(1, 4))
        self.pages["long"].take()
        try:
            for a in answer["ok"]:
                self.judged(Sweep([a]), calm, on_error)
        except Fault as fault:
            raise Fault(f"the iterator kept open, {name}: {fault}") from None

    def judged(self, sweep, calm, kind, places=True):
        readings.judge(sweep, calm, kind, places)
        self.count["sweeps"] += 1
        self.count["images read"] += sum(sweep.samples.values())
        self.count["damages reported"] += sum(sweep.places.values())

    # ---- sets that are damaged anew ----

    def ask(self, reader, page, rng, **words):
        """Opening may fail for what was injected, loudly; then it is tried again, in the end in peace."""
        for turn in range(5):
            rates = {} if turn == 4 else {**readings.soft(rng), "open_eio": rng.choice([0, 0, 100000])}
            self.pages[page].set(bad=words.get("bad", ()), **rates)
            answer = reader.ask(Stops(reader.process.pid, rng, 3), **{k: v for k, v in words.items() if k != "bad"})
            injected = self.pages[page].take()
            if answer is None or "ok" in answer:
                return answer
            if not injected["read_eio"] and not injected["open_eio"]:
                return answer
            must("Input/output error" in answer["error"][1] or answer["error"][0] == "CorruptError", "it failed for another reason:",
                 answer)
            self.count["openings refused"] += 1
        return answer

    def read_parts(self, rng, reader, page, path, options, sweeps=2, bad=()):
        """Sweeps over all partitions together; None: it is refused."""
        parts, answers = rng.choice([1, 1, 2, 3]), []
        for k in range(parts):
            answer = self.ask(reader, page, rng, do="read", path=path, sweeps=sweeps, bad=bad,
                              options={**options, "num_parts": parts, "part_index": k})
            if "error" in answer:
                return answer
            answers.append(answer["ok"])
        return [Sweep(of) for of in zip(*answers)]

    def read_damaged(self, rng, reader, page):
        source, index = rng.choice(["one", "three"]), rng.choice(["auto", "none"])
        checksums = rng.random() < 0.6
        kinds = rng.sample(DAMAGE, rng.randrange(0, 4))
        set_ = damaged.damage(rng, self.folder / source, self.folder / "fresh", "set", kinds)
        calm = self.read_calm(set_, source, index, checksums)
        options = {**BASE, **readings.options_of(rng, index), "path_imgidx": index, "verify_checksums": checksums}
        try:
            sweeps = self.read_parts(rng, reader, page, self.opened(set_.folder), options)
            if isinstance(sweeps, dict):
                must(calm is None, "it is refused:", sweeps)
                return
            must(calm is not None, "it is not refused")
            for sweep in sweeps:
                self.judged(sweep, calm, options["on_error"])
        except Fault as fault:
            raise Fault(f"{source}, damaged by {kinds} at {set_.ranges}, {options}: {fault}") from None

    def read_unreadable(self, rng, reader, page):
        """Pages of a shard that cannot be read: with an index each record in them fails, once."""
        shard = damaged.Shard(self.folder / "one" / "set.rec")
        size = shard.rec.stat().st_size
        begin = rng.randrange(1, size // 4096) * 4096
        end = min(size, begin + 4096 * rng.randrange(1, 3))
        index = rng.choice(["auto", "none"])
        touched, truth = shard.touched(begin, end), self.truths["one"]
        options = {**BASE, **readings.options_of(rng, index), "path_imgidx": index, "on_error": "skip"}
        try:
            sweeps = self.read_parts(rng, reader, page, str(shard.rec), options, bad=[(shard.rec, begin, end)])
            must(not isinstance(sweeps, dict), "it is refused:", sweeps)
            for sweep in sweeps:
                got = sweep.samples
                want = collections.Counter((n, *truth[n]) for n in truth if n not in touched)
                must(got == want, "lost:", want - got, "too many:", got - want, [(n, shard.places[n]) for n, _, _ in want - got], sweep.lines)
                if index == "auto":
                    must(len(sweep.places) == sum(sweep.places.values()) == sweep.failed == len(touched), "not each reported once:",
                         touched, sweep.lines)
                must(sweep.places and all(shard.touched(*readings.bytes_of(p)) <= touched for _, p in sweep.places),
                     "not what cannot be read:", touched, sweep.lines)
                self.count["damages made"] += 1
                self.count["damages reported"] += sum(sweep.places.values())
                self.count["images read"] += sum(got.values())
                self.count["sweeps"] += 1
        except Fault as fault:
            raise Fault(f"bytes {begin} to {end} that cannot be read, {options}: {fault}") from None

    def read_turned(self, rng, reader, page):
        """Closed in mid-sweep and continued from the position, with other options."""
        source, index = rng.choice(["one", "three", "cbf"]), rng.choice(["auto", "none"])
        truth, options = self.truths[source], {**BASE, **readings.options_of(rng, index), "path_imgidx": index}
        options["on_error"] = rng.choice(["skip", "stop"])
        if source == "cbf":
            for name in ("path_imgidx", "keep_in_memory"):
                options.pop(name, None)
        then = {"batch_size": rng.randrange(1, 18), "preprocess_threads": rng.randrange(1, 5)}
        if options.get("order") == "global":
            then.pop("batch_size")
        answer = self.ask(reader, page, rng, do="turn", path=self.opened(self.folder / source), options=options,
                          after=rng.randrange(1, 8), then=then)
        must("ok" in answer, "cannot be read:", answer, options)
        sweep = Sweep(answer["ok"])
        want = collections.Counter((n, *truth[n]) for n in truth)
        must(sweep.samples == want and not sweep.lines, "continued from a position:", source, options, then, "lost:",
             want - sweep.samples, "too many:", sweep.samples - want, sweep.lines)
        self.count["sweeps"] += 1
        self.count["images read"] += IMAGES

    def read_starved(self, rng):
        """Too little address space: an error, or samples that fail and are counted."""
        reader = self.reader("short")
        must("ok" in reader.ask(do="limit", bytes=rng.randrange(1, 60) << 20), "no limit")
        options = {**BASE, "preprocess_threads": rng.randrange(1, 4), "batch_size": rng.choice([8, 64])}
        self.pages["short"].set(**{k: v for k, v in readings.soft(rng).items() if k != "read_eio"})
        answer = reader.ask(do="read", path=self.opened(self.folder / "one"), options=options, sweeps=2)
        self.pages["short"].take()
        if answer is None or "error" in answer:
            self.count["readers short of memory"] += 1
            must(answer is None or "emory" in answer["error"][1] or "thread" in answer["error"][1] or
                 answer["error"][0] == "MemoryError", "it failed for another reason:", answer)
            reader.close()
            return
        for a in answer["ok"]:
            if a["error"] is not None:
                must("emory" in a["error"][1], "a sweep ended for another reason:", a["error"])
                break
            sweep = Sweep([a])
            truth = self.truths["one"]
            must(all(sweep.samples[s] == 1 and truth[s[0]] == s[1:] for s in sweep.samples), "other samples")
            must(len(sweep.samples) + sweep.failed == IMAGES, "lost in silence:", len(sweep.samples), sweep.failed)
            self.count["images read"] += len(sweep.samples)
        reader.close()

    def round(self, number):
        rng = rng_of(self.seed, number)
        self.packer.round(rng)
        for _ in range(3):
            self.read_kept(rng)
        kinds = [self.read_damaged, self.read_damaged, self.read_unreadable, self.read_turned]
        for _ in range(2):
            rng.choice(kinds)(rng, self.long, "long")
        chance = rng.random()
        if chance < 0.1:
            self.read_starved(rng)
        elif chance < 0.25:
            reader = self.reader("short")
            rng.choice(kinds)(rng, reader, "short")
            reader.close()
        self.gauges.append(self.long.gauges())

    # ---- the end ----

    def tenths(self, which):
        """Medians of the second and of the last tenth."""
        values = [g[which] for g in self.gauges] or [0]
        tenth = max(1, len(values) // 10)
        return statistics.median(values[tenth:2 * tenth] or values[:1]), statistics.median(values[-tenth:])

    def injected(self):
        total = collections.Counter()
        for page in self.pages.values():
            total.update(page.total)
        return total

    def check_injected(self):
        """A soak in which nothing fails checks nothing."""
        kinds = faults.KINDS if len(self.gauges) >= FLAT_ROUNDS else ("read_eio", "read_short", "read_eintr", "read_slow")
        return [f"no {kind} was injected" for kind in kinds if not self.injected()[kind]]

    def check_flat(self):
        wrong = []
        for which, what in ((0, "descriptors"), (1, "threads")):
            first, last = self.tenths(which)
            if last > first:
                wrong.append(f"{what}: {first} at first, {last} at last")
        for which, what, bound in ((2, "resident bytes", RESIDENT_BOUND), (3, "bytes of malloc", MALLOC_BOUND)):
            first, last = self.tenths(which)
            if len(self.gauges) >= FLAT_ROUNDS and last > first + bound:
                wrong.append(f"{what}: {first} at first, {last} at last")
        return wrong

    def summary(self, rounds, seconds):
        flat = {what: self.tenths(which) for which, what in enumerate(("descriptors", "threads", "resident", "malloc"))}
        return "; ".join([
            f"{rounds:,} rounds in {seconds:.0f} s", *(f"{n:,} {k}" for k, n in {**self.packer.count, **self.count}.items()),
            f"{Stops.count:,} SIGSTOPs", "injected: " + ", ".join(f"{n:,} {k}" for k, n in self.injected().items()),
            "second and last tenth: " + ", ".join(
                f"{what} {a / 1024:,.0f} and {b / 1024:,.0f} KiB" if what in ("resident", "malloc") else f"{what} {a:g} and {b:g}"
                for what, (a, b) in flat.items())])

    def close(self):
        for reader in (self.long, self.calm):
            reader.close()


def processor_seconds(*processes):
    """Of this process, those that have ended, and those that have not."""
    used = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    for p in processes:
        fields = Path(f"/proc/{p.pid}/stat").read_text().rsplit(")", 1)[1].split()
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def run(soak):
    """Rounds until the time is over. (rounds, seconds, what is wrong)"""
    begin, wrong, only = time.monotonic(), [], os.environ.get("IMREC_SOAK_ROUND")
    used, number = processor_seconds(soak.long.process, soak.calm.process), int(only or 0)
    while True:
        try:
            soak.round(number)
        except Exception as fault:
            wrong.append(f"round {number}: {fault}" + ("" if isinstance(fault, Fault) else "\n" + traceback.format_exc()))
            print(f"{time.strftime('%F %T')} seed {soak.seed}, {wrong[-1]}", flush=True)
        number += 1
        seconds = time.monotonic() - begin
        if only is not None or seconds >= SECONDS or len(wrong) >= MAX_FAULTS or soak.long.process.poll() is not None:
            return number, seconds, wrong
        if number % 100 == 0:
            print(f"{time.strftime('%F %T')} {soak.summary(number, seconds)}", flush=True)
        spent = processor_seconds(soak.long.process, soak.calm.process) - used
        time.sleep(min(30, max(0, spent / CPU - seconds)))


def main(build, shim):
    seed = int(os.environ.get("IMREC_SOAK_SEED") or time.time())
    print(f"seed {seed}, {SECONDS:g} s", flush=True)
    work = Path(tempfile.mkdtemp(prefix="imrec-soak-"))
    try:
        soak = Soak(Path(build).resolve(), Path(shim).resolve(), work, seed)
        rounds, seconds, wrong = run(soak)
        wrong += soak.check_injected() + soak.check_flat()
        print(soak.summary(rounds, seconds))
        soak.close()
    finally:
        shutil.rmtree(work)
    for what in wrong:
        print(f"wrong: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
