#!/usr/bin/env python3
"""tests/storage/far_folder.py - a folder of images in a bucket is what it is on a disk, by few requests.

    far_folder.py IM2REC IMREC FAKE_BUCKET

Puts generated images of classes into tests/support/fake_bucket.py, reads them in place, and counts what it is
asked; replaces and hides some. Prints what is wrong and exits with 1.
"""
import os
import re
import sys
import tempfile

from buckets import Bucket, check, imrec, png, wrong

CLASSES, EACH = 7, 5
PLAIN = ["batch_size=5", "data_shape=3,8,8", "prefetch_buffer=1", "on_error=skip"]


def batches(bucket, work, uri, *options, status=0):
    """The files that it writes, what it says, and the requests."""
    out = tempfile.mkdtemp(dir=work)
    bucket.ask("/.forget", b"")
    said = bucket.run(imrec, "batches", uri, *PLAIN, *options, "--count", str(CLASSES), "--out", out, status=status)
    files = {n: open(os.path.join(out, n), "rb").read() for n in sorted(os.listdir(out)) if n.endswith(".npy")}
    return files, said, bucket.ask("/.log").decode().splitlines()


def same_as_on_a_disk(bucket, work, photos):
    for options in ["shuffle=0"], ["shuffle=1", "rand_crop=1", "rand_mirror=1"], ["shuffle=1", "num_parts=3", "part_index=1"]:
        near = batches(bucket, work, photos, *options)
        for uri in "s3://shop/photos/", "gs://shop/photos", "az://account/box/photos":
            far = batches(bucket, work, uri, *options)
            check(near[0] == far[0] and "data.npy" in far[0], f"{uri} {options}: is not the folder's")
            check("0 failed slots" in far[1], f"{uri}: {far[1]}")


def by_few_requests(bucket, work):
    """The folder, each of its folders in two pages, and each image once: nothing is asked twice."""
    _, _, log = batches(bucket, work, "s3://shop/photos/")
    lists = [r for r in log if "list-type=2" in r]
    check(len(lists) <= 2 + 3 * (CLASSES + 1), f"{len(lists)} lists")
    check(not any(r.startswith("HEAD") and r.endswith(".png") for r in log), "asks what is listed")
    gets = [r for r in log if r.startswith("GET") and r.endswith(".png")]
    check(len(set(gets)) == CLASSES * EACH, f"{len(set(gets))} images are read")
    cache = "cache=" + os.path.join(work, "cache")
    first = batches(bucket, work, "s3://shop/photos/", cache)
    again = batches(bucket, work, "s3://shop/photos/", cache)
    check(first[0] == again[0], "the cache has others")
    check(not any(r.endswith(".png") for r in again[2]), "what is in the cache is asked for")


def a_list_below_a_root(bucket, work, photos):
    names = sorted(f"{c}/{i}.png" for c in os.listdir(photos) for i in range(EACH))
    text = "".join(f"{n}\t{n % 3}\t{name}\n" for n, name in enumerate(names)).encode()
    with open(work + "/t.lst", "wb") as f:
        f.write(text)
    bucket.ask("/shop/t.lst", text)
    near = batches(bucket, work, work + "/t.lst", "path_root=" + photos, "shuffle=1")
    far = batches(bucket, work, "s3://shop/t.lst", "path_root=s3://shop/photos/", "shuffle=1")
    check(near[0] == far[0] and "data.npy" in far[0], "a list in a bucket is not that on a disk")


def one_alone(bucket, work):
    """One that is another than the one that was listed fails alone."""
    whole, _, _ = batches(bucket, work, "s3://shop/photos/")
    bucket.ask("/.lie?shop/photos/c3/2.png", b"77")
    files, said, _ = batches(bucket, work, "s3://shop/photos/", status=3)
    check("1 failed slot" in said and files["ids.npy"] == whole["ids.npy"], f"of another size: {said}")
    check(re.search("c3/2.png, id 17: has .* bytes, and 77", said), f"of another size: {said}")


def main():
    with tempfile.TemporaryDirectory() as work:
        photos = work + "/photos"
        bucket = Bucket(work, "--page", "3")
        for c in range(CLASSES):
            os.makedirs(f"{photos}/c{c}")
            for i in range(EACH):
                png(f"{photos}/c{c}/{i}.png", f"{c}{i}", 8 + i, 9)
                with open(f"{photos}/c{c}/{i}.png", "rb") as f:
                    body = f.read()
                for place in "shop/photos", "account/box/photos":
                    bucket.ask(f"/{place}/c{c}/{i}.png", body)
        same_as_on_a_disk(bucket, work, photos)
        by_few_requests(bucket, work)
        a_list_below_a_root(bucket, work, photos)
        one_alone(bucket, work)
        bucket.stop()
    print("\n".join(wrong) or "a folder in a bucket is that on a disk")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
