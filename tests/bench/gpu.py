#!/usr/bin/env python3
"""gpu.py SET.rec [OPTIONS]: a network that trains on a GPU, fed by imrec, by torchvision, and by nothing, in turns.

Fed by nothing means the same batch, on the device, in every step: what the GPU gives when it never waits. Prints medians and ranges of
images/s, the medians of ratios to that of the same turn, and how long the loop waited for its loader. imrec delivers uint8 NHWC in
pinned memory, which is copied by a stream of its own and normalized on the device; torchvision reads the same images as files of a
folder in processes, decodes by Pillow, and delivers float32 in pinned memory.
"""
import argparse
import os
import pathlib
import statistics
import tempfile
import time

import torch
import torchvision

import imrec
import imrec.torch

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def export(shard, folder):
    """The images as files, in a folder for each class."""
    for i, record in enumerate(imrec.Records(shard)):
        place = folder / f"{int(record.label):04d}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(record.image)


def forever(loader):
    while True:
        yield from loader


def by_imrec(o, _):
    loader = imrec.torch.Loader(o.shard, data_shape=224, batch_size=o.batch, shuffle=True, random_resized_crop=True, min_random_area=0.08,
                                rand_mirror=True, dtype="uint8", channels_last=True, pin_memory=True, preprocess_threads=o.workers,
                                last_batch="wrap", verbose=False, prefetch_buffer=8)

    def values(batch):
        images, labels = batch
        return imrec.torch.normalize(images, [255 * v for v in MEAN], [255 * v for v in STD], torch.bfloat16), labels.long()

    return forever(imrec.torch.prefetch_to(loader, "cuda", then=values))


def by_torchvision(o, folder):
    t = torchvision.transforms
    seen = t.Compose([t.RandomResizedCrop(224), t.RandomHorizontalFlip(), t.ToTensor(), t.Normalize(MEAN, STD)])
    data = torchvision.datasets.ImageFolder(folder, seen)
    loader = torch.utils.data.DataLoader(data, o.batch, shuffle=True, num_workers=o.workers, pin_memory=True, persistent_workers=True,
                                         prefetch_factor=4, drop_last=True)
    for images, labels in forever(loader):
        yield (images.to("cuda", torch.bfloat16, non_blocking=True, memory_format=torch.channels_last),
               labels.to("cuda", non_blocking=True))


def by_nothing(o, _):
    images = torch.randn(o.batch, 3, 224, 224, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (o.batch,), device="cuda")
    while True:
        yield images, labels


class Training:
    def __init__(self, o):
        self.steps = o.steps
        self.model = getattr(torchvision.models, o.model)().to("cuda", memory_format=torch.channels_last)
        self.step = torch.compile(self.model) if o.compile else self.model
        self.loss = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def turn(self, batches):
        """images/s of some steps, and the part of their time that the loop waited for a batch."""
        torch.cuda.synchronize()
        begin, waited, images = time.perf_counter(), 0.0, 0
        for _ in range(self.steps):
            asked = time.perf_counter()
            x, y = next(batches)
            waited += time.perf_counter() - asked
            with torch.autocast("cuda", torch.bfloat16):
                value = self.loss(self.step(x), y)
            self.optimizer.zero_grad(set_to_none=True)
            value.backward()
            self.optimizer.step()
            images += len(y)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        return images / seconds, waited / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shard", help="with class labels below 1000, and an index")
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=40, help="of a turn")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="threads of imrec, processes of torchvision")
    parser.add_argument("--compile", action="store_true", help="the network by torch.compile")
    parser.add_argument("--without", default="", help="a feeder that is not measured: torchvision")
    o = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    feeders = {"nothing": by_nothing, "imrec": by_imrec, "torchvision": by_torchvision}
    feeders.pop(o.without, None)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "files"
        if "torchvision" in feeders:
            export(o.shard, folder)
        batches = {name: feed(o, folder) for name, feed in feeders.items()}
        training = Training(o)
        seen = {name: [] for name in batches}
        for number in range(o.turns + 1):
            for name, feed in batches.items():
                done = training.turn(feed)
                if number != 0:  # the first one warms up
                    seen[name].append(done)
        for name, turns in seen.items():
            speeds = [speed for speed, _ in turns]
            ratio = statistics.median(a / b for a, (b, _) in zip(speeds, seen["nothing"]))
            print(f"{name:12} {statistics.median(speeds):6.0f} images/s ({min(speeds):.0f} to {max(speeds):.0f}), {ratio:.3f} of nothing, "
                  f"waited {100 * statistics.median(w for _, w in turns):.2f} %", flush=True)


if __name__ == "__main__":
    main()
