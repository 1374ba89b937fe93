#!/usr/bin/env python3
"""tests/storage/trust.py - what proves who asks is in nothing that a program says or writes.

    trust.py IM2REC IMREC CTF2BIN

Runs every command over URIs with passwords, signatures and tokens, with others in the variables: at a
server that has the data, and at one that refuses everything and quotes in its answer what it was asked.
Then names of objects that would leave a folder, entities in XML, endless answers, and redirects. Prints
what is wrong and exits with 1.
"""
import base64
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import zlib
from http.server import ThreadingHTTPServer

from answering import Answering

im2rec, imrec, ctf2bin = sys.argv[1:4]
SECRETS = {
    "password": "Secret-pass-word-1", "signature": "SecretSignature000000000000002", "sas": "SecretSas0000000000000000000003",
    "aws": "SecretKey/00000000000000000000000000004", "session": "SecretSession00000000000000000005",
    "google": "ya29.SecretToken00000000000000000006", "hadoop": "SecretDelegation0000000000000007",
}
HIDDEN = [*SECRETS.values(), base64.b64encode(f"me:{SECRETS['password']}".encode()).decode(),
          *(urllib.parse.quote(s, safe="") for s in SECRETS.values())]
wrong = []


def check(good, what):
    if not good:
        wrong.append(what)


class Handler(Answering):
    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        self.server.answer(self)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.answer = [], answer
        self.at = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # who is refused closes early


def quotes(h):
    """Refuses, and says all that it was asked, as a page, XML or JSON."""
    asked = f"{h.command} {h.path} " + " ".join(f"{k}: {v}" for k, v in h.headers.items())
    kind = len(h.server.asked) % 4
    text = {
        0: f"you asked {asked}", 1: f"<Error><Code>AccessDenied</Code><Message>{asked}</Message></Error>",
        2: json.dumps({"RemoteException": {"exception": "AccessControlException", "message": asked}}),
        3: f"<Error><Code>AccessDenied</Code><Message>no: {h.path}</Message></Error>",
    }[kind]
    h.say(403, text.encode())


def serves(files):
    """The files, whoever asks, and whatever comes after the '?'."""

    def answer(h):
        body = files.get(urllib.parse.unquote(h.path.partition("?")[0]).lstrip("/"))
        if body is None:
            h.say(404)
        else:
            h.say_object(body)

    return answer


def environment(at):
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "AZURE_", "GS_", "GOOGLE_", "HADOOP_")) and "proxy" not in k.lower()}
    return plain | {
        "AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": SECRETS["aws"], "AWS_SESSION_TOKEN": SECRETS["session"],
        "AWS_ENDPOINT_URL": "http://" + at, "AWS_REGION": "us-east-1", "STORAGE_EMULATOR_HOST": "http://" + at,
        "GOOGLE_OAUTH_ACCESS_TOKEN": SECRETS["google"], "AZURE_STORAGE_SERVICE_ENDPOINT": f"http://{at}/account",
        "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=" + SECRETS["sas"], "HADOOP_DELEGATION_TOKEN": SECRETS["hadoop"],
    }


def shows(text, what):
    for secret in HIDDEN:
        at = text.find(secret)
        if at >= 0:
            wrong.append(f"{what}: shows a secret: ...{text[max(0, at - 60): at + 20]!r}")
            return


