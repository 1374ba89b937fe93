#!/usr/bin/env python3
"""trainer.py [OPTIONS] IM2REC TRAINSET WORK - examples/train_torch.py fed by imrec, and fed by torchvision.

TRAINSET has train/ and val/, a folder a class each. Both runs are the same script, but for the lines between its marks:
torchvision's ImageFolder, transforms and DataLoader read the files, imrec the shards that im2rec makes of them in WORK. A run of
each for every seed, in turns. Prints a Markdown table: accuracy, share of the time that training waits for data, and how many
lines the change to imrec touches. Needs a Python with torch, torchvision and imrec.
"""
import argparse
import difflib
import os
import pathlib
import re
import statistics
import subprocess
import sys

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/train_torch.py"
BEGIN, END = "# data: begin\n", "# data: end\n"
TORCHVISION = '''from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision import transforms as t


def loaders(o):
    values = [t.ToTensor(), t.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
    seen = t.Compose([t.RandomResizedCrop(o.side, (0.3, 1)), t.RandomHorizontalFlip(), *values])
    whole = t.Compose([t.Resize(o.side * 9 // 8), t.CenterCrop(o.side), *values])
    train = DataLoader(datasets.ImageFolder(o.train, seen), o.batch, shuffle=True, num_workers=o.workers, persistent_workers=True)
    return train, DataLoader(datasets.ImageFolder(o.val, whole), o.batch, num_workers=o.workers)
'''


def twin(work):
    """The example with torchvision's lines, and how many of its own they are changed into."""
    before, _, rest = EXAMPLE.read_text().partition(BEGIN)
    ours, _, after = rest.partition(END)
    changed = [line for line in difflib.ndiff(TORCHVISION.splitlines(), ours.splitlines())
               if line.startswith("+ ") and line[2:].strip()]
    script = work / "train_torchvision.py"
    script.write_text(before + BEGIN + TORCHVISION + END + after)
    return script, len(changed)


def train(script, data, asked, seed):
    """Accuracy, and the share of the time that it waited for data, in percent."""
    command = [sys.executable, str(script), *map(str, data), "--classes", str(asked.classes), "--epochs", str(asked.epochs),
               "--seed", str(seed)]
    threads = {"OMP_NUM_THREADS": str(asked.threads)} if asked.threads else {}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads}).stdout
    found = re.search(r"accuracy ([0-9.]+), waited for data ([0-9.]+)% of ([0-9.]+) s", done)
    print(f"  {script.name}, seed {seed}: {found[0]}", file=sys.stderr)
    return tuple(map(float, found.groups()))


def row(name, runs, changed):
    accuracies = [100 * a for a, _, _ in runs]
    deviation = statistics.stdev(accuracies) if len(runs) > 1 else 0
    waited = statistics.median(w for _, w, _ in runs)
    passed = statistics.median(s for _, _, s in runs)
    return f"| {name} | {statistics.mean(accuracies):.1f} ± {deviation:.1f} % | {waited:.2f} % | {passed:.0f} s | {changed} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("im2rec", type=pathlib.Path)
    parser.add_argument("trainset", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--threads", type=int, help="of torch [as it likes]")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    folders = [asked.trainset / part for part in ("train", "val")]
    asked.classes = sum(1 for p in folders[0].iterdir() if p.is_dir())
    shards = [asked.work / f"{folder.name}.rec" for folder in folders]
    for folder, shard in zip(folders, shards):
        subprocess.run([str(asked.im2rec), "--quiet", "--force", "--pass-through", str(folder), str(shard)], check=True)
    script, changed = twin(asked.work)
    runs = [(train(EXAMPLE, shards, asked, seed), train(script, folders, asked, seed)) for seed in range(asked.seeds)]
    ours, theirs = zip(*runs)
    difference = [100 * (a[0] - b[0]) for a, b in runs]
    error = statistics.stdev(difference) / len(difference) ** 0.5 if len(runs) > 1 else 0
    print(f"| {asked.trainset.name}, {asked.seeds} seeds, {asked.epochs} epochs | accuracy, mean ± deviation | waited for data | "
          "training | lines changed |\n|---|---|---|---|---|")
    print(row("torchvision: ImageFolder, transforms, DataLoader", theirs, "–"))
    print(row("imrec.torch.Loader", ours, changed))
    print(f"\nDifference: {statistics.mean(difference):+.1f} ± {error:.1f} points (standard error).")


if __name__ == "__main__":
    main()
