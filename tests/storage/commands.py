#!/usr/bin/env python3
"""tests/storage/commands.py - every command does with URIs what it does with paths.

    commands.py IM2REC IMREC CTF2BIN FAKE_BUCKET

Runs each command with files, with s3:// for input and output, and with http:// for input, on
tests/support/fake_bucket.py: what it prints and what it writes are equal. What cannot work there is one
sentence that says why. Afterwards no upload is left. Prints what is wrong and exits with 1.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zlib

im2rec, imrec, ctf2bin, fake = sys.argv[1:5]
wrong = []

CTF = "0 |x 1 2 3 |y 0:1\n0 |x 4 5 6\n1 |x 7 8 9 |y 1:1\n2 |x 1 0 1 |y 2:1\n"
HEADER = "x x dense 3\ny y sparse 4\n"
CTF_KEYS = ["input.x.format=dense", "input.x.dim=3", "input.y.format=sparse", "input.y.dim=4"]
ITER = ["data_shape=3,8,8", "batch_size=4", "shuffle=1", "seed=3", "rand_crop=1", "rand_mirror=1", "resize=12"]

# name, arguments ({i}: the input's place, {o}: the output's, {l}: a folder of this machine), what is written
CASES = (
    ("info", [imrec, "info", "{i}/set/t.rec"], []),
    ("info of a folder", [imrec, "info", "--json", "{i}/three/t.manifest.json"], []),
    ("ls", [imrec, "ls", "{i}/set/t.rec"], []),
    ("cat", [imrec, "cat", "{i}/set/t.rec", "3"], []),
    ("cat by place", [imrec, "cat", "{i}/set/t.rec", "--offset", "0"], []),
    ("export", [imrec, "export", "--quiet", "{i}/set/t.rec", "{l}/images"], ["{l}/images/"]),
    ("verify", [imrec, "verify", "--quiet", "{i}/three/t.manifest.json"], []),
    ("repair", [imrec, "repair", "--quiet", "{i}/set/t.rec", "{o}/r.rec"], ["r.rec", "r.idx", "r.crc"]),
    ("index", [imrec, "index", "--force", "{w}/set/t.rec"], ["{w}/set/t.idx"]),
    ("view", [imrec, "view", "{i}/set/t.rec", "{l}/v.html"], []),
    ("batches", [imrec, "batches", "{i}/set/t.rec", *ITER, "--count", "5", "--out", "{l}/b"], ["{l}/b/"]),
    ("bench", [imrec, "bench", "--seconds", "0.1", "{i}/set/t.rec", *ITER], None),
    ("merge", [imrec, "merge", "--quiet", "{i}/three/t.manifest.json", "{o}/m.rec"], ["m.rec", "m.idx", "m.crc", "m.lst"]),
    ("split", [imrec, "split", "--quiet", "--shards", "2", "{i}/set/t.rec", "{o}/s.rec"],
     ["s-00000-of-00002.rec", "s-00001-of-00002.rec", "s-00001-of-00002.idx", "s.lst"]),
    ("sample", [imrec, "sample", "--quiet", "--records", "5", "{i}/set/t.rec", "{o}/p.rec"], ["p.rec", "p.idx"]),
    ("relabel", [imrec, "relabel", "--quiet", "{i}/set/t.rec", "{i}/new.lst", "{o}/n.rec"], ["n.rec", "n.idx"]),
    ("im2rec", [im2rec, "--quiet", "{i}/new.lst", "{i}/images", "{o}/f.rec"], ["f.rec", "f.idx", "f.lst", "f.crc"]),
    ("im2rec to CBF", [im2rec, "--quiet", "--format", "cbf", "--pixels", "--resize", "8", "--center-crop", "{i}/new.lst", "{i}/images", "{o}/f.cbf"], None),
    ("im2rec --append", [im2rec, "--quiet", "--append", "{i}/images", "{w}/three/t.rec"],
     ["{w}/three/t.manifest.json", "{w}/three/t.lst"]),
    ("ctf2bin", [ctf2bin, "--quiet", "--input", "{i}/a.ctf", "--header", "{i}/a.header", "--output", "{o}/a.cbf"], ["a.cbf"]),
    ("convert to binary", [imrec, "convert", "--quiet", "--header", "{i}/a.header", "{i}/a.ctf", "{o}/c.cbf"], ["c.cbf"]),
    ("convert to text", [imrec, "convert", "--quiet", "{i}/a.cbf", "{o}/c.ctf"], ["c.ctf"]),
    ("info of CBF", [imrec, "info", "{i}/a.cbf"], []),
    ("verify of CBF", [imrec, "verify", "--quiet", "{i}/a.cbf"], []),
    ("cat of CTF", [imrec, "cat", "{i}/a.ctf", *CTF_KEYS], []),
    ("minibatches of CTF", [imrec, "minibatches", "{i}/a.ctf", *CTF_KEYS, "--count", "3"], []),
    ("minibatches of CBF", [imrec, "minibatches", "{i}/a.cbf", "--count", "3"], []),
)  # fmt: skip

# Arguments, and words of the sentence that refuses them.
REFUSED = (
    ([imrec, "index", "--force", "{h}/set/t.rec"], "be written to"),
    ([im2rec, "--quiet", "{l}/images", "{h}/new/t.rec"], "be written to"),
    ([imrec, "export", "--quiet", "{s}/set/t.rec", "{s}/images2"], "of this machine"),
    ([imrec, "view", "{s}/set/t.rec", "{s}/v.html"], "of this machine"),
    ([imrec, "batches", "{s}/set/t.rec", *ITER, "--count", "1", "--out", "{s}/b"], "of this machine"),
    ([im2rec, "--quiet", "{h}/images", "{l}/k.rec"], "list"),
)


class Bucket:
    def __init__(self, folder):
        file = os.path.join(folder, "port")
        self.process = subprocess.Popen([sys.executable, fake, file])
        while not os.path.exists(file):
            time.sleep(0.02)
        with open(file, encoding="ascii") as f:
            self.url = "http://127.0.0.1:" + f.read()
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "AZURE_", "GS_", "GOOGLE_"))}
        self.env = plain | {
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "something",
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
        }

    def ask(self, path, body=None):
        request = urllib.request.Request(self.url + path, data=body, method="GET" if body is None else "PUT")
        try:
            return urllib.request.urlopen(request).read()
        except urllib.error.HTTPError:
            return None

    def copy(self, folder):
        for path, _, names in os.walk(folder):
            for name in names:
                file = os.path.join(path, name)
                with open(file, "rb") as f:
                    self.ask("/shop/" + os.path.relpath(file, folder), f.read())

    def run(self, args):
        return subprocess.run(args, env=self.env, capture_output=True, errors="surrogateescape")


def png(path, width, height, seed):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + bytes((37 * x + 11 * y * seed) % 251 for x in range(3 * width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def prepare(bucket, work):
    here = os.path.join(work, "here")
    for c in "ant", "bee":
        os.makedirs(os.path.join(here, "images", c))
        for i in range(6):
            png(os.path.join(here, "images", c, f"{i}.png"), 16 + i, 14 + i, i + 7 * ord(c[0]))
    return here


def places(bucket, here, work, kind):
    local = tempfile.mkdtemp(dir=work)
    out = f"s3://shop/out{os.path.basename(local)}" if kind == "s3" else os.path.join(local, "out")
    if kind != "s3":
        os.mkdir(out)
    inputs = {"files": here, "s3": "s3://shop", "http": bucket.url + "/shop"}
    writable = here if kind == "files" else "s3://shop"
    return {"i": inputs[kind], "o": out, "l": local, "w": writable, "s": "s3://shop", "h": inputs["http"]}


def content(bucket, name, p):
    """Of a file, an object, or all files of a folder, whose names then end in '/'."""
    path = name.format(**p) if "{" in name else p["o"] + "/" + name
    if path.startswith("s3://"):
        return bucket.ask(path[4:])
    if path.endswith("/"):
        return {os.path.relpath(os.path.join(d, f), path): open(os.path.join(d, f), "rb").read() for d, _, n in os.walk(path) for f in n}
    return open(path, "rb").read() if os.path.exists(path) else None


def said(text, p):
    for place in sorted({p["o"], p["l"], p["i"], p["s"], p["w"]}, key=len, reverse=True):
        text = text.replace(place, "HERE")
    text = re.sub(r"[^\n]* from stores in [^\n]*\n", "", text)  # of files there is no such line
    return re.sub(r"[0-9.]+ s\b", "N s", text)


def one(bucket, here, work, kind, case):
    name, args, files = case
    p = places(bucket, here, work, kind)
    done = bucket.run([a.format(**p) for a in args])
    if done.returncode != 0:
        wrong.append(f"{name}, {kind}: status {done.returncode}: {done.stderr[-300:]}")
    if files is None:
        return None
    return said(done.stdout, p), {f: content(bucket, f, p) for f in files}


def refused(bucket, here, work, args, words):
    p = places(bucket, here, work, "s3") | {"l": here}
    done = bucket.run([a.format(**p) for a in args])
    lines = [line for line in done.stderr.split("\n") if line]
    if done.returncode == 0 or words not in done.stderr or len(lines) != 1:
        wrong.append(f"{args[1:]}: status {done.returncode}, and '{done.stderr}' does not say '{words}'")


def main():
    with tempfile.TemporaryDirectory() as work:
        bucket = Bucket(work)
        here = prepare(bucket, work)
        for args in ([here + "/set/t.rec"], ["--shards", "3", here + "/three/t.rec"]):
            os.makedirs(os.path.dirname(args[-1]))
            done = bucket.run([im2rec, "--quiet", "--encoding", "png", *args[:-1], here + "/images", args[-1]])
            if done.returncode != 0:
                wrong.append(done.stderr)
        with open(here + "/set/t.lst", encoding="utf-8") as a, open(here + "/new.lst", "w", encoding="utf-8") as b:
            for line in a:
                number, label, name = line.rstrip("\n").split("\t")
                b.write(f"{number}\t{float(label) + 5:g}\t{name}\n")
        for name, text in (("a.ctf", CTF), ("a.header", HEADER)):
            with open(f"{here}/{name}", "w", encoding="ascii") as f:
                f.write(text)
        bucket.run([ctf2bin, "--quiet", "--input", here + "/a.ctf", "--header", here + "/a.header", "--output", here + "/a.cbf"])
        bucket.copy(here)
        for case in CASES:
            expected = one(bucket, here, work, "files", case)
            for kind in ("s3",) if "append" in case[0] else ("s3", "http"):
                got = one(bucket, here, work, kind, case)
                if got != expected:
                    wrong.append(f"{case[0]}, {kind}: {str(got)[:300]} is not {str(expected)[:300]}")
            if expected is not None and None in expected[1].values():
                wrong.append(f"{case[0]}: nothing is written")
        for args, words in REFUSED:
            refused(bucket, here, work, args, words)
        left = [n for n in bucket.ask("/.left").decode().split("\n") if ".part" in n or ".lock" in n]
        if left:
            wrong.append(f"left in the bucket: {left}")
        bucket.process.kill()
        bucket.process.wait()
    print("\n".join(wrong) or f"{len(CASES)} commands do with URIs what they do with paths")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