def run(env, folder, *args):
    """Runs it in a new folder; nothing that it says or leaves there has a secret in it."""
    place = tempfile.mkdtemp(dir=folder)
    done = subprocess.run(args, env=env, cwd=place, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    what = " ".join([os.path.basename(args[0]), *args[1:]])[:120]
    shows(done.stdout + done.stderr, what)
    for top, folders, files in os.walk(place):
        for name in [*folders, *files]:
            shows(name, what + ": a name")
        for name in files:
            with open(os.path.join(top, name), encoding="latin-1") as f:
                shows(f.read(), f"{what}: {name}")
    return done, place


def commands(uri, index, listed, text, header):
    shape, inputs = ["data_shape=3,24,24", "batch_size=4"], ["input.x.format=dense", "input.x.dim=3", "input.y.format=dense", "input.y.dim=1"]
    return [
        [imrec, "info", uri], [imrec, "info", "--json", uri], [imrec, "ls", uri], [imrec, "ls", "--json", uri],
        [imrec, "cat", uri, "0"], [imrec, "cat", "--json", uri, "0"], [imrec, "cat", uri, uri], [imrec, "export", uri, "out"],
        [imrec, "export", "--json", uri, "out"], [imrec, "verify", uri], [imrec, "verify", "--json", uri],
        [imrec, "repair", uri, "out.rec"], [imrec, "repair", "--json", uri, "out.rec"], [imrec, "index", uri],
        [imrec, "index", "--json", uri], [imrec, "view", uri, "out.html"],
        [imrec, "view", "--augmented", "--json", uri, "out.html", *shape, "path_imgidx=" + index],
        [imrec, "batches", "--json", "--count", "2", "--out", "out", uri, *shape, "path_imgidx=" + index],
        [imrec, "batches", "--count", "2", "--out", "out", uri, *shape, "shuffle=1", "cache=cache", "cache_size=4M"],
        [imrec, "bench", "--json", "--repeat", "1", uri, *shape, "path_imgidx=" + index],
        [imrec, "convert", "--header", header, text, "out.cbf"], [imrec, "convert", "--json", "--header", header, text, "out.cbf"],
        [imrec, "minibatches", "--count", "1", text, *inputs], [imrec, "verify", "--json", text, *inputs],
        [imrec, "info", "--json", text, *inputs], [imrec, "bench", "--json", "--repeat", "1", text, *inputs],
        [imrec, "merge", uri, "out.rec"], [imrec, "split", "--shards", "2", uri, "out.rec"],
        [imrec, "sample", "--fraction", "0.5", uri, "out.rec"], [imrec, "relabel", uri, listed, "out.rec"],
        [im2rec, uri, "out.rec"], [im2rec, listed, "/", "out.rec"], [im2rec, "--json", listed, "/", uri],
        [im2rec, "--append", listed, "/", uri], [ctf2bin, text], [ctf2bin, "--input", text, "--header", header, "--output", "out.cbf"],
    ]


def png(seed):
    raw = b"".join(b"\0" + bytes((seed * 7 + x * y) % 256 for x in range(72)) for y in range(24))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 24, 24, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def make_set(folder):
    """The files of a set of 12 images and a CTF, as a server has them."""
    os.makedirs(folder + "/photos/a")
    for i in range(12):
        with open(f"{folder}/photos/a/{i}.png", "wb") as f:
            f.write(png(i))
    os.makedirs(folder + "/set")
    subprocess.run([im2rec, "--quiet", folder + "/photos", folder + "/set/t.rec"], check=True)
    with open(folder + "/set/t.ctf", "w", encoding="ascii") as f:
        f.write("".join(f"{i} |x 1 2 3 |y {i}\n" for i in range(9)))
    files = {}
    for top, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(top, name), "rb") as f:
                files[os.path.relpath(os.path.join(top, name), folder)] = f.read()
    return files


