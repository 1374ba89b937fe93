"""WebDataset: the same JPEG files in tar shards, torchvision's transforms, a WebLoader."""
import io
import multiprocessing
import sys

import torch
import webdataset as wds
from PIL import Image

import peer
from peer_torchvision import pillow, transform

NAMES = ("webdataset",)
SHARDS = 16


def prepare(run):
    for s in range(SHARDS):
        path, missing = run.made(f"-{s:03d}.tar")
        if missing:
            write(path, [(p.read_bytes(), k) for p, k in run.files()[s::SHARDS]], s)


def write(path, images, shard):
    with wds.TarWriter(str(path)) as out:
        for i, (jpeg, label) in enumerate(images):
            out.write({"__key__": f"{shard:03d}{i:07d}", "jpg": jpeg, "cls": label})


def pack_shard(job):
    path, files, shard = job
    write(path, ((peer.resized(p), k) for p, k in files), shard)


def pack(run):
    """Resized by Pillow in as many processes, a tar each."""
    out = run.data / "pack-webdataset"
    out.mkdir()
    files = run.files()
    with multiprocessing.Pool(run.threads) as pool:
        pool.map(pack_shard, [(out / f"{s}.tar", files[s::run.threads], s) for s in range(run.threads)])
    return len(files)


def open(run):
    torch.set_num_threads(1)
    change = transform(run, pillow)
    shards = [str(run.made(f"-{s:03d}.tar")[0]) for s in range(SHARDS)]
    data = (wds.WebDataset(shards, shardshuffle=SHARDS).repeat()
            .shuffle(peer.BUFFER // run.threads)
            .map(lambda s: (change(Image.open(io.BytesIO(s["jpg"])).convert("RGB")), int(s["cls"])))
            .batched(peer.BATCH, partial=False))
    yield from wds.WebLoader(data, batch_size=None, num_workers=run.threads if run.threads > 1 else 0)


def versions():
    return {"webdataset": wds.__version__, "torch": torch.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
