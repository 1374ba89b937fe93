"""imrec's own ImageRecordIter, in Python, on the same .rec."""
import sys

import imrec
import peer

NAMES = ("imrec",)


def open(run):
    augment = dict(rand_crop=True)
    if run.resized_crop:
        augment = dict(random_resized_crop=True, min_random_area=peer.AREA[0], max_random_area=peer.AREA[1],
                       min_aspect_ratio=peer.RATIO[0], max_aspect_ratio=peer.RATIO[1])
    it = imrec.ImageRecordIter(
        path_imgrec=str(run.rec), path_imgidx=str(run.idx), data_shape=(3, peer.SIDE, peer.SIDE), batch_size=peer.BATCH,
        shuffle=True, rand_mirror=True, preprocess_threads=run.threads, prefetch_buffer=1, last_batch="wrap",
        mean_r=peer.MEAN[0], mean_g=peer.MEAN[1], mean_b=peer.MEAN[2],
        std_r=peer.STD[0], std_g=peer.STD[1], std_b=peer.STD[2], **augment)
    for batch in it:
        yield batch.data, batch.labels


def versions():
    return {"imrec": imrec.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
