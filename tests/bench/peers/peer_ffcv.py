"""FFCV: its .beton files, of JPEG (encoded again at quality 95: it cannot keep a file's bytes) and of raw pixels."""
import importlib.metadata
import io
import random
import sys

import numpy as np
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image

import peer

NAMES = ("ffcv", "ffcv-raw")
SWEEPS = 50  # one "epoch" is so many, so that it does not stop and start its threads every second or two


class Pictures:
    def __init__(self, files, resize=False):
        self.files, self.resize = files, resize

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path, label = self.files[i]
        return Image.open(io.BytesIO(peer.resized(path)) if self.resize else path).convert("RGB"), label


def window(height, width, scale, ratio):
    return np.random.randint(0, height - 223), np.random.randint(0, width - 223), 224, 224


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
        writer(out, run, mode, run.threads).from_indexed_dataset(Pictures(run.files()), shuffle_indices=True)
        out.rename(path)


def pack(run):
    files = run.files()
    mode = "raw" if run.name == "ffcv-raw" else "jpg"
    writer(run.data / f"pack-{run.name}.beton", run, mode, run.threads).from_indexed_dataset(Pictures(files, True))
    return len(files)


def open(run):
    torch.set_num_threads(1)
    size = (peer.SIDE, peer.SIDE)
    decoder = (RandomResizedCropRGBImageDecoder(size, scale=peer.AREA, ratio=peer.RATIO) if run.resized_crop
               else RandomCrop(size))
    image = [decoder, RandomHorizontalFlip(), NormalizeImage(np.array(peer.MEAN), np.array(peer.STD), np.float32),
             ToTensor(), ToTorchImage(channels_last=False, convert_back_int16=False)]
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
