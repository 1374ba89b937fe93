"""NVIDIA DALI on the CPU: its MXNet reader on the same .rec, and its file reader."""
import sys

import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, types

import peer

NAMES = ("dali", "dali-files")


@dali.pipeline_def
def pipeline(run):
    order = dict(random_shuffle=True, initial_fill=peer.BUFFER, name="reader")
    if run.name == "dali":
        jpeg, label = fn.readers.mxnet(path=[str(run.rec)], index_path=[str(run.idx)], **order)
    else:
        jpeg, label = fn.readers.file(file_root=str(run.folder), **order)
    if run.resized_crop:
        image = fn.decoders.image_random_crop(jpeg, device="cpu", output_type=types.RGB, random_area=list(peer.AREA),
                                              random_aspect_ratio=list(peer.RATIO), num_attempts=10)
        image = fn.resize(image, resize_x=peer.SIDE, resize_y=peer.SIDE, interp_type=types.INTERP_LINEAR,
                          antialias=False)
    else:
        image = fn.decoders.image_crop(jpeg, device="cpu", output_type=types.RGB, crop=(peer.SIDE, peer.SIDE),
                                       crop_pos_x=fn.random.uniform(range=(0.0, 1.0)),
                                       crop_pos_y=fn.random.uniform(range=(0.0, 1.0)))
    image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW", mean=list(peer.MEAN),
                                     std=list(peer.STD), mirror=fn.random.coin_flip())
    return image, label


def open(run):
    pipe = pipeline(run, batch_size=peer.BATCH, num_threads=run.threads, device_id=None, prefetch_queue_depth=2)
    pipe.build()
    while True:
        image, label = pipe.run()
        yield image.as_tensor(), label.as_tensor()


def numpy(x):
    return np.array(x)


def versions():
    return {"nvidia-dali": dali.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