def nothing_is_shown(folder):
    files = make_set(folder + "/made")
    good, bad = Server(serves(files)), Server(quotes)
    with open(folder + "/header", "w", encoding="ascii") as f:
        f.write("x x dense 3\ny y dense 1\n")
    with open(folder + "/images.lst", "w", encoding="ascii") as f:
        for at, first in ((good.at, 0), (bad.at, 3)):
            f.writelines(f"{i + first}\t{i}\thttp://me:{SECRETS['password']}@{at}/photos/a/{i}.png?sig={SECRETS['signature']}\n" for i in range(3))
    ran = 0
    for server in (good, bad):
        def web(name, server=server):
            return f"http://me:{SECRETS['password']}@{server.at}/{name}?X-Sig={SECRETS['signature']}&n=1"

        env = environment(server.at)
        for args in commands(web("set/t.rec"), web("set/t.idx"), folder + "/images.lst", web("set/t.ctf"), folder + "/header"):
            done, _ = run(env, folder, *args)
            ran += done.returncode == 0
    check(ran > 15, f"only {ran} commands did their work")
    env = environment(bad.at)
    stores = ["s3://bucket/set/t", "gs://bucket/set/t", "az://account/box/set/t", f"webhdfs://{bad.at}/set/t"]
    for store in stores:
        for args in commands(store + ".rec", store + ".idx", store + ".lst", store + ".ctf", folder + "/header"):
            run(env, folder, *args)
    malformed = ["ftp://me:{p}@h/a.rec", "http://me:{p}@/a.rec", "http://me:{p}@h:port/a.rec", "http://me:a/{p}@h/a.rec",
                 "https://me:{p}@127.0.0.1:1/a.rec", "HTTP://me:{p}@127.0.0.1:1/a.rec", "hdfs://me:{p}@h/a.rec",
                 "webhdfs://me:{p}@h:1/a.rec", "http://me:{p}@h/" + "x" * 600, "http://h/a.rec?x='{p}'", "fault://read_eio=1:http://me:{p}@127.0.0.1:1/a",
                 "a.rec;http://me:{p}@127.0.0.1:1/b.rec", "http://me:{p}@127.0.0.1:1/*.rec"]
    for uri in malformed:
        uri = uri.replace("{p}", SECRETS["password"])
        for args in ([imrec, "info", uri], [imrec, "verify", "--json", uri], [im2rec, "--quiet", folder + "/images.lst", uri]):
            done, _ = run(env, folder, *args)
            check(done.returncode != 0, f"{uri} is not refused")
    proxied = env | {"http_proxy": f"foo://me:{SECRETS['password']}@127.0.0.1:1", "no_proxy": ""}
    run(proxied, folder, imrec, "info", "http://h/a.rec")
    proxied["http_proxy"] = f"http://me:{SECRETS['password']}@127.0.0.1:1"
    run(proxied, folder, imrec, "info", "http://h/a.rec")


def listing(keys, more=""):
    items = "".join(f"<Contents><Key>{urllib.parse.quote(k, safe='')}</Key><Size>9</Size></Contents>" for k in keys)
    return f"<ListBucketResult><EncodingType>url</EncodingType>{items}{more}</ListBucketResult>".encode()


NAMES = ["../../escaped.png", "/etc/escaped.png", "a\n0\t1\tb.png", "\x1b]0;x\x07.png", "zero\0.png", "..", "...", "\u202egnp.png",
         "%00%2e%2e%2f.png", "a\\b.png", '"quoted".png', "c/../../escaped.png", "<b>.png", "-rf.png", "x" * 250 + ".png"]


