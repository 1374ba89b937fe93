"""FFCV: its .beton files, of JPEG (encoded again at quality 95: it cannot keep a file's bytes) and of raw pixels."""
import importlib.metadata
import io
import random
import sys
from dataclasses import replace

import numpy as np
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.pipeline.allocation_query import AllocationQuery
from ffcv.pipeline.compiler import Compiler
from ffcv.pipeline.operation import Operation
from ffcv.transforms import RandomHorizontalFlip, Squeeze, ToTensor
from ffcv.writer import DatasetWriter
from PIL import Image

import peer

NAMES = ("ffcv", "ffcv-raw")
SWEEPS = 50  # one "epoch" is so many, so that it does not stop and start its threads every second or two


class Images:
    def __init__(self, files, resize=False):
        self.files, self.resize = files, resize

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path, label = self.files[i]
        return Image.open(io.BytesIO(peer.resized(path)) if self.resize else path).convert("RGB"), label


def window(height, width, scale, ratio):
    return np.random.randint(0, height - 223), np.random.randint(0, width - 223), 224, 224


class NormalizeToPlanes(Operation):
    """FFCV's NormalizeImage, but written as float32 CHW at once: its own way there, a copy by torch, takes twice the time."""

    def generate_code(self):
        table = ((np.arange(256)[:, None] - np.array(peer.MEAN)) / np.array(peer.STD)).astype(np.float32)
        red, green, blue = (np.ascontiguousarray(table[:, c]) for c in range(3))
        my_range = Compiler.get_iterator()

        def normalize(images, result, indices):
            for i in my_range(len(indices)):
                image, planes = images[i].reshape(-1, 3), result[i].reshape(3, -1)
                for px in range(image.shape[0]):
                    planes[0, px] = red[image[px, 0]]
                    planes[1, px] = green[image[px, 1]]
                    planes[2, px] = blue[image[px, 2]]
            return result

        normalize.is_parallel = True
        normalize.with_indices = True
        return normalize

    def declare_state_and_memory(self, previous_state):
        shape = (3, peer.SIDE, peer.SIDE)
        return (replace(previous_state, jit_mode=True, shape=shape, dtype=np.dtype(np.float32)),
                AllocationQuery(shape, np.dtype(np.float32)))


class RandomCrop(RandomResizedCropRGBImageDecoder):
    """A crop of the output's own size, which FFCV's resize then only copies."""

    @property
    def get_crop_generator(self):
        return window


def writer(path, run, mode, workers):
    fields = {"image": RGBImageField(write_mode=mode, jpeg_quality=95), "label": IntField()}
    return DatasetWriter(str(path), fields, num_workers=workers)


def prepare(run):
    path, missing = run.made(".beton")
    if missing:
        out = path.with_suffix(".part")
        mode = "raw" if run.name == "ffcv-raw" else "jpg"
        writer(out, run, mode, run.threads).from_indexed_dataset(Images(run.files()), shuffle_indices=True)
        out.rename(path)


def pack(run):
    files = run.files()
    mode = "raw" if run.name == "ffcv-raw" else "jpg"
    writer(run.data / f"pack-{run.name}.beton", run, mode, run.threads).from_indexed_dataset(Images(files, True))
    return len(files)


def open(run):
    torch.set_num_threads(1)
    size = (peer.SIDE, peer.SIDE)
    decoder = (RandomResizedCropRGBImageDecoder(size, scale=peer.AREA, ratio=peer.RATIO) if run.resized_crop
               else RandomCrop(size))
    image = [decoder, RandomHorizontalFlip(), NormalizeToPlanes(), ToTensor()]
    label = [IntDecoder(), ToTensor(), Squeeze()]
    count = len(run.files())
    while True:
        yield from Loader(str(run.made(".beton")[0]), batch_size=peer.BATCH, num_workers=run.threads,
                          order=OrderOption.RANDOM, os_cache=True, drop_last=True, seed=random.randrange(1 << 30),
                          indices=np.tile(np.arange(count), SWEEPS), pipelines={"image": image, "label": label})


def versions():
    return {"ffcv": importlib.metadata.version("ffcv"), "torch": torch.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
