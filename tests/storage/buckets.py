#!/usr/bin/env python3
"""tests/storage/buckets.py - sets in buckets are what they are in folders.

    buckets.py IM2REC IMREC FAKE_BUCKET KILLS

Packs generated images into a bucket of tests/support/fake_bucket.py and into a folder: every byte is
equal, also after the packer was killed KILLS times and resumed, and read by any partition. Prints what
is wrong and exits with 1.
"""
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import zlib

im2rec, imrec, fake, kills = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
SECRET = "a-secret-that-nobody-sees"
wrong = []


def png(path, seed, width, height):
    """Noise that no codec makes smaller: parts of uploads are 16 MiB."""
    rows = random.Random(seed).randbytes((3 * width + 1) * height)
    raw = b"".join(b"\0" + rows[i * (3 * width + 1) + 1 : (i + 1) * (3 * width + 1)] for i in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 0)) + chunk(b"IEND", b""))


class Bucket:
    """A running fake_bucket.py, and the variables by which it is found."""

    def __init__(self, folder, *options):
        file = os.path.join(folder, f"port{random.random()}")
        self.process = subprocess.Popen([sys.executable, fake, *options, file])
        while not os.path.exists(file):
            time.sleep(0.02)
        with open(file, encoding="ascii") as f:
            self.url = "http://127.0.0.1:" + f.read()
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "AZURE_", "GS_", "GOOGLE_"))}
        self.env = plain | {
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
            "STORAGE_EMULATOR_HOST": self.url,
            "AZURE_STORAGE_SERVICE_ENDPOINT": self.url + "/account",
            "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=" + SECRET,
        }

    def ask(self, path, body=None):
        request = urllib.request.Request(self.url + path, data=body, method="GET" if body is None else "PUT")
        return urllib.request.urlopen(request).read()

    def get(self, name):
        while True:
            try:
                return self.ask("/" + name)
            except urllib.error.HTTPError as e:
                if e.code != 503:
                    return None

    def run(self, *args, status=0):
        done = subprocess.run(args, env=self.env, capture_output=True, text=True, errors="replace")
        if SECRET in done.stdout + done.stderr:
            wrong.append(f"{args[1:]}: a secret is shown")
        if done.returncode != status:
            wrong.append(f"{args[1:]}: status {done.returncode}, not {status}: {done.stderr[-400:]}")
        return done.stdout + done.stderr

    def stop(self):
        self.process.kill()
        self.process.wait()


def check(good, what):
    if not good:
        wrong.append(what)


def same_files(bucket, folder, prefix, what):
    """All of a folder's files are below the prefix, and nothing else is."""
    names = sorted(os.listdir(folder))
    for name in names:
        with open(os.path.join(folder, name), "rb") as f:
            check(bucket.get(prefix + name) == f.read(), f"{what}: {prefix}{name} is not what the folder's is")
    left = [n for n in bucket.ask("/.left").decode().split("\n") if n.startswith(prefix)]
    check(sorted(n[len(prefix) :] for n in left) == names, f"{what}: in the bucket are {left}")


def packed(bucket, images, work, options, what, scheme="s3"):
    folder = tempfile.mkdtemp(dir=work)
    bucket.run(im2rec, "--quiet", *options, images, folder + "/t.rec")
    bucket.run(im2rec, "--quiet", *options, images, f"{scheme}://shop/{what}/t.rec")
    same_files(bucket, folder, f"shop/{what}/", what)
    return folder


