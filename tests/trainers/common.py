"""What the training scripts of the trainers share: the loader, a small model, and what a rank writes down."""
import json
import os
import sys
import time

import torch

import imrec.torch

SWEEPS = 2
OPTIONS = {"data_shape": (3, 16, 16), "shuffle": True, "seed": 5, "rand_mirror": True, "preprocess_threads": 1, "order": "global",
           "global_batch_size": 12, "weights": True}
SET, FOLDER, STOP = sys.argv[1], sys.argv[2], int(sys.argv[3])  # STOP: waits to be killed before this step; 0: runs to its end


def open_loader(**more):
    return imrec.torch.Loader(SET, **{**OPTIONS, **more})


def model():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 100))


def loss_of(model, batch):
    images, labels, weights = batch
    each = torch.nn.functional.cross_entropy(model(images / 255), labels, reduction="none")
    return (each * weights).sum() / weights.sum().clamp(min=1)


class Diary:
    """A file of each rank with a line a step: its samples."""

    def __init__(self, rank, world):
        self._file = open(os.path.join(FOLDER, f"{world}.{rank}"), "a")
        self._steps = 0
        self._write({"pid": os.getpid()})

    def step(self, batch):
        _, labels, weights = batch
        self._steps += 1
        if self._steps == STOP:
            self._write({"waits": True})
            time.sleep(100000)
        self._write({"labels": labels[weights == 1].tolist()})

    def _write(self, entry):
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
