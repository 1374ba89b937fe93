"""MXNet's ImageRecordIter on the same .rec."""
import subprocess
import sys

import mxnet as mx
import peer

NAMES = ("mxnet",)


def open(run):
    augment = dict(rand_crop=True)
    if run.resized_crop:
        augment = dict(random_resized_crop=True, min_random_area=peer.AREA[0], max_random_area=peer.AREA[1],
                       min_aspect_ratio=peer.RATIO[0], max_aspect_ratio=peer.RATIO[1])
    it = mx.io.ImageRecordIter(
        path_imgrec=str(run.rec), path_imgidx=str(run.idx), data_shape=(3, peer.SIDE, peer.SIDE), batch_size=peer.BATCH,
        shuffle=True, rand_mirror=True, preprocess_threads=run.threads, prefetch_buffer=4,
        mean_r=peer.MEAN[0], mean_g=peer.MEAN[1], mean_b=peer.MEAN[2],
        std_r=peer.STD[0], std_g=peer.STD[1], std_b=peer.STD[2], **augment)
    while True:
        for batch in it:
            batch.data[0].wait_to_read()
            batch.label[0].wait_to_read()
            yield batch.data[0], batch.label[0]
        it.reset()


def numpy(x):
    return x.asnumpy()


def pack(run):
    """Its own im2rec.py, with as many processes."""
    out = run.data / "pack-mxnet"
    out.mkdir()
    tool = [sys.executable, "-W", "ignore", "-m", "mxnet.tools.im2rec"]
    quiet = dict(check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*tool, "--list", "--recursive", str(out / "set"), str(run.folder)], **quiet)
    count = sum(1 for _ in (out / "set.lst").open())
    subprocess.run([*tool, "--resize", "256", "--quality", "95", "--num-thread", str(run.threads), str(out / "set"),
                    str(run.folder)], **quiet)
    return count


def versions():
    return {"mxnet": mx.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
