"""What one writes by hand: simplejpeg (libjpeg-turbo) and OpenCV's resize in a pool of threads."""
import collections
import concurrent.futures
import json
import math
import random
import sys

import cv2
import numpy as np
import simplejpeg

import peer

NAMES = ("simplejpeg",)
SCALE = (1 / np.array(peer.STD, np.float32)).reshape(3, 1, 1)
SHIFT = (-np.array(peer.MEAN, np.float32) / np.array(peer.STD, np.float32)).reshape(3, 1, 1)


def prepare(run):
    """The images' mean and classes, with which every peer's first batch is checked."""
    path = run.data / f"{run.workload}.reference.json"
    if not path.exists():
        files = run.files()
        chosen = files[::max(1, len(files) // 500)]
        means = [simplejpeg.decode_jpeg(p.read_bytes(), "RGB").mean((0, 1)) for p, _ in chosen]
        mean = (np.mean(means, 0) - peer.MEAN) / peer.STD
        path.write_text(json.dumps({"mean": mean.tolist(), "classes": files[-1][1] + 1}))


def window(height, width, resized_crop):
    if not resized_crop:
        return random.randint(0, height - peer.SIDE), random.randint(0, width - peer.SIDE), peer.SIDE, peer.SIDE
    for _ in range(10):
        area = height * width * random.uniform(*peer.AREA)
        ratio = math.exp(random.uniform(math.log(peer.RATIO[0]), math.log(peer.RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side


def one(path, out, resized_crop):
    with open_file(path, "rb") as f:
        image = simplejpeg.decode_jpeg(f.read(), "RGB")
    y, x, h, w = window(image.shape[0], image.shape[1], resized_crop)
    image = image[y:y + h, x:x + w]
    if resized_crop:
        image = cv2.resize(image, (peer.SIDE, peer.SIDE), interpolation=cv2.INTER_LINEAR)
    if random.random() < 0.5:
        image = image[:, ::-1]
    np.multiply(image.transpose(2, 0, 1), SCALE, out=out)
    out += SHIFT


open_file = open


def open(run):
    cv2.setNumThreads(1)
    files = run.files()
    pool = concurrent.futures.ThreadPoolExecutor(run.threads)

    def order():
        while True:
            yield from random.sample(files, len(files))

    def begin(data, samples):
        chosen = [next(samples) for _ in range(peer.BATCH)]
        return data, [k for _, k in chosen], [pool.submit(one, p, data[i], run.resized_crop)
                                              for i, (p, _) in enumerate(chosen)]

    samples, ready, data = order(), collections.deque(), None
    for _ in range(3):
        ready.append(begin(np.empty((peer.BATCH, 3, peer.SIDE, peer.SIDE), np.float32), samples))
    while True:
        if data is not None:
            ready.append(begin(data, samples))
        data, labels, futures = ready.popleft()
        for f in futures:
            f.result()
        yield data, np.array(labels)


def versions():
    return {"simplejpeg": simplejpeg.__version__, "opencv": cv2.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
