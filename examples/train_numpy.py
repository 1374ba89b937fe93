#!/usr/bin/env python3
"""train_numpy.py TRAIN.rec VAL.rec [OPTIONS]: trains a classifier of small images with numpy alone.

    im2rec --resize 128 trainset/train train.rec
    im2rec --resize 128 trainset/val val.rec
    python examples/train_numpy.py train.rec val.rec --classes 10

Softmax regression on images of 16 x 16. A second run with the same --checkpoint continues after the last saved batch,
also in the middle of a sweep, and ends with the weights of an uninterrupted run.
"""
import argparse
import json
import os
import zlib

import numpy as np

import imrec

COLOURS = dict(mean_r=124, mean_g=116, mean_b=104, std_r=58, std_g=57, std_b=57)


def open_train(o):
    return imrec.ImageRecordIter(o.train, data_shape=(3, o.side, o.side), batch_size=o.batch, shuffle=True, seed=o.seed,
                                 random_resized_crop=True, min_random_area=0.5, rand_mirror=True, last_batch="drop",
                                 **COLOURS)


def open_val(o):
    return imrec.ImageRecordIter(o.val, data_shape=(3, o.side, o.side), batch_size=o.batch, resize=o.side,
                                 last_batch="partial", **COLOURS)


def probabilities(weights, data):
    x = data.reshape(len(data), -1)
    scores = x @ weights[:-1] + weights[-1]
    scores = np.exp(scores - scores.max(1, keepdims=True))
    return x, scores / scores.sum(1, keepdims=True)


def step(weights, batch, rate):
    """Gradient descent on the cross entropy, in place."""
    x, p = probabilities(weights, batch.data)
    p[np.arange(len(p)), batch.labels.astype(int)] -= 1
    weights[:-1] -= rate * (x.T @ p / len(p) + 1e-3 * weights[:-1])
    weights[-1] -= rate * p.mean(0)


def accuracy(weights, it):
    right = [probabilities(weights, b.data)[1].argmax(1) == b.labels for b in it]
    return float(np.concatenate(right).mean())


def save(path, **state):
    state["weights"] = state["weights"].tolist()
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(state, f)
    os.replace(path + ".new", path)


def train(o):
    """Returns the weights, or None if it was interrupted."""
    weights = np.zeros((3 * o.side * o.side + 1, o.classes), np.float32)
    epoch = batches = 0
    with open_train(o) as it:
        if o.checkpoint and os.path.exists(o.checkpoint):
            with open(o.checkpoint, encoding="utf-8") as f:
                saved = json.load(f)
            weights, epoch, batches = np.array(saved["weights"], np.float32), saved["epoch"], saved["batches"]
            it.load_state_dict(saved["data"])
            print(f"continues in epoch {epoch}, after batch {batches}")
        while epoch < o.epochs:
            for batch in it:
                step(weights, batch, o.rate / (1 + epoch / 10))
                batches += 1
                if o.checkpoint and batches % o.save_every == 0:
                    save(o.checkpoint, weights=weights, epoch=epoch, batches=batches, data=it.state_dict())
                if batches == o.stop_after:
                    print(f"stopped after batch {batches}")
                    return None
            epoch += 1
    return weights


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("val")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--side", type=int, default=16)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", help="file to save to, and to resume from if it exists")
    parser.add_argument("--save-every", type=int, default=10, help="batches")
    parser.add_argument("--stop-after", type=int, help="end after this batch, as if interrupted")
    return parser.parse_args()


def main():
    o = options()
    weights = train(o)
    if weights is not None:
        with open_val(o) as it:
            print(f"accuracy {accuracy(weights, it):.4f}, weights {zlib.crc32(weights.tobytes()):08x}")


if __name__ == "__main__":
    main()
