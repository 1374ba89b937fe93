"""tf.data: TFRecord shards of the same JPEG files, decode_and_crop_jpeg."""
import multiprocessing
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

import peer  # noqa: E402

NAMES = ("tf.data",)
SHARDS = 16


def prepare(run):
    files = run.files()
    for s in range(SHARDS):
        path, missing = run.made(f"-{s:03d}.tfrecord")
        if missing:
            write(path, ((p.read_bytes(), k) for p, k in files[s::SHARDS]))


def write(path, images):
    with tf.io.TFRecordWriter(str(path)) as out:
        for jpeg, label in images:
            feature = {"jpeg": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg])),
                       "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))}
            out.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def pack_shard(job):
    path, files = job
    write(path, ((peer.resized(p), k) for p, k in files))


def pack(run):
    """Resized by Pillow in as many processes, a TFRecord file each."""
    out = run.data / "pack-tf.data"
    out.mkdir()
    files = run.files()
    with multiprocessing.get_context("fork").Pool(run.threads) as pool:
        pool.map(pack_shard, [(out / f"{s}.tfrecord", files[s::run.threads]) for s in range(run.threads)])
    return len(files)


def window(jpeg, resized_crop):
    """Place and size of the crop: y, x, height, width."""
    shape = tf.io.extract_jpeg_shape(jpeg)
    if resized_crop:
        box = tf.image.sample_distorted_bounding_box(
            shape, tf.zeros((1, 0, 4)), min_object_covered=0.0, aspect_ratio_range=peer.RATIO, area_range=peer.AREA,
            max_attempts=10, use_image_if_no_bounding_boxes=True)
        y, x, _ = tf.unstack(box[0])
        height, width, _ = tf.unstack(box[1])
        return tf.stack([y, x, height, width])
    y = tf.random.uniform((), maxval=shape[0] - peer.SIDE + 1, dtype=tf.int32)
    x = tf.random.uniform((), maxval=shape[1] - peer.SIDE + 1, dtype=tf.int32)
    return tf.stack([y, x, peer.SIDE, peer.SIDE])


def open(run):
    tf.config.threading.set_intra_op_parallelism_threads(run.threads)
    tf.config.threading.set_inter_op_parallelism_threads(run.threads)
    mean, std = (tf.reshape(tf.constant(v, tf.float32), (3, 1, 1)) for v in (peer.MEAN, peer.STD))

    def sample(record):
        fields = tf.io.parse_single_example(record, {"jpeg": tf.io.FixedLenFeature((), tf.string),
                                                     "label": tf.io.FixedLenFeature((), tf.int64)})
        image = tf.image.decode_and_crop_jpeg(fields["jpeg"], window(fields["jpeg"], run.resized_crop), channels=3)
        if run.resized_crop:
            image = tf.image.resize(image, (peer.SIDE, peer.SIDE))
        image = tf.transpose(tf.image.random_flip_left_right(image), (2, 0, 1))
        return (tf.cast(image, tf.float32) - mean) / std, fields["label"]

    shards = [str(run.made(f"-{s:03d}.tfrecord")[0]) for s in range(SHARDS)]
    data = tf.data.Dataset.from_tensor_slices(shards).shuffle(SHARDS).interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=min(4, run.threads))
    data = data.shuffle(peer.BUFFER).repeat().map(sample, num_parallel_calls=run.threads, deterministic=False)
    data = data.batch(peer.BATCH, drop_remainder=True).prefetch(2)
    options = tf.data.Options()
    options.threading.private_threadpool_size = run.threads
    yield from data.with_options(options)


def numpy(x):
    return x.numpy()


def versions():
    return {"tensorflow": tf.__version__}


if __name__ == "__main__":
    peer.main(sys.modules[__name__])
