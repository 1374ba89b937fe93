#!/usr/bin/env python3
"""make.py tensorflow|tfrecord OUT [N] - writes N Examples (6) of small PNGs into a TFRecord file, by TensorFlow or by the package
tfrecord. tensorflow.tfrecord and tfrecord.tfrecord next to it were made so, by tensorflow-cpu 2.21.0 and tfrecord 1.14.6."""
import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kept_images import png  # noqa: E402


def features(i):
    """Of Example i: name -> (kind, values)."""
    image = png(i)
    return {
        "image/encoded": ("byte", [image]),
        "image/copy": ("byte", [image]),
        "image/class/label": ("int", [i % 3 + 1]),
        "image/class/text": ("byte", ["zwei Hunde: ä".encode()]),
        "image/sha": ("byte", [hashlib.sha256(image).digest()]),
        "wide": ("int", [i, -i, 2**40 + i]),
        "score": ("float", [i / 4, -1.5]),
        "empty": ("byte", [b""]),
    }


def write_tensorflow(path, n):
    import tensorflow as tf

    def feature(kind, values):
        if kind == "byte":
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if kind == "int":
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(n):
            named = {name: feature(*values) for name, values in features(i).items()}
            writer.write(tf.train.Example(features=tf.train.Features(feature=named)).SerializeToString())


def write_tfrecord(path, n):
    from tfrecord.writer import TFRecordWriter
    writer = TFRecordWriter(path)
    for i in range(n):
        writer.write({name: (values, kind) for name, (kind, values) in features(i).items()})
    writer.close()


if __name__ == "__main__":
    write = {"tensorflow": write_tensorflow, "tfrecord": write_tfrecord}[sys.argv[1]]
    write(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 6)
