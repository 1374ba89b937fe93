#!/usr/bin/env python3
"""tests/storage/many_shards.py - a set of very many shards in a bucket opens by its list alone.

    many_shards.py IM2REC IMREC FAKE_BUCKET COUNT

Opens COUNT shards of tests/support/fake_bucket.py and counts what it is asked; reads them as a folder's are;
replaces shards between the list and their first read. Prints what is wrong and exits with 1.
"""
import os
import re
import shutil
import sys
import tempfile

from buckets import Bucket, check, fake, im2rec, imrec, png, wrong

COUNT = int(sys.argv[4])
PLAIN = ["shuffle=0", "batch_size=4", "data_shape=3,8,8", "prefetch_buffer=1", "preprocess_threads=1"]


def contents(folder):
    return {n: open(os.path.join(folder, n), "rb").read() for n in sorted(os.listdir(folder))}


def batches(bucket, work, uri, *options, count=1, status=0):
    """The files that it writes, what it says, and the requests."""
    out = tempfile.mkdtemp(dir=work)
    bucket.ask("/.forget", b"")
    said = bucket.run(imrec, "batches", uri, *PLAIN, *options, "--count", str(count), "--out", out, status=status)
    return contents(out), said, bucket.ask("/.log").decode().splitlines()


def opened_by_its_list(bucket, work, uri, pages, *options):
    """Besides its pages it takes what the first batches are made of, however many shards there are."""
    _, said, log = batches(bucket, work, uri, "num_parts=8", "part_index=3", *options)
    log = [r for r in log if "%2A" not in r]  # whether the pattern itself is a name
    lists = [r for r in log if "list-type=2" in r]
    check(len(lists) == pages, f"{uri}: {len(lists)} lists, not {pages}")
    check(len(log) <= pages + 100, f"{uri}: {len(log)} requests for {pages} pages: {log[-3:]}")
    touched = {r.split()[1] for r in log if r.endswith(".rec")}
    check(touched <= {f"/shop/set/s{i:06d}.rec" for i in [0, *range(COUNT * 3 // 8 - 4, COUNT * 3 // 8 + 99)]}, f"{uri}: reads {sorted(touched)[:4]}")
    check("1 batch, 4 rows" in said, f"{uri}: {said}")


def same_as_a_folder(bucket, work, shard):
    """70 shards are opened late, by whatever text, and are what a folder's are; also with a cache."""
    folder = os.path.join(work, "seventy")
    os.mkdir(folder)
    for i in range(70):
        shutil.copy(shard + ".rec", f"{folder}/s{i:06d}.rec")
    with open(shard + ".rec", "rb") as f:
        content = f.read()
    for place in "shop/seventy", "account/box/seventy":
        bucket.ask(f"/.many?{place}/s*.rec&70", content)
    for shuffle in "0", "1":
        for uri in "s3://shop/seventy/", "s3://shop/seventy", "s3://shop/seventy/s*.rec", "gs://shop/seventy/", "az://account/box/seventy/":
            near = batches(bucket, work, folder, f"shuffle={shuffle}", "num_parts=3", "part_index=1", count=9)
            far = batches(bucket, work, uri, f"shuffle={shuffle}", "num_parts=3", "part_index=1", count=9)
            check(near[0] == far[0] and "data.npy" in far[0], f"{uri}: shuffle={shuffle} is not the folder's")
            check(not any(re.match(r"HEAD .*/s\d+\.rec", r) for r in far[2]), f"{uri}: asks what is listed")
    cache = "cache=" + os.path.join(work, "cache")
    first = batches(bucket, work, "s3://shop/seventy/", cache, count=70)
    again = batches(bucket, work, "s3://shop/seventy/", cache, count=70)
    check(first[0] == again[0] and len(first[2]) > 70, "the cache does not read what it keeps")
    check(len(again[2]) == 1, f"what is in the cache is asked for: {again[2]}")


def replaced(bucket, work, shard, words, act):
    """One that is another than the one that was listed is an error that names both; nothing of it is used."""
    with open(shard + ".rec", "rb") as f:
        content = f.read()
    bucket.ask("/.many?shop/late/s*.rec&70", content)
    act("shop/late/s000040.rec", content)
    _, said, _ = batches(bucket, work, "s3://shop/late/", count=70, status=3)
    for word in [*words, "shop/late/s000040.rec"]:
        check(re.search(word, said), f"replaced: '{said[:900]}' does not say '{word}'")


def listed_indexes(bucket, work, shard):
    """With an index each is read once, and nobody is asked whether it is there."""
    for suffix in ".rec", ".idx", ".crc":
        with open(shard + suffix, "rb") as f:
            bucket.ask(f"/.many?shop/indexed/s*{suffix}&70", f.read())
    plain = batches(bucket, work, "s3://shop/indexed/", "path_imgidx=none", count=70)
    files, _, log = batches(bucket, work, "s3://shop/indexed/", "path_imgidx=auto", "verify_checksums=1", "num_parts=8", "part_index=2")
    asked = {s: sum(r.endswith(s) for r in log) for s in (".idx", ".crc", ".manifest.json")}
    check(asked[".idx"] == 70 and 0 < asked[".crc"] <= 10 and asked[".manifest.json"] == 0, f"beside the shards: {asked}")
    check(not any(r.startswith("HEAD") for r in log) and "data.npy" in files, f"indexed: {log}")
    whole, _, log = batches(bucket, work, "s3://shop/indexed/", "path_imgidx=auto", count=70)
    check(whole["ids.npy"] == plain[0]["ids.npy"], "with an index it is another order")
    check(sum("list-type=2" in r for r in log) == 1, "an indexed set is listed more than once")


def main():
    with tempfile.TemporaryDirectory() as work:
        for c in "ab":
            os.makedirs(f"{work}/images/{c}")
            for i in range(2):
                png(f"{work}/images/{c}/{i}.png", f"{c}{i}", 8, 8)
        bucket = Bucket(work)
        shard = work + "/t"
        bucket.run(im2rec, "--quiet", work + "/images", shard + ".rec")
        with open(shard + ".rec", "rb") as f:
            content = f.read()
        bucket.run(im2rec, "--quiet", "--format", "cbf", work + "/images", work + "/c.cbf")
        with open(work + "/c.cbf", "rb") as f:
            cbf = f.read()
        bucket.ask(f"/.many?shop/set/s*.rec&{COUNT}", content)
        for uri in "s3://shop/set/", "s3://shop/set", "s3://shop/set/s*.rec":
            opened_by_its_list(bucket, work, uri, -(-COUNT // 1000))
        same_as_a_folder(bucket, work, shard)
        listed_indexes(bucket, work, shard)
        other = content[:-1] + b"\1"
        replaced(bucket, work, shard, ["another version than the one that was listed"], lambda n, c: bucket.ask("/.after?" + n, other))
        replaced(bucket, work, shard, ["another version than the one that was listed"], lambda n, c: bucket.ask("/.after?" + n, c + c))
        replaced(bucket, work, shard, ["PNG image, not a RecordIO"], lambda n, c: bucket.ask("/" + n, b"\x89PNG\r\n\x1a\n" + c))
        replaced(bucket, work, shard, ["a set is of one kind"], lambda n, c: bucket.ask("/" + n, cbf))
        size = len(content)
        replaced(bucket, work, shard, [f"has {size} bytes, and {size + 4} where"], lambda n, c: bucket.ask("/.lie?" + n, str(size + 4).encode()))
        replaced(bucket, work, shard, [f"has {size} bytes, and {size - 4} where"], lambda n, c: bucket.ask("/.lie?" + n, str(size - 4).encode()))
        bucket.stop()
    print("\n".join(wrong) or f"{COUNT} shards open by their list alone")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
