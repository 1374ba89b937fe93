#!/usr/bin/env python3
"""train_torch.py TRAIN.rec VAL.rec [OPTIONS]: trains a small CNN on the CPU, and resumes after an interruption.

    im2rec --resize 128 trainset/train train.rec
    im2rec --resize 128 trainset/val val.rec
    python examples/train_torch.py train.rec val.rec --epochs 30 --checkpoint run.pt

A second run with the same checkpoint continues after the last saved batch, also in the middle of a sweep, and ends with
the model of an uninterrupted run, bit for bit.
"""
import argparse
import os
import time
import zlib

import torch
from torch import nn

# data: begin
import imrec.torch


def loaders(o):
    size = dict(data_shape=(3, o.side, o.side), batch_size=o.batch, preprocess_threads=o.workers)
    train = imrec.torch.Loader(o.train, preset="imagenet-train-torch", min_random_area=0.3, shuffle=True, seed=o.seed, **size)
    return train, imrec.torch.Loader(o.val, preset="imagenet-eval-torch", resize=o.side * 9 // 8, **size)
# data: end


def network(classes):
    def layer(i, o):
        return [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(*layer(3, 16), *layer(16, 32), *layer(32, 64), *layer(64, 128), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Dropout(0.1), nn.Linear(128, classes))


@torch.no_grad()
def accuracy(model, batches):
    model.eval()
    right = total = 0
    for images, labels in batches:
        right += (model(images).argmax(1) == labels).sum().item()
        total += len(labels)
    model.train()
    return right / total


class Training:
    """The contents of a checkpoint: model, optimizer, schedule, random state, and the place in the data."""

    def __init__(self, o):
        torch.manual_seed(o.seed)
        self.options, self.epoch, self.batches = o, 0, 0
        self.train, self.val = loaders(o)
        self.model = network(o.classes)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), weight_decay=0.02)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, 4e-3, o.epochs * len(self.train))
        self.parts = {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule, "data": self.train}
        self.waited = self.passed = 0.0
        if o.checkpoint and os.path.exists(o.checkpoint):
            self.load(torch.load(o.checkpoint, weights_only=False))

    def load(self, saved):
        for name, part in self.parts.items():
            part.load_state_dict(saved[name])
        torch.set_rng_state(saved["random"])
        self.epoch, self.batches = saved["epoch"], saved["batches"]
        print(f"continues in epoch {self.epoch}, after batch {self.batches}")

    def save(self):
        state = {name: part.state_dict() for name, part in self.parts.items()}
        state |= {"random": torch.get_rng_state(), "epoch": self.epoch, "batches": self.batches}
        torch.save(state, self.options.checkpoint + ".new")
        os.replace(self.options.checkpoint + ".new", self.options.checkpoint)

    def step(self, images, labels):
        loss = nn.functional.cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        self.batches += 1

    def sweep(self):
        """One epoch, or the rest of it. False if it was interrupted."""
        o, begin = self.options, time.perf_counter()
        ready = begin
        for images, labels in self.train:
            self.waited += time.perf_counter() - ready
            self.step(images, labels)
            if o.checkpoint and self.batches % o.save_every == 0:
                self.save()
            if self.batches == o.stop_after:
                return False
            ready = time.perf_counter()
        self.passed += time.perf_counter() - begin
        self.epoch += 1
        return True

    def run(self):
        while self.epoch < self.options.epochs:
            if not self.sweep():
                return print(f"stopped after batch {self.batches}")
        digest = zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in self.model.state_dict().values()))
        print(f"accuracy {accuracy(self.model, self.val):.4f}, waited for data {self.waited / max(self.passed, 1e-9):.2%} of "
              f"{self.passed:.1f} s, model {digest:08x}")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("val")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--side", type=int, default=48, help="size of the network's input in pixels [%(default)s]")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="decoding threads")
    parser.add_argument("--checkpoint", help="file to save to, and to resume from if it exists")
    parser.add_argument("--save-every", type=int, default=10, help="batches")
    parser.add_argument("--stop-after", type=int, help="end after this batch, as if interrupted")
    return parser.parse_args()


if __name__ == "__main__":
    Training(options()).run()
