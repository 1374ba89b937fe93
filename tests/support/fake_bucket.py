#!/usr/bin/env python3
"""tests/support/fake_bucket.py - a store of buckets in memory, as S3 and Azure answer.

    fake_bucket.py [--page N] [--every N] FILE

Serves on a free loopback port and writes "PORT" into FILE (under its name when it serves). Objects,
ranges, ETags, lists in pages of N, uploads in parts, copies. Signatures are not checked: that is what
real servers are for. Of every N-th request (--every) the answer is 503. A request for /.log answers
"METHOD PATH?QUERY" of all requests before it, a line each ("*" before those with If-None-Match), one for
/.left the names of all objects and uploads; a PUT to /.when?NAME puts its body there just before the next
request that would make the object NAME; one to /.plain?STATUS answers that to If-None-Match; a PUT to
/.say?KIND replaces the next list's answer by its body, one to /.deny?PREFIX answers 403 for keys that begin
so, one to /.gone?BUCKET that there is no such bucket (or path of a container), and one to /.fail?KEY&WORDS (nothing: no more) for requests of that path's end with these words in the
query. A PUT to /.many?NAME&COUNT makes COUNT objects of its body, NAME with a number for its "*"; one to
/.after?NAME puts its body there after the last page of the next list; one to /.lie?NAME has lists say that many bytes;
one to /.forget empties the log.
"""
import argparse
import bisect
import email.utils
import hashlib
import os
import re
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

lock = threading.Lock()
objects = {}  # "bucket/key" -> (bytes, etag, date)
uploads = {}  # id -> (name, {number: (bytes, etag)})
state = {"requests": 0, "log": [], "say": None, "deny": [], "gone": [], "fail": None, "next": 1, "page": 1000, "every": 0, "when": {}, "changes": 0, "below": None, "after": {}, "lie": {},
         "plain": 0}


def etag_of(body):
    return '"%s"' % hashlib.md5(body).hexdigest()


class Answer(Exception):
    def __init__(self, status, body=b"", headers=()):
        super().__init__(status)
        self.status, self.body, self.headers = status, body, dict(headers)


def error(status, code):
    return Answer(status, f"<Error><Code>{code}</Code><Message>{code}, it is said</Message></Error>".encode())


def put(name, body):
    state["changes"] += 1
    objects[name] = (body, etag_of(body), email.utils.formatdate(int(time.time()), usegmt=True))
    return objects[name][1]


def below(bucket, prefix, delimiter):
    """The names in a folder, in order; the next page finds them again."""
    which = (bucket, prefix, delimiter, state["changes"])
    if state["below"] is None or state["below"][0] != which:
        names = set()
        for name in objects:
            if name.startswith(bucket + "/" + prefix):
                key = name[len(bucket) + 1 :]
                cut = key.find(delimiter, len(prefix)) if delimiter else -1
                names.add(key if cut < 0 else key[: cut + 1])
        state["below"] = which, sorted(n.encode() for n in names)
    return state["below"][1]


def listing(bucket, query):
    """ListObjectsV2, or List Blobs where comp=list says so."""
    azure = query.get("comp") == "list"
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    names = below(bucket, prefix, delimiter)
    first = bisect.bisect_right(names, query.get("marker" if azure else "continuation-token", "").encode())
    page, more = [n.decode() for n in names[first : first + state["page"]]], len(names) > first + state["page"]
    quote = (lambda t: urllib.parse.quote_plus(t, safe="/")) if query.get("encoding-type") == "url" else escape
    items = []
    for name in page:
        folder = bool(delimiter) and name.endswith(delimiter) and name != prefix
        size = 0 if folder else state["lie"].get(bucket + "/" + name, len(objects[bucket + "/" + name][0]))
        tag = "" if folder else objects[bucket + "/" + name][1]
        quoted = tag.replace('"', "&quot;")
        if azure:
            items.append(
                f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>"
                if folder
                else f"<Blob><Name>{escape(name)}</Name><Properties><Content-Length>{size}</Content-Length>"
                f"<Etag>{tag[1:-1]}</Etag></Properties></Blob>"
            )
        else:
            items.append(
                f"<CommonPrefixes><Prefix>{quote(name)}</Prefix></CommonPrefixes>"
                if folder
                else f"<Contents><Key>{quote(name)}</Key><Size>{size}</Size><ETag>{quoted}</ETag></Contents>"
            )
    last = escape(page[-1]) if more else ""
    if not more:
        for name, body in state["after"].items():
            put(name, body)
        state["after"] = {}
    if azure:
        return f"<EnumerationResults><Blobs>{''.join(items)}</Blobs><NextMarker>{last}</NextMarker></EnumerationResults>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        + "".join(items)
        + f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"
        + (f"<NextContinuationToken>{last}</NextContinuationToken>" if more else "")
        + ("<EncodingType>url</EncodingType>" if query.get("encoding-type") == "url" else "")
        + "</ListBucketResult>"
    )


