#!/usr/bin/env python3
"""Every way to pack, once as a run and once as plan, work, finish: files, reports and cards are equal.

plan_equal.py BUILD [NAME]: the cases of tests/golden/packing.py, all or those with NAME in theirs. Exit status 0, or 1
with what differs. Tasks are done in another order each time, some of them twice; where a run fails, so does the
finish, or a task before it.
"""
import concurrent.futures
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
# pylint: disable=wrong-import-position
import inputs
import packing
from case import Case, files_below, plain, read
from golden import find_programs

RESUMES = "bad_too_many", "bad_stops"  # what a run leaves of itself to be resumed


def cases():
    for line in packing.FOLDERS + packing.RESIZED + packing.FILES + packing.TARGETS + packing.BINARY:
        yield line.split(": ", 1)
    for line in packing.AUGMENTED:
        name, words = line.split(": ")
        yield "augment_" + name, f"--augment {words} --copies 2 -- PHOTOS OUT"
        yield "augment_shards_" + name, f"--shards 3 --augment {words} --copies 2 -- PHOTOS OUT"
    yield "binary_index", "--binary-index yes --shards 2 PHOTOS OUT"
    yield "cbf_shards", "--format cbf --shards 3 --pass-through PHOTOS OUT"
    yield "cbf_shard_size", "--format cbf --shard-size 60K --cbf-chunk 10K --pass-through PHOTOS OUT"
    yield "more_shards_than_images", "--shards 400 --resize 40 in/more OUT"
    yield "shards_1", "--shards 1 --resize 40 in/more OUT"
    yield "archives", "--resize 40 in/x.tar in/y.tar OUT"
    yield "archives_shards", "--shards 3 --pass-through in/x.tar in/y.tar OUT"
    yield "archives_unlabelled", "--shard-size 60K --label-ext none --pass-through in/x.tar in/y.tar OUT"
    yield "archives_cbf", "--format cbf --cbf-chunk 10K --shards 2 --fields json --resize 40 in/x.tar in/y.tar OUT"
    yield "archives_copies", "--augment rand_mirror=1 --copies 2 -- in/x.tar OUT"
    yield "archives_stop", "--on-error stop in/x.tar OUT"


def make_archives(root):
    """in/x.tar and in/y.tar: the images of in/more, and in one of them some that cannot be packed."""
    names = sorted(path for path in files_below(os.path.join(root, "in/more")) if path.endswith(".jpg"))
    for part, archive in enumerate(("x", "y")):
        with tarfile.open(os.path.join(root, f"in/{archive}.tar"), "w") as tar:
            for i, path in enumerate(names[part::2]):
                tar.add(path, f"{i:04}.jpg")
                for suffix, data in ((".cls", b"%d" % (i % 5)), (".json", b"{}")):
                    if part or i != 1 or suffix != ".cls":
                        entry = tarfile.TarInfo(f"{i:04}{suffix}")
                        entry.size = len(data)
                        tar.addfile(entry, io.BytesIO(data))


class Planned:
    """A case, packed both ways in folders of its own."""

    def __init__(self, root, programs, name, words, dice):
        self.root, self.im2rec, self.name, self.words = root, programs["im2rec"], name, words
        self.tasks = (0, 1, 2, 3, 5, 9)[dice.below(6)]
        self.turn = dice.below(1000)
        self.said = ""

    def call(self, *words):
        done = subprocess.run([self.im2rec, *words], cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=120)
        self.said += done.stderr.decode(errors="replace")
        return done.returncode, done.stdout

    def packed(self, folder, *before):
        out = f"out/{self.name}/{folder}/set.{'cbf' if '--format cbf' in self.words else 'rec'}"
        os.makedirs(os.path.join(self.root, os.path.dirname(out)))
        report = f"--report=out/{self.name}/{folder}/report.jsonl"
        return self.call("--json", *before, report, *packing.full(self.words, out))

    def work(self, plan, tasks):
        """The worst status of the tasks, done in some order, each third one twice."""
        worst = 0
        for i in range(tasks):
            k = (i * 7 + self.turn) % tasks if tasks % 7 else tasks - 1 - i
            for _ in range(1 + (k % 3 == 0)):
                worst = max(worst, self.call("--work", plan, str(k), "--threads", str(1 + k % 3), "--quiet")[0])
        return worst

    def planned(self):
        plan = f"out/{self.name}/plan"
        status, said = self.packed("b", "--plan", plan, "--tasks", str(self.tasks))
        if status != 0:
            return status, b""
        tasks = int(said.split(b'"tasks":')[1].split(b",")[0])
        worst = self.work(plan, tasks)
        status, card = self.call("--json", "--finish", plan)
        if worst != 0:
            return (1, b"") if status == 1 else (status, b"a task failed, and finish did not")
        left = sorted(os.listdir(os.path.join(self.root, plan)))
        if status != 1 and left != ["finished", "plan"]:
            return status, f"the plan keeps {left}".encode()
        return status, card

    def files(self, folder):
        top = os.path.join(self.root, "out", self.name, folder)
        return {os.path.relpath(path, top): read(path) for path in files_below(top)}

    def fault(self):
        status, card = self.packed("a")
        own_status, own_card = self.planned()
        if own_status != status:
            return f"status {own_status}, of a run {status}: {self.said}"
        if plain(own_card) != plain(card):
            return f"cards differ: {own_card.decode()} and {card.decode()}"
        left, right = self.files("a"), self.files("b")
        if status == 1 and self.name in RESUMES:
            left = right = {}
        if left.keys() != right.keys():
            return f"files differ: {sorted(left)} and {sorted(right)}"
        different = [name for name in left if left[name] != right[name]]
        return f"bytes differ: {different}" if different else None


def main(build, wanted=""):
    programs = find_programs(build)
    root = tempfile.mkdtemp(prefix="imrec-plan-")
    dice, bad, count = inputs.Dice(5), 0, 0
    try:
        inputs.make(Case(root, programs, "in/puts"))
        make_archives(root)
        chosen = [Planned(root, programs, name, words, dice) for name, words in cases() if wanted in name]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for case, fault in zip(chosen, pool.map(Planned.fault, chosen)):
                count += 1
                if fault:
                    bad += 1
                    print(f"{case.name} ({case.tasks} tasks): {fault}")
    finally:
        shutil.rmtree(root)
    print(f"{count} cases, {bad} differ")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
