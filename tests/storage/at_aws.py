#!/usr/bin/env python3
"""tests/storage/at_aws.py - buckets at AWS itself: which host is asked, in which region, and who signs.

    at_aws.py IM2REC IMREC

AWS's hosts are behind a proxy of this test, which is all of them, with a certificate that the programs are made to trust. Prints
what is wrong and exits with 1; with 77 where there is no openssl.
"""
import os
import shutil
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import zlib

from answering import Answering

im2rec, imrec = sys.argv[1:3]
REGIONS = {"photos": "eu-north-1", "a.b": "eu-north-1", "china": "cn-north-1", "silent": None}  # of the buckets that exist
HOSTS = ["s3.us-east-1.amazonaws.com", "s3.eu-north-1.amazonaws.com", "s3.ap-south-1.amazonaws.com", "s3.cn-north-1.amazonaws.com.cn"]
wrong, asked = [], []


def check(good, what):
    if not good:
        wrong.append(what)


class Handler(Answering):
    def do_GET(self):
        host, path = self.headers["Host"], self.path.partition("?")[0]
        asked.append((self.command, host, path, self.headers.get("Authorization", "")))
        if self.command == "HEAD" and host == HOSTS[0] and path[1:] in REGIONS:
            region = REGIONS[path[1:]]
            return self.say(403, headers={"x-amz-bucket-region": region} if region else {})
        body = self.server.body if path.endswith("/t.rec") else None
        if body is None:
            return self.say(404, b"<Error><Code>NoSuchKey</Code></Error>")
        return self.say_object(body)

    do_HEAD = do_GET


class Proxy(socketserver.StreamRequestHandler):
    """Every host that a tunnel is asked to."""

    def handle(self):
        line = self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        check(line.startswith(b"CONNECT "), f"not a tunnel: {line}")
        self.connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with self.server.trust.wrap_socket(self.connection, server_side=True) as tls:
            Handler(tls, self.client_address, self.server)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, folder, body):
        super().__init__(("127.0.0.1", 0), Proxy)
        names = ",".join(f"DNS:{h},DNS:*.{h}" for h in HOSTS)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=s3", "-addext", f"subjectAltName={names}", "-keyout", folder + "/key", "-out", folder + "/certificate"],
                       check=True, stderr=subprocess.DEVNULL)
        self.body, self.trust = body, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.trust.load_cert_chain(folder + "/certificate", folder + "/key")
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # connections are closed early


def environment(folder, port):
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "SSL_CERT")) and "proxy" not in k.lower()}
    return plain | {"HOME": folder, "https_proxy": f"http://127.0.0.1:{port}", "CURL_CA_BUNDLE": folder + "/certificate",
                    "AWS_ACCESS_KEY_ID": "AKME", "AWS_SECRET_ACCESS_KEY": "hidden"}


def looks_at(env, uri, host, path, region, says="", **more):
    """The set at this URI is read from one host, and signed for its region."""
    asked.clear()
    done = subprocess.run([imrec, "info", uri], env=env | more, capture_output=True, text=True)
    check(done.returncode == 0 and says in done.stderr, f"{uri}: {done.returncode}: {done.stderr[-300:]}")
    got = [a for a in asked if a[0] == "GET" or a[2].endswith("t.rec")]
    check(got and all(a[1] == host for a in got) and any(a[2] == path for a in got), f"{uri}: {got}")
    check(all("Credential=AKME/" in a[3] and f"/{region}/s3/aws4_request" in a[3] for a in got), f"{uri}: signed {got}")
    check(sum(a[0] == "HEAD" and a[1] == HOSTS[0] for a in asked) == 1, f"{uri}: the region is asked for once: {asked}")


def make_set(folder):
    """A shard of an image of 8 x 8."""
    raw = b"".join(b"\0" + bytes(24) for _ in range(8))

    def chunk(kind, body):
        return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")

    os.makedirs(folder + "/photos/a")
    with open(folder + "/photos/a/1.png", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes([0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0])) + chunk(b"IDAT", zlib.compress(raw)) +
                chunk(b"IEND", b""))
    subprocess.run([im2rec, "--quiet", folder + "/photos", folder + "/t.rec"], check=True)
    with open(folder + "/t.rec", "rb") as f:
        return f.read()


def main(folder):
    server = Server(folder, make_set(folder))
    env = environment(folder, server.server_address[1])
    looks_at(env, "s3://photos/set/t.rec", "photos.s3.eu-north-1.amazonaws.com", "/set/t.rec", "eu-north-1")
    looks_at(env, "s3://photos/set/t.rec", "photos.s3.eu-north-1.amazonaws.com", "/set/t.rec", "eu-north-1", AWS_REGION="ap-south-1")
    looks_at(env, "s3://a.b/t.rec", "s3.eu-north-1.amazonaws.com", "/a.b/t.rec", "eu-north-1")  # no certificate is one of a.b.s3...
    looks_at(env, "s3://china/t.rec", "china.s3.cn-north-1.amazonaws.com.cn", "/t.rec", "cn-north-1")
    looks_at(env, "s3://silent/t.rec", "silent.s3.ap-south-1.amazonaws.com", "/t.rec", "ap-south-1", AWS_REGION="ap-south-1")
    looks_at(env, "s3://silent/t.rec", "silent.s3.us-east-1.amazonaws.com", "/t.rec", "us-east-1", says="us-east-1 is taken")
    done = subprocess.run([imrec, "info", "s3://nobodys/t.rec"], env=env, capture_output=True, text=True)
    check(done.returncode == 1 and "s3://nobodys: AWS has no bucket of this name" in done.stderr, f"no such bucket: {done.stderr}")
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    if shutil.which("openssl") is None:
        print("skipped: no openssl")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as place:
        sys.exit(main(place))