def killed_and_resumed(bucket, images, work, options, what):
    folder = tempfile.mkdtemp(dir=work)
    bucket.run(im2rec, "--quiet", *options, images, folder + "/t.rec")
    out = f"s3://shop/{what}/t.rec"
    command = [im2rec, "--quiet", *options, images, out]
    longest, done = 0.4, 0
    for k in range(40 * kills):
        start = time.monotonic()
        process = subprocess.Popen([*command, "--resume"] if k else command, env=bucket.env, stderr=subprocess.DEVNULL)
        try:
            process.wait(random.uniform(0.02, longest) if done < kills else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
            continue
        longest = max(longest, time.monotonic() - start)
        if process.returncode != 0:
            wrong.append(f"{what}: status {process.returncode}: " + bucket.run(*command, "--resume"))
            return
        if done >= kills:
            break
        bucket.run(im2rec, "--quiet", "--force", *options, "--max-skipped", "0", images, out)
        process = subprocess.Popen([*command, "--force"], env=bucket.env)
        process.kill()
        process.wait()
    bucket.run(*command, "--resume")
    same_files(bucket, folder, f"shop/{what}/", what)


def left_of(bucket, what):
    return [n for n in bucket.ask("/.left").decode().split("\n") if n.startswith(f"shop/{what}/")]


def ended_by_an_error(bucket, images, folder, options, what):
    """What was uploaded stays for --resume, and goes with --force."""
    out = f"s3://shop/{what}/t.rec"
    for again in "--resume", "--force":
        bucket.ask("/.fail?/t.rec&partNumber=2", b"")
        text = bucket.run(im2rec, "--quiet", *options, images, out, status=1)
        bucket.ask("/.fail", b"")
        check("t.rec" in text and "403" in text, f"{what}: '{text}' does not name the object")
        left = left_of(bucket, what)
        check(f"shop/{what}/t.rec" in left, f"{what}: no upload is there to be resumed: {left}")
        check(f"shop/{what}/t.manifest.json" not in left, f"{what}: a set is there after an error")
        bucket.run(im2rec, "--quiet", *options, again, images, out)
        same_files(bucket, folder, f"shop/{what}/", what)
        if again == "--resume":
            what, out = what + "2", f"s3://shop/{what}2/t.rec"


def reads_alike(bucket, folder, uri, work):
    for parts in (1, 3, 8):
        for part in range(parts):
            seen = []
            for source in (folder, uri):
                out = tempfile.mkdtemp(dir=work)
                bucket.run(imrec, "batches", source, "shuffle=1", "batch_size=4", "data_shape=3,16,16", "--count", "3", "--out", out,
                           f"num_parts={parts}", f"part_index={part}")  # fmt: skip
                seen.append({n: open(os.path.join(out, n), "rb").read() for n in sorted(os.listdir(out))})
            check(seen[0] == seen[1] and "data.npy" in seen[0], f"{uri}: part {part} of {parts} is not the folder's")


def packed_from(bucket, images, folder, work):
    """Images of a bucket are packed as those of a folder."""
    for path, _, names in os.walk(images):
        for name in names:
            file = os.path.join(path, name)
            with open(file, "rb") as f:
                bucket.ask("/shop/images/" + urllib.parse.quote(os.path.relpath(file, images)), f.read())
    out = tempfile.mkdtemp(dir=work)
    bucket.run(im2rec, "--quiet", "s3://shop/images", out + "/t.rec")
    for name in "t.rec", "t.lst", "t.idx":
        with open(os.path.join(folder, name), "rb") as a, open(os.path.join(out, name), "rb") as b:
            check(a.read() == b.read(), f"images of a bucket: {name} is not that of the folder's")
    text = bucket.run(im2rec, "--quiet", "s3://shop/nothing", out + "/u.rec", status=1)
    check("nothing of this name" in text, f"a folder that is not there: {text}")


def planned_from(bucket, work):
    """So are those of a folder or a list of the bucket by the tasks of a plan, which is there as well."""
    lists = tempfile.mkdtemp(dir=work)
    bucket.run(im2rec, "--quiet", "--list", "s3://shop/images", lists + "/all")
    with open(lists + "/all.lst", "rb") as f:
        bucket.ask("/shop/lists/all.lst", f.read())
    for what, source in ("folder", ["s3://shop/images"]), ("list", ["s3://shop/lists/all.lst", "s3://shop/images"]):
        for k, options in enumerate((["--shards", "3"], ["--tasks", "5"])):
            folder, plan = tempfile.mkdtemp(dir=work), f"s3://shop/plan_{what}{k}"
            bucket.run(im2rec, "--quiet", *options[:2 - 2 * k], *source, folder + "/t.rec")
            bucket.run(im2rec, "--quiet", "--plan", plan, *options, *source, f"s3://shop/{what}{k}/t.rec")
            bucket.run(im2rec, "--quiet", "--work", plan)
            bucket.run(im2rec, "--quiet", "--finish", plan)
            same_files(bucket, folder, f"shop/{what}{k}/", f"planned from a {what}")
            left = [n for n in bucket.ask("/.left").decode().split("\n") if n.startswith(plan[5:])]
            check(sorted(left) == [plan[5:] + "/finished", plan[5:] + "/plan"], f"{plan} keeps {left}")


def positions(bucket, folder, uri, work):
    """A position of the files continues in the bucket, and the other way round."""
    options = ["shuffle=1", "batch_size=3", "data_shape=3,16,16", "--count", "2"]
    for begun, goes_on in ((folder + "/", uri), (uri, folder + "/")):
        first, then, whole = (tempfile.mkdtemp(dir=work) for _ in range(3))
        bucket.run(imrec, "batches", begun, *options, "--out", first)
        bucket.run(imrec, "batches", goes_on, *options, "--from", first + "/position.json", "--out", then)
        bucket.run(imrec, "batches", begun, *options[:-1], "4", "--out", whole)
        ids = []
        for out in first, then, whole:
            with open(out + "/ids.npy", "rb") as f:
                ids.append(f.read()[-96 if out == whole else -48 :])
        check(ids[0] + ids[1] == ids[2] and ids[0] != ids[1], f"a position of {begun} continues elsewhere in {goes_on}")


def minibatch_positions(bucket, work):
    """The same of CNTK's files."""
    text, place = os.path.join(work, "t.ctf"), os.path.join(work, "place.json")
    with open(text, "w", encoding="ascii") as f:
        f.write("".join(f"{i} |x {i} {i * 7 % 5} |y {i % 3}\n" for i in range(90)))
    with open(text, "rb") as f:
        bucket.ask("/shop/ctf/t.ctf", f.read())
    options = ["input.x.format=dense", "input.x.dim=2", "input.y.format=dense", "input.y.dim=1", "minibatch_size_in_samples=7"]
    for begun, goes_on in ((text, "s3://shop/ctf/t.ctf"), ("s3://shop/ctf/t.ctf", text)):
        first = bucket.run(imrec, "minibatches", "--count", "3", begun, *options).splitlines()
        with open(place, "w", encoding="ascii") as f:
            json.dump(json.loads(first[-1])["position"], f)
        then = bucket.run(imrec, "minibatches", "--count", "3", "--from", place, goes_on, *options).splitlines()
        whole = bucket.run(imrec, "minibatches", "--count", "6", begun, *options).splitlines()
        check(first + then == whole and len(whole) == 6, f"a position of {begun} continues elsewhere in {goes_on}")


def two_writers(bucket, images, work, folder):
    """What another run publishes meanwhile stays as it is, and is named; force replaces it."""
    for name, options in ("t.rec", ["--pass-through"]), ("t.rec", []), ("t.idx", []), ("t.manifest.json", []):
        set_name = f"raced_{name}{len(options)}"
        bucket.ask(f"/.when?shop/{set_name}/{name}", b"of another run")
        text = bucket.run(im2rec, "--quiet", *options, images, f"s3://shop/{set_name}/t.rec", status=1)
        check(f"published an object as {set_name}/{name} meanwhile" in text, f"two writers of {name}: {text}")
        check(bucket.get(f"shop/{set_name}/{name}") == b"of another run", f"two writers: {name} was replaced")
        check(name == "t.manifest.json" or bucket.get(f"shop/{set_name}/t.manifest.json") is None, f"two writers of {name}: a manifest")
        bucket.run(im2rec, "--quiet", "--force", images, f"s3://shop/{set_name}/t.rec")
        same_files(bucket, folder, f"shop/{set_name}/", "forced over another's")
    with open(folder + "/t.classes.txt", "rb") as f:
        bucket.ask("/.when?shop/same/t.classes.txt", f.read())  # an earlier try whose answer was lost
    packed(bucket, images, work, [], "same")
    bucket.run(im2rec, "--quiet", "--force", images, "s3://shop/same/t.rec")
    log = bucket.ask("/.log").decode()
    for made in "*PUT /shop/one/t.manifest.json\n", "*POST /shop/raced_t.rec1/t.rec?uploadId=", "*PUT /shop/one/t.idx\n":
        check(made in log, f"{made}: without a condition")
    check("\nPUT /shop/same/t.idx\n" in log and log.count("*PUT /shop/same/t.manifest.json") == 2, "forced: with a condition, or none of the manifest")
    for status in 501, 400:
        bucket.ask(f"/.plain?{status}", b"")
        packed(bucket, images, work, [], f"plain{status}")
    bucket.ask("/.plain?0", b"")


def hostile(bucket, images):
    """Lists that no server should send."""
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><ListBucketResult><Contents><Key>&a;</Key></Contents></ListBucketResult>'
    for body, words in (
        (bomb, "a document type"),
        (b"<ListBucketResult><Contents>", "is no XML"),
        (b"<R><IsTruncated>true</IsTruncated></R>", "NextContinuationToken"),
        (b"<R>" + b"<a>" * 99 + b"</a>" * 99 + b"</R>", "deeper"),
        (b"<R><Contents><Key>" + b"k" * 99999 + b"</Key></Contents></R>", "more text"),
        (b"<R><Contents><Key>elsewhere/a.rec</Key></Contents></R>", "a name that is not in it"),
    ):
        bucket.ask("/.say", body)
        text = bucket.run(imrec, "ls", "s3://shop/none/", status=1)
        check(words in text, f"hostile list: '{text}' does not say '{words}'")
    bucket.ask("/.deny?secret", b"")
    bucket.ask("/.deny?shop/secret", b"")
    for store, suspects in ("s3://shop", "the key, its secret, the region"), ("az://account/shop", "AZURE_STORAGE_SAS_TOKEN"):
        uri = store + "/secret/a.rec"
        text = bucket.run(imrec, "ls", uri, status=1)
        check(f"{uri}: the server answers 403 (forbidden); check {suspects}" in text, f"403 is told as '{text}'")
    check("no such object" in bucket.run(imrec, "ls", "s3://shop/none/a.rec", status=1), "a missing object is not told")
    for bucket_is, kind, gone in ("s3://none", "bucket", "none"), ("az://account/none", "container", "account/none"):
        bucket.ask(f"/.gone?{gone}", b"")
        for name in "a.rec", "sets/", "*.rec", "{0..3}.rec":
            text = bucket.run(imrec, "ls", f"{bucket_is}/{name}", status=1)
            check(f": the server has no {kind} 'none'" in text, f"{bucket_is}/{name}, without a {kind}: {text}")
    text = bucket.run(im2rec, "--quiet", images, "s3://none/t.rec", status=1)
    check("the server has no bucket 'none'" in text, f"packing into no bucket: {text}")
    check("names no bucket" in bucket.run(imrec, "ls", "s3://no bucket/a", status=1), "a bad bucket is not told")


def main():
    with tempfile.TemporaryDirectory() as work:
        images = os.path.join(work, "images")
        for c in "ab c", "d+e":
            os.makedirs(os.path.join(images, c))
            for i in range(8):
                png(os.path.join(images, c, f"{i}.png"), f"{c}{i}", 900, 800)
        bucket = Bucket(work, "--page", "3")
        folder = packed(bucket, images, work, [], "one")
        indexed = packed(bucket, images, work, ["--shards", "3", "--binary-index", "yes"], "three")
        reads_alike(bucket, indexed, "s3://shop/three/", work)
        packed(bucket, images, work, ["--shard-size", "20M"], "sized")
        packed(bucket, images, work, ["--format", "cbf"], "cbf")
        packed(bucket, images, work, [], "google", "gs")
        reads_alike(bucket, folder, "s3://shop/one/", work)
        reads_alike(bucket, folder, "gs://shop/google/t.rec", work)
        positions(bucket, folder, "s3://shop/one/", work)
        minibatch_positions(bucket, work)
        two_writers(bucket, images, work, folder)
        bucket.run(im2rec, "--quiet", "--shards", "3", images, "s3://account/box/az/t.rec")
        for uri in "s3://shop/three/*.rec", "az://account/box/az/", "s3://shop/th*/t-0000[0-2]-of-*.rec":
            text = bucket.run(imrec, "verify", "--quiet", uri)
            check("16 records" in text and "nothing wrong" in text, f"{uri}: {text}")
        was = bucket.get("shop/three/t-00000-of-00003.idxb")
        bucket.run(imrec, "index", "--binary", "--force", "s3://shop/three/t-00000-of-00003.rec")
        check(was and was == bucket.get("shop/three/t-00000-of-00003.idxb"), "index --binary in a bucket")
        bucket.run(imrec, "merge", "--quiet", "s3://shop/three/", "s3://shop/merged/t.rec")
        check(bucket.get("shop/merged/t.rec") == bucket.get("shop/one/t.rec"), "merge to a bucket")
        check("be written to" in bucket.run(im2rec, "--quiet", images, "az://account/box/new/t.rec", status=1), "az is read only")
        packed_from(bucket, images, folder, work)
        planned_from(bucket, work)
        whole = packed(bucket, images, work, ["--pass-through"], "whole")
        ended_by_an_error(bucket, images, whole, ["--pass-through"], "failed")
        hostile(bucket, images)
        killed_and_resumed(bucket, images, work, ["--pass-through", "--binary-index", "yes"], "killed")
        killed_and_resumed(bucket, images, work, ["--shard-size", "20M", "--format", "cbf"], "killed_cbf")
        bucket.stop()
        shaky = Bucket(work, "--page", "3", "--every", "7")
        packed(shaky, images, work, ["--pass-through", "--shard-size", "20M"], "shaky")
        shaky.stop()
    print("\n".join(wrong) or "sets in buckets are what they are in folders")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