def parts_of(upload):
    return "".join(
        f"<Part><PartNumber>{n}</PartNumber><ETag>{escape(e)}</ETag><Size>{len(b)}</Size></Part>"
        for n, (b, e) in sorted(upload[1].items())
    )


def part_page(upload, marker):
    numbers = [n for n in sorted(upload[1]) if n > marker]
    page, more = numbers[: state["page"]], len(numbers) > state["page"]
    body = parts_of((None, {n: upload[1][n] for n in page}))
    tail = f"<NextPartNumberMarker>{page[-1]}</NextPartNumberMarker>" if more else ""
    return f"<ListPartsResult>{body}<IsTruncated>{'true' if more else 'false'}</IsTruncated>{tail}</ListPartsResult>"


def complete(upload, body):
    wanted = re.findall(rb"<PartNumber>(\d+)</PartNumber><ETag>([^<]*)</ETag>", body)
    parts = []
    for i, (number, tag) in enumerate(wanted):
        have = upload[1].get(int(number))
        if have is None or have[1].encode() != tag:
            raise error(400, "InvalidPart")
        if i + 1 < len(wanted) and len(have[0]) < 5 << 20:
            raise error(400, "EntityTooSmall")
        parts.append(have[0])
    return b"".join(parts)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_one(self):
        path, _, text = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        name = urllib.parse.unquote(path[1:])
        query = dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
        with lock:
            try:
                status, out, headers = 200, *self.control(path, text, body)
                if out is None:
                    out, headers = self.object_call(name, query, body)
            except Answer as a:
                status, out, headers = a.status, a.body, a.headers
        self.answer(status, out, headers)

    def control(self, path, text, body):
        if path == "/.log":
            return "".join(state["log"]).encode(), {}
        if path == "/.left":
            return "".join(f"{n}\n" for n in [*objects, *(u[0] for u in uploads.values())]).encode(), {}
        if path == "/.many":
            name, _, count = text.partition("&")
            made = (body, etag_of(body), email.utils.formatdate(usegmt=True))
            objects.update((name.replace("*", f"{i:06d}"), made) for i in range(int(count)))
            state["changes"] += 1
            return b"", {}
        if path == "/.after":
            state["after"][text] = body
            return b"", {}
        if path == "/.lie":
            state["lie"][text] = int(body)
            return b"", {}
        if path == "/.forget":
            state["log"] = []
            return b"", {}
        if path == "/.say":
            state["say"] = body
            return b"", {}
        if path == "/.when":
            state["when"][text] = body
            return b"", {}
        if path == "/.plain":
            state["plain"] = int(text)
            return b"", {}
        if path == "/.deny":
            state["deny"].append(text)
            return b"", {}
        if path == "/.gone":
            state["gone"].append(text)
            return b"", {}
        if path == "/.fail":
            state["fail"] = text.partition("&") if text else None
            return b"", {}
        if state["fail"] and path.endswith(state["fail"][0]) and state["fail"][2] in text:
            raise error(403, "AccessDenied")
        state["requests"] += 1
        state["log"].append("*" * ("If-None-Match" in self.headers) + f"{self.command} {self.path}\n")
        if state["every"] and state["requests"] % state["every"] == 0:
            raise Answer(503, b"SlowDown")
        return None, None

    def object_call(self, name, query, body):
        for gone in state["gone"]:
            if (name + "/").startswith(gone + "/"):
                raise error(404, "ContainerNotFound" if "/" in gone else "NoSuchBucket")
        bucket, _, key = name.partition("/")
        if query.get("restype") == "container":
            bucket, key = name.rstrip("/"), ""
        if any(key.startswith(d) for d in state["deny"]):
            raise error(403, "AccessDenied")
        if "list-type" in query or query.get("comp") == "list":
            if state["say"] is not None:
                say, state["say"] = state["say"], None
                return say, {}
            return listing(bucket, query).encode(), {}
        if "uploads" in query:
            state["next"] += 1
            uploads[f"up/+{state['next']}"] = (name, {})
            return f"<R><UploadId>up/+{state['next']}</UploadId></R>".encode(), {}
        if "uploadId" in query:
            return self.upload_call(name, query, body)
        return self.plain_call(name, body)

    def upload_call(self, name, query, body):
        upload = uploads.get(query["uploadId"])
        if upload is None or upload[0] != name:
            raise error(404, "NoSuchUpload")
        if self.command == "PUT":
            body = self.copied(body)
            upload[1][int(query["partNumber"])] = (body, etag_of(body))
            return self.copy_answer(etag_of(body))
        if self.command == "GET":
            return part_page(upload, int(query.get("part-number-marker", 0))).encode(), {}
        if self.command == "POST":
            self.condition(name)
            put(name, complete(upload, body))
        del uploads[query["uploadId"]]
        return (b"<R/>" if self.command == "POST" else b""), {}

    def copied(self, body):
        origin = self.headers.get("x-amz-copy-source")
        if origin is None:
            return body
        name = urllib.parse.unquote(origin.lstrip("/"))
        if name not in objects:
            raise error(404, "NoSuchKey")
        body = objects[name][0]
        span = re.match(r"bytes=(\d+)-(\d+)", self.headers.get("x-amz-copy-source-range", ""))
        return body[int(span[1]) : int(span[2]) + 1] if span else body

    def copy_answer(self, tag):
        if "x-amz-copy-source" in self.headers:
            return f"<CopyResult><ETag>{escape(tag)}</ETag></CopyResult>".encode(), {}
        return b"", {"ETag": tag}

    def condition(self, name):
        if name in state["when"]:
            put(name, state["when"].pop(name))
        if self.headers.get("If-None-Match") == "*":
            if state["plain"]:
                raise error(state["plain"], "NotImplemented")
            if name in objects:
                raise error(412, "PreconditionFailed")

    def plain_call(self, name, body):
        if self.command == "PUT":
            self.condition(name)
            return self.copy_answer(put(name, self.copied(body)))
        if self.command == "DELETE":
            objects.pop(name, None)
            state["changes"] += 1
            raise Answer(204)
        if name not in objects:
            raise error(404, "NoSuchKey")
        content, tag, date = objects[name]
        headers = {"ETag": tag, "Last-Modified": date}
        if self.headers.get("If-Match") not in (None, tag):
            raise error(412, "PreconditionFailed")
        span = re.match(r"bytes=(\d+)-(\d+)$", self.headers.get("Range", ""))
        if self.command == "HEAD":
            return b"", headers | {"Content-Length": str(len(content))}
        if not span:
            return content, headers
        begin, end = int(span[1]), min(int(span[2]) + 1, len(content))
        if begin >= len(content):
            raise Answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
        raise Answer(206, content[begin:end], headers | {"Content-Range": f"bytes {begin}-{end - 1}/{len(content)}"})

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    parent = os.getppid()

    def service_actions(self):
        """Ends with the test that started it, however that ends."""
        if os.getppid() != self.parent:
            os._exit(0)

    def handle_error(self, *where):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # of a request that was sent twice
            super().handle_error(*where)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--page", type=int, default=1000)
    a.add_argument("--every", type=int, default=0)
    a.add_argument("file")
    o = a.parse_args()
    state["page"], state["every"] = o.page, o.every
    server = Server(("127.0.0.1", 0), Handler)
    with open(o.file + ".new", "w", encoding="ascii") as f:
        f.write(str(server.server_address[1]))
    os.rename(o.file + ".new", o.file)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