def names_are_data(folder):
    """Images with these names are packed, listed and exported: nothing is outside of a folder, and JSON is JSON."""
    images = {"bucket/photos/k/" + name: png(i) for i, name in enumerate(NAMES)}

    def answer(h):
        query = dict(urllib.parse.parse_qsl(h.path.partition("?")[2]))
        if "list-type" in query:
            prefix, found, folders = query["prefix"], [], set()
            for name in images:
                key = name[len("bucket/"):]
                if key.startswith(prefix):
                    rest = key[len(prefix):]
                    found += [key] if "/" not in rest else []
                    folders |= {prefix + rest.split("/")[0] + "/"} if "/" in rest else set()
            common = "".join(f"<CommonPrefixes><Prefix>{urllib.parse.quote(k, safe='')}</Prefix></CommonPrefixes>" for k in sorted(folders))
            h.say(200, listing(found, common))
        else:
            serves(images)(h)

    env = environment(Server(answer).at)
    done, place = run(env, folder, im2rec, "--quiet", "--report", "report", "s3://bucket/photos", "out.rec")
    check(done.returncode in (0, 3), f"names: not packed: {done.stderr[-300:]}")
    check("\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stderr, "names: a control character is shown")
    packed = json.loads(subprocess.run([imrec, "info", "--json", place + "/out.rec"], capture_output=True, check=True).stdout)["records"]
    check(packed >= 7, f"names: only {packed} are packed")
    for line in open(place + "/report", encoding="utf-8", errors="surrogateescape"):
        json.loads(line)
    subprocess.run([imrec, "export", "--json", place + "/out.rec", place + "/in/out"], check=False, capture_output=True)
    os.makedirs(place + "/in")
    for args in (["export", "--json"], ["ls", "--json"], ["view", "--json"], ["info", "--json"], ["verify", "--json"]):
        more = {"export": [place + "/in/out"], "view": [place + "/in/out.html"]}.get(args[0], [])
        done, _ = run(env, folder, imrec, *args, place + "/out.rec", *more)
        check(done.returncode == 0, f"names: {args[0]}: {done.stderr[-300:]}")
        json.loads(done.stdout)
    inside = sum(len(files) for _, _, files in os.walk(place + "/in/out"))
    outside = [os.path.join(top, n) for top, _, files in os.walk(folder) for n in files if "escaped" in n and "/in/out/" not in top + "/"]
    check(inside >= packed and not outside, f"names: {inside} files inside of the folder; outside are {outside}")
    with open(place + "/in/out.html", encoding="utf-8") as f:
        check("<b>.png" not in f.read(), "names: one is markup of a page")


def one_listing(body, folder, words, what):
    env = environment(Server(lambda h: h.say(200, body(h) if callable(body) else body)).at)
    done, _ = run(env, folder, imrec, "info", "s3://bucket/set/")
    check(done.returncode == 1 and re.search(words, done.stderr), f"{what}: {done.returncode}: {done.stderr[-300:]}")


def answers_are_bounded(folder):
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha"}">' for i in range(10))
    one_listing(f"<!DOCTYPE x [{laughs}]><ListBucketResult><Name>&l9;</Name></ListBucketResult>".encode(), folder, "document type", "laughs")
    one_listing(b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><ListBucketResult/>', folder, "document type", "an outer entity")
    one_listing(b"<ListBucketResult><Name>&lol;</Name></ListBucketResult>", folder, "no XML", "an undefined entity")
    one_listing(b"<a>" * 100000, folder, "deeper", "depth")
    one_listing(b"<ListBucketResult><Contents><Key>" + b"a" * (1 << 20), folder, "more text", "a long name")
    one_listing(b"<ListBucketResult>" + b" " * (40 << 20), folder, "more than was asked", "a large page")
    one_listing(listing(["other/a.rec"]), folder, "not in it", "a name of another folder")
    one_listing(listing(["set/a.rec"], "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"), folder,
                "same page", "the same page again")


def redirects_carry_nothing(folder):
    """Another host gets no credential; from https none leads to http (tests/storage/test_http.c has that one)."""
    other = Server(lambda h: h.say(403, b"no"))

    def answer(h):
        h.say(307, b"", {"Location": f"http://localhost:{other.server_address[1]}/taken", "Set-Cookie": "c=" + SECRETS["signature"]})

    here = Server(answer)
    env = environment(here.at)
    for uri in (f"http://me:{SECRETS['password']}@{here.at}/a.rec?sig={SECRETS['signature']}", "s3://bucket/a.rec", "gs://bucket/a.rec",
                "az://account/box/a.rec", f"webhdfs://{here.at}/a.rec"):
        run(env, folder, imrec, "info", uri)
    check(len(here.asked) > 5, "redirects: nothing was asked")
    for command, path, headers, body in other.asked:
        shows(f"{command} {path} {headers} {body}", "redirects: the other host")
    check(any("taken" in path for _, path, _, _ in other.asked), "redirects: none was followed")


def main():
    with tempfile.TemporaryDirectory() as folder:
        nothing_is_shown(folder)
        names_are_data(folder)
        answers_are_bounded(folder)
        redirects_carry_nothing(folder)
    for text in wrong[:40]:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
