"""What tests/soak/soak.py packs under faults, and how it judges that."""
import json
import resource
import shutil
import subprocess
import time

import imrec
from readings import Fault, Stops, must

CASES = [
    ["--resize", "48"],
    ["--resize", "40", "--shards", "3"],
    ["--pass-through"],
    ["--pass-through", "--tile", "yes", "--shard-size", "300K"],
    ["--resize", "40", "--format", "cbf"],
    ["--resize", "32", "--encoding", "png", "--memory", "16M"],
    ["--resize", "48", "--center-crop", "--shared-tables"],  # last: its tables depend on which images can be read
]
WRITES = {"write_eio": 30000, "write_full": 30000, "sync_eio": 100000, "rename_eio": 100000, "open_eio": 2000}
MEMORY_WORDS = ("memory", "thread", "limit")


def soft(rng):
    rates = {"read_short": 300000, "read_eintr": 200000, "read_slow": 20000, "write_short": 300000, "write_eintr": 200000,
             "write_slow": 50000}
    return {kind: rng.randrange(most) for kind, most in rates.items() if rng.random() < 0.7}


def files_of(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def records_of(folder):
    """{id: (label, image)} of all records of the set, which must be readable."""
    found = {}
    for r in imrec.open(folder / "set.manifest.json"):
        must(r.id not in found, "packed twice:", r.id)
        found[r.id] = (float(r.label), bytes(r.image))
    return found


class Packer:
    def __init__(self, im2rec, imrec_tool, photos, work, page):
        self.im2rec, self.tool, self.photos, self.work, self.page = im2rec, imrec_tool, photos, work, page
        self.early = {}  # files of this round that had their final names before it was over
        self.calm, self.count = {}, {"packings": 0, "images packed": 0, "failed loudly": 0, "killed": 0, "images skipped": 0,
                                     "short of memory": 0}

    def command(self, case, folder, *more):
        return [self.im2rec, "--quiet", "--threads", "2", "--report", self.work / "report", *case, *more, self.photos,
                folder / "set.rec"]

    def reference(self, number):
        """Files, records and seconds of a case that nobody disturbs."""
        if number not in self.calm:
            folder = self.work / f"calm_{number}"
            folder.mkdir(exist_ok=True)
            begin = time.monotonic()
            done = subprocess.run(self.command(CASES[number], folder), stderr=subprocess.PIPE, text=True, check=False)
            must(done.returncode == 0, "the calm run failed:", done.stderr)
            self.calm[number] = (files_of(folder), records_of(folder), time.monotonic() - begin)
        return self.calm[number]

    def run(self, rng, case, folder, *more, rates=None, kill=None, memory=None):
        """(status, stderr, injected); None as status: killed."""
        self.page.set(**(rates or {}))
        limits = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
        (self.work / "report").unlink(missing_ok=True)
        process = subprocess.Popen(self.command(case, folder, *more), stderr=subprocess.PIPE, text=True,
                                   env=self.page.environment, preexec_fn=limits)
        with Stops(process.pid, rng, 3):
            try:
                said = process.communicate(timeout=kill if kill is not None else 300)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                must(kill is not None, "im2rec hangs:", case, rates)
                self.page.take()
                return None, "", {}
        self.count["packings"] += 1
        return process.returncode, said, self.page.take()

    def finals(self, number, folder, lost=False):
        """Nothing is half-written under its final name, and a manifest is there only if all is. lost: images may have been
        skipped, so that bytes are others; then what is there must stay as it is when the run is resumed."""
        want, there = self.reference(number)[0], {n: b for n, b in files_of(folder).items() if not n.endswith(".part")}
        for name in there:
            must(name in want, "a file that no set has:", name)
            must(lost or there[name] == want[name], "half-written under its final name:", name)
        if "set.manifest.json" in there:
            must(there.keys() == want.keys(), "a manifest without", want.keys() - there.keys())
        self.early.update(there)

    def failed(self, number, folder, status, said, injected, lost=False):
        """A run that did not do it: loudly, and without a trace under final names."""
        must(status == 1 and "im2rec: " in said, "it failed in silence:", status, said, injected)
        self.finals(number, folder, lost)
        self.count["failed loudly"] += 1

    def finish(self, rng, number, folder, lost=False):
        """Resumes in peace; the set is the calm one's, but for images that were skipped before."""
        want, records, _ = self.reference(number)
        status, said, _ = self.run(rng, CASES[number], folder, "--resume")
        got = files_of(folder)
        must(all(got.get(name) == self.early[name] for name in self.early), "half-written under its final name before:", self.early.keys())
        if status == 3 and lost:
            return self.skipped(number, folder, ("unreadable", "no_memory"))
        must(status == 0, "the resumed run failed:", status, said)
        must(got.keys() == want.keys(), "other files:", sorted(got), sorted(want))
        must(got == want, "other bytes:", [n for n in want if got[n] != want[n]])
        self.count["images packed"] += len(records)
        return None

    def verify(self, folder):
        done = subprocess.run([self.tool, "verify", folder / "set.manifest.json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        must(done.returncode == 0, "verify found something:", done.stdout)

    # ---- what is done to a run ----

    def harmless(self, rng, number, folder):
        status, said, injected = self.run(rng, CASES[number], folder, rates=soft(rng))
        must(status == 0, "faults that pass ended a run:", status, said, injected)
        self.finals(number, folder)
        self.finish(rng, number, folder)

    def skipped(self, number, folder, codes):
        """A set that lacks images: those that the report names, once each; the others are as they are in the calm one."""
        records, got = self.reference(number)[1], records_of(folder)
        rows = [json.loads(line) for line in (self.work / "report").read_text().splitlines()]
        lost = [r for r in rows if r["result"] == "skipped"]
        must(all(r["code"] in codes for r in lost), "skipped for another reason:", lost)
        must(len({r["path"] for r in lost}) == len(lost) == len(records) - len(got), "not each loss reported once:", lost,
             sorted(records.keys() - got.keys()))
        must(all(got[n] == records.get(n) for n in got), "other records:", [n for n in got if got[n] != records.get(n)])
        self.verify(folder)
        self.count["images skipped"] += len(lost)
        self.count["images packed"] += len(got)
        return len(lost)

    def unreadable(self, rng, number, folder):
        rates = {**soft(rng), "read_eio": rng.randrange(30000), "open_eio": rng.choice([0, 0, 5000])}
        status, said, injected = self.run(rng, CASES[number], folder, rates=rates)
        faults = injected["read_eio"] + injected["open_eio"]
        if status == 0:
            self.finals(number, folder)
            return self.finish(rng, number, folder)
        if status == 1:
            must(faults > 0, "it failed without a reason:", said)
            self.failed(number, folder, status, said, injected, faults > 1)
            return self.finish(rng, number, folder, faults > 1)
        must(status == 3, "it ended with:", status, said)
        lost = self.skipped(number, folder, ("unreadable",))
        return must(lost <= faults, "more lost than failed:", lost, injected)

    def unwritable(self, rng, number, folder):
        opened = 0
        for turn in range(4):
            kinds = rng.sample(sorted(WRITES), rng.randrange(1, 4))
            rates = {**soft(rng), **{k: rng.randrange(WRITES[k] * 4) for k in kinds}}
            if "open_eio" in rates:
                rates["open_eio"] = WRITES["open_eio"]
            status, said, injected = self.run(rng, CASES[number], folder, *["--resume"][:turn], rates=rates)
            hard, opened = sum(injected[k] for k in WRITES), opened + injected["open_eio"]
            if status == 3:  # an image could not be opened
                return self.skipped(number, folder, ("unreadable",))
            if status == 0:
                self.finals(number, folder, opened > 0)
                break
            must(hard > 0, "it failed without a reason:", said, injected)
            self.failed(number, folder, status, said, injected, opened > 0)
        return self.finish(rng, number, folder, opened > 0)

    def killed(self, rng, number, folder):
        seconds = self.reference(number)[2]
        for turn in range(rng.randrange(1, 5)):
            status, said, injected = self.run(rng, CASES[number], folder, *["--resume"][:turn], rates=soft(rng),
                                              kill=rng.random() * 1.5 * seconds)
            self.finals(number, folder)
            if status is not None:
                must(status == 0, "faults that pass ended a run:", status, said, injected)
                break
            self.count["killed"] += 1
        self.finish(rng, number, folder)

    def starved(self, rng, number, folder):
        status, said, injected = self.run(rng, CASES[number], folder, rates=soft(rng), memory=rng.randrange(20, 220) << 20)
        self.count["short of memory"] += status != 0
        if status == 3:
            return self.skipped(number, folder, ("no_memory",))
        if status in (127, -6) or (status == 1 and "im2rec: " not in said):  # it did not even begin: the loader, the C library
            must(said and not any(folder.iterdir()), "it ended in silence:", status, said)
            return self.finish(rng, number, folder)
        if status == 1:
            must(any(w in said for w in MEMORY_WORDS), "it failed for another reason:", said)
            self.failed(number, folder, status, said, injected)
        else:
            must(status == 0, "it ended with:", status, said)
            self.finals(number, folder)
        return self.finish(rng, number, folder, True)

    def round(self, rng):
        number = rng.randrange(len(CASES))
        self.reference(number)
        folder = self.work / "packed"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.early = {}
        kinds = [self.harmless, self.killed, self.unreadable, self.unwritable, self.starved]
        kind = rng.choice(kinds[:2] if number == len(CASES) - 1 else kinds)
        try:
            kind(rng, number, folder)
        except Fault as fault:
            raise Fault(f"packing {' '.join(CASES[number])}, {kind.__name__}: {fault}") from None
        if rng.random() < 0.1:
            self.verify(folder)
