"""TFRecord files, with TensorFlow: what it has written is read as its own parser reads it, whatever features there are; what imrec
has written is read by it. tests/long tensorflow runs it."""
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import imrec
from conftest import jpeg, make_image, write_shard

sys.path.insert(0, str(Path(__file__).parent / "tfrecords"))
import make  # noqa: E402

NAMES = [f"f{i}" for i in range(6)]


def random_feature(rng):
    kind, n = rng.randrange(4), rng.choice([0, 1, 1, 2, 5])
    if kind == 0:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[rng.randrange(-2**63, 2**63) for _ in range(n)]))
    if kind == 1:
        return tf.train.Feature(float_list=tf.train.FloatList(value=[rng.uniform(-9, 9) for _ in range(n)]))
    if kind == 2:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[rng.randbytes(rng.randrange(200)) for _ in range(min(n, 1))]))
    return tf.train.Feature()


def random_message(rng, i):
    """Examples one after the other are one message: protobuf joins them."""
    image = tf.train.Feature(bytes_list=tf.train.BytesList(value=[make.png(i)]))
    label = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
    parts = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        features = {name: random_feature(rng) for name in rng.sample(NAMES, rng.randrange(len(NAMES)))}
        parts.append(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    named = tf.train.Features(feature={"image/encoded": image, "image/class/label": label})
    parts.insert(rng.randrange(len(parts) + 1), tf.train.Example(features=named).SerializeToString())
    return b"".join(parts)


def expected(feature):
    kind = feature.WhichOneof("kind")
    if kind is None or (kind == "bytes_list" and not feature.bytes_list.value):
        return None
    if kind == "bytes_list":
        return feature.bytes_list.value[0]
    if kind == "int64_list":
        return np.array(feature.int64_list.value, np.int64)
    return np.array(feature.float_list.value, np.float32)


def test_every_message_is_read_as_protobuf_reads_it(tmp_path):
    rng = random.Random(7)
    messages = [random_message(rng, i) for i in range(3000)]
    with tf.io.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        for message in messages:
            writer.write(message)
    with imrec.ImageRecordIter(tmp_path / "a.tfrecord", data_shape=(3, 16, 16), batch_size=64, shuffle=True, last_batch="partial",
                               fields=",".join(f"{name}?" for name in NAMES)) as batches:
        seen = 0
        for batch in batches:
            for slot, i in enumerate(batch.ids.tolist()):
                assert batch.labels[slot] == i
                example = tf.train.Example.FromString(messages[i])
                for name in NAMES:
                    want = expected(example.features.feature[name]) if name in example.features.feature else None
                    got = batch[name][slot]
                    assert (got is None) == (want is None), (i, name)
                    if isinstance(want, np.ndarray):
                        assert got.dtype == want.dtype and got.tolist() == want.tolist(), (i, name)
                    elif want is not None:
                        assert got == want, (i, name)
                seen += 1
    assert seen == len(messages)


def test_tensorflow_reads_what_is_converted(tmp_path):
    images = [jpeg(make_image(i)) for i in range(40)]
    write_shard(tmp_path / "a.rec", [(100 + i, i % 7, image) for i, image in enumerate(images)])
    subprocess.run([os.environ["IMREC"], "convert", "--quiet", tmp_path / "a.rec", tmp_path / "a.tfrecord"], check=True)
    wanted = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "image/class/label": tf.io.FixedLenFeature([], tf.int64),
              "image/format": tf.io.FixedLenFeature([], tf.string), "image/id": tf.io.FixedLenFeature([], tf.int64)}
    n = 0
    for i, record in enumerate(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord"))):
        example = tf.io.parse_single_example(record, wanted)
        assert example["image/encoded"].numpy() == images[i] and example["image/class/label"].numpy() == i % 7
        assert example["image/format"].numpy() == b"jpeg" and example["image/id"].numpy() == 100 + i
        n += 1
    assert n == 40


def test_what_is_copied_is_what_was_written(tmp_path):
    make.write_tensorflow(str(tmp_path / "a.tfrecord"), 50)
    subprocess.run([os.environ["IMREC"], "convert", "--quiet", tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"], check=True)
    assert (tmp_path / "a.tfrecord").read_bytes() == (tmp_path / "b.tfrecord").read_bytes()
