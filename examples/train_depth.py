#!/usr/bin/env python3
"""train_depth.py TRAIN VAL [OPTIONS]: learns the depth of each pixel from its colours and its row, with numpy alone.

TRAIN and VAL are archives (.tar) or records whose samples have an image and a map of depths, a PNG of 16 bits:

    tar --sort=name -cf train.tar 0001.jpg 0001.depth.png 0002.jpg 0002.depth.png ...
    python examples/train_depth.py train.tar val.tar --depth depth.png

Images and depths are cropped, resized and mirrored together while they are read. What is learned is
a linear function of the colours for each row, by normal equations that are summed over the batches.
"""
import argparse

import numpy as np

import imrec


def opened(path, o, **more):
    return imrec.ImageRecordIter(path, images=f"image,{o.depth}:float32", label="none", data_shape=(3, o.side, o.side), batch_size=o.batch,
                                 scale=1 / 255, **more)


def features(images):
    """(slots, H, W, 4): three colours, and 1."""
    colours = images.transpose(0, 2, 3, 1)
    return np.concatenate([colours, np.ones((*colours.shape[:3], 1), np.float32)], 3).astype(np.float64)


def learn(o):
    """Weights (H, 4). Places of a map without a value are 0, and are not learned."""
    n = 4
    squares, products = np.zeros((o.side, n, n)), np.zeros((o.side, n))
    with opened(o.train, o, shuffle=True, rand_mirror=True, resize=o.side + o.side // 8, rand_crop=True) as it:
        for _ in range(o.epochs):
            for batch in it.sweep():
                x, depth = features(batch.data), batch[o.depth].astype(np.float64)
                known = (depth > 0)[..., None]
                squares += np.einsum("shwi,shwj->hij", x * known, x)
                products += np.einsum("shwi,shw->hi", x * known, depth)
    return np.linalg.solve(squares + 1e-6 * np.eye(n), products[..., None])[..., 0]


def error(weights, o):
    """The median of relative errors."""
    with opened(o.val, o, resize=o.side) as it:
        off = [np.abs(np.einsum("shwi,hi->shw", features(batch.data), weights) - depth)[depth > 0] / depth[depth > 0]
               for batch in it for depth in [batch[o.depth]]]
    return float(np.median(np.concatenate(off)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("val")
    parser.add_argument("--depth", default="depth.png", help="the name of the field that is the map")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    o = parser.parse_args()
    print(f"median of relative errors {error(learn(o), o):.3f}")


if __name__ == "__main__":
    main()
