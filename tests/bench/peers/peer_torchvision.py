"""torchvision's ImageFolder and transforms in a DataLoader: with Pillow, and with its own decoder and tensors (v2)."""
import sys

import torch
import torchvision
from torchvision import datasets, io
from torchvision import transforms as pillow
from torchvision.transforms import v2

import peer

NAMES = ("torchvision", "torchvision-v2")


class Endless(torch.utils.data.Sampler):
    """Sweep after sweep, so that no worker waits where one ends."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        while True:
            yield from torch.randperm(self.count).tolist()


def transform(run, t):
    if run.resized_crop:
        crop = t.RandomResizedCrop(peer.SIDE, scale=peer.AREA, ratio=peer.RATIO)
    else:
        crop = t.RandomCrop(peer.SIDE)
    number = pillow.ToTensor() if t is pillow else v2.ToDtype(torch.float32, scale=True)
    return t.Compose([crop, t.RandomHorizontalFlip(), number,
                      t.Normalize([m / 255 for m in peer.MEAN], [s / 255 for s in peer.STD])])


def decode(path):
    return io.decode_jpeg(io.read_file(path), mode=io.ImageReadMode.RGB)


def open(run):
    torch.set_num_threads(1)
    if run.name == "torchvision":
        data = datasets.ImageFolder(run.folder, transform(run, pillow))
    else:
        data = datasets.ImageFolder(run.folder, transform(run, v2), loader=decode)
    workers = dict(num_workers=run.threads, persistent_workers=True) if run.threads > 1 else {}
    yield from torch.utils.data.DataLoader(data, peer.BATCH, sampler=Endless(len(data)), drop_last=True, **workers)


def versions():
    return {"torch": torch.__version__, "torchvision": torchvision.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
