"""imrec view --serve: what a browser is shown of a set, who may ask, and what hostile requests get."""
import html.parser
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import urllib.parse
from pathlib import Path

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png, write_shard

PROGRAM = Path(imrec.__file__).parent / "bin" / "imrec"
NAMES = ["cat", "<b>&\"dog\"", "a+b%20=&c"]


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """150 records of three classes: 10 is no image, 20 is large; names that are no text of a page."""
    folder = tmp_path_factory.mktemp("serve")
    large = np.random.default_rng(0).integers(0, 256, (600, 900, 3)).astype(np.uint8)
    rows = [(1000 + i, i % 3, b"<script>" if i == 10 else jpeg(large if i == 20 else make_image(i))) for i in range(149)]
    path = write_shard(folder / "a<i>.rec", [*rows, (5, [1, 0.5], jpeg(make_image(1)), png(np.zeros((24, 24))))])
    (folder / "a<i>.classes.txt").write_text("\n".join(NAMES) + "\n")
    return path


class Served:
    def __init__(self, *arguments, listen="127.0.0.1:0"):
        self.process = subprocess.Popen([PROGRAM, "view", "--serve", "--json", "--listen", listen, *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.said = json.loads(line)
        self.url = self.said["url"]

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(20) == 0
        self.process.stdout.close()
        self.process.stderr.close()

    def get(self, target, method="GET", host=None):
        where = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
        connection.request(method, target, headers={} if host is None else {"Host": host})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body

    def find(self, **query):
        status, headers, body = self.get("/json?" + urllib.parse.urlencode(query))
        assert status == 200 and headers["content-type"] == "application/json", body
        return json.loads(body)

    def raw(self, request):
        where = urllib.parse.urlsplit(self.url)
        with socket.create_connection((where.hostname, where.port), timeout=20) as s:
            s.sendall(request)
            answer = b""
            while piece := s.recv(65536):
                answer += piece
        return answer


@pytest.fixture(scope="module")
def served(packed):
    with Served(packed) as s:
        yield s


class Page(html.parser.HTMLParser):
    """A page whose tags are closed, which has no script, and refers to nothing but the server."""

    VOID = {"meta", "link", "img", "br", "input", "option"}

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.links, self.words, self.options = [], [], [], "", []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert tag not in ("script", "style", "iframe", "i") and not [a for a in attributes if a.startswith("on") or a == "style"]
        for name in ("src", "href", "action"):
            assert attributes.get(name, "/").startswith("/"), attributes
        if tag == "img":
            self.images.append(attributes["src"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "option":
            self.options.append(attributes["value"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.words += data


def page_of(served, target):
    status, headers, body = served.get(target)
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8", (status, body)
    return Page(body.decode())


def test_every_record_is_on_one_page_and_pages_lead_to_each_other(served):
    assert served.said["records"] == 150
    seen, target = [], "/"
    while target:
        page = page_of(served, target)
        seen += [int(link.split("/")[2]) for link in page.links if link.startswith("/record/")]
        target = next((link for link in page.links if f"page={len(seen) // 60}" in link), None)
    assert seen == list(range(150)) and page.options == NAMES
    assert page_of(served, "/?page=99999999999").links != [] and "150 records" in page.words


def test_records_are_found_by_class_id_size_and_damage(served, packed):
    records = imrec.open(packed)
    assert [r["number"] for r in served.find(id=1017)["records"]] == [17]
    assert served.find(id=4)["total"] == 0
    for label, name in enumerate(NAMES):
        for asked in (name, str(label)):
            said = served.find(**{"class": asked})
            assert said["total"] == (50, 51, 49)[label] and {r["class"] for r in said["records"]} == {name}
            assert said["records"] == served.find(**{"class": asked, "page": 0})["records"]
    sizes = {r["number"]: r["bytes"] for page in range(3) for r in served.find(page=page)["records"]}
    assert len(sizes) == 150 and all(0 <= size - len(records[i].image) < 300 for i, size in sizes.items())
    assert [r["number"] for r in served.find(min=100_000)["records"]] == [20]
    assert served.find(max=sizes[7])["total"] == sum(size <= sizes[7] for size in sizes.values())
    assert served.find(**{"class": "cat", "min": 100_000})["total"] == 0
    first = served.find()["records"][3]
    assert (first["id"], first["offset"], first["label"], first["damaged"]) == (1003, records[3].offset, 0, False)


def test_links_keep_what_was_asked_for(served):
    page = page_of(served, "/?min=1&page=1")
    assert "/?min=1&page=0" in page.links and "/?min=1&page=2" in page.links


def test_links_encode_the_name_of_a_class(tmp_path):
    path = write_shard(tmp_path / "c.rec", [(i, 0, jpeg(make_image(i))) for i in range(61)])
    (tmp_path / "c.classes.txt").write_text(NAMES[2] + "\n")
    with Served(path) as served:
        link = next(link for link in page_of(served, "/?" + urllib.parse.urlencode({"class": NAMES[2]})).links if "page=1" in link)
        page = page_of(served, link)
        assert "61 records, page 2 of 2" in page.words and page.images == ["/thumb/60"]


def test_images_are_those_of_the_records(served, packed):
    records = imrec.open(packed)
    status, headers, body = served.get("/image/3")
    assert (status, headers["content-type"], body) == (200, "image/jpeg", records[3].image)
    for number in (3, 20):
        status, headers, body = served.get(f"/thumb/{number}")
        assert status == 200 and headers["content-type"] == "image/jpeg"
        assert min(imrec.decode(body).shape[:2]) == min(256, min(records[number].pixels().shape[:2]))
    assert len(body) < len(records[20].image) / 3
    page = page_of(served, "/record/149")
    assert page.images == ["/image/149"] and '<b>&"dog"' in page.words and "0.5" in page.words and "of mask" in page.words
    assert "/record/148" in page.links and "/record/150" not in page.links


def test_an_image_that_is_none_is_an_answer_and_counts_as_damaged_from_then_on(packed):
    with Served(packed) as served:
        assert served.find(damaged=1)["total"] == 0  # its head is fine
        for target in ("/thumb/10", "/image/10"):
            status, headers, body = served.get(target)
            assert status == 404 and headers["content-type"].startswith("text/plain") and b"<script" not in body
        assert [r["number"] for r in served.find(damaged=1)["records"]] == [10]
        assert "/thumb/10" not in page_of(served, "/").images


def test_a_head_that_cannot_be_read_is_found(tmp_path):
    path = Path(write_shard(tmp_path / "d.rec", [(i, 0, jpeg(make_image(i))) for i in range(9)]))
    offset = imrec.open(path)[4].offset
    data = bytearray(path.read_bytes())
    data[offset:offset + 4] = b"xxxx"
    path.write_bytes(data)
    with Served(path) as served:
        assert [r["number"] for r in served.find(damaged=1)["records"]] == [4]
        assert page_of(served, "/").images == [f"/thumb/{i}" for i in range(9) if i != 4]
        assert not page_of(served, "/record/4").images


def test_nothing_may_run_and_nobody_may_embed(served):
    for target in ("/", "/json", "/record/1", "/thumb/1", "/image/1", "/style.css", "/nothing", "/?x=1"):
        _, headers, _ = served.get(target)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src" not in policy
        assert "frame-ancestors 'none'" in policy and headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin" and "access-control-allow-origin" not in headers


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "localhost:80:80", "[::1", "[::1]x",
                                  "127.0.0.1:80@evil", "a" * 300, "127.1"])
def test_a_host_that_is_a_name_is_refused(served, host):
    status, _, body = served.get("/", host=host)
    assert status in (400, 421) and b"record" not in body
    assert served.get("/image/1", host=host)[0] == status


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8080", "10.1.2.3:9"])
def test_a_host_that_is_an_address_is_served(served, host):
    assert served.get("/", host=host)[0] == 200


def test_a_name_of_this_machine_can_be_allowed(packed):
    with Served(packed, "--host-name", "node1.example") as served:
        assert served.get("/", host="Node1.example:80")[0] == 200 and served.get("/", host="node2.example")[0] == 421


HOSTILE = ["/../../etc/passwd", "/image/", "/image/-1", "/image/150", "/image/99999999999999999999", "/image/1/2", "/image/1x", "/image/0x1",
           "/thumb/%31", "//", "/style.css/", "/json/", "/record/1%00"]


@pytest.mark.parametrize("target", HOSTILE)
def test_what_is_not_there_is_404(served, target):
    assert served.get(target)[0] == 404


@pytest.mark.parametrize("query", ["x=1", "id=", "id=x", "id=-1", "id=99999999999999999999", "min=1e3", "damaged=2", "class=%zz", "class=%4", "class=%00",
                                   "class=" + "a" * 200, "class=no+such", "class=nan", "class=inf", "page=-1", "=", "%", "id=1&id", "class=%3Cscript%3E"])
def test_a_query_that_is_wrong_is_400_and_an_empty_value_asks_for_nothing(served, query):
    status, headers, body = served.get("/?" + query)
    if query in ("id=", "=", "id=1&id"):
        assert status == 200
    else:
        assert status == 400 and headers["content-type"].startswith("text/plain"), (query, status)


def test_only_get_and_head_are_answered(served):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        status, headers, _ = served.get("/", method)
        assert status == 405 and headers["allow"] == "GET, HEAD"
    status, headers, body = served.get("/image/1", "HEAD")
    assert status == 200 and int(headers["content-length"]) > 0 and body == b""


@pytest.mark.parametrize("request_", [b"\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
                                      b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/3.0\r\n\r\n", b"\x16\x03\x01\x00\n",
                                      b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 3000])
def test_what_is_no_request_gets_no_page(served, request_):
    answer = served.raw(request_)
    assert answer[:10] == b"HTTP/1.1 4" and b"<html" not in answer
    assert served.get("/")[0] == 200


def test_silent_clients_keep_nobody_out(served):
    where = urllib.parse.urlsplit(served.url)
    silent = [socket.create_connection((where.hostname, where.port)) for _ in range(50)]
    assert served.get("/")[0] == 200
    for s in silent:
        s.close()


def test_others_than_this_machine_are_refused_unless_they_are_allowed(packed):
    for listen in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:80", ":80", "8080", "127.0.0.1:70000"):
        done = subprocess.run([PROGRAM, "view", "--serve", "--listen", listen, packed], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and listen in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    with Served(packed, "--network", listen="0.0.0.0:0") as served:
        port = urllib.parse.urlsplit(served.url).port
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert s.recv(12) == b"HTTP/1.1 200"


def test_a_unix_socket_is_served_and_removed(packed, tmp_path):
    with Served(packed, listen=f"unix:{tmp_path}/s") as served:
        assert served.url == f"unix:{tmp_path}/s"
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f"{tmp_path}/s")
            s.sendall(b"GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert s.recv(12) == b"HTTP/1.1 200"
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("arguments", [["--augmented"], ["out.html"], ["--max-records", "149"]])
def test_what_does_not_go_together_is_refused(packed, arguments):
    done = subprocess.run([PROGRAM, "view", "--serve", "--listen", "127.0.0.1:0", packed, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2) and "imrec view" in done.stderr and not done.stdout


def test_a_browser_shows_the_images_under_its_policy(served, tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome", "chrome"))), None)
    if browser is None:
        pytest.skip("there is no Chromium: tools/install_dependencies browser")
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={tmp_path}/profile",
              "--window-size=1200,1200", "--enable-logging=stderr", "--v=0"]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer's is not the browser's
    environment["HOME"] = str(tmp_path)
    shot = tmp_path / "page.png"
    done = subprocess.run([*common, f"--screenshot={shot}", "--virtual-time-budget=5000", served.url + "?class=cat"], capture_output=True, text=True,
                          timeout=120, env=environment)
    assert shot.exists(), done.stderr[-2000:]
    assert "Content Security Policy" not in done.stderr and "Refused" not in done.stderr, done.stderr[-2000:]
    pixels = imrec.decode(shot.read_bytes())
    body = pixels[200:, :, :].astype(int)
    colourful = (body.max(2) - body.min(2) > 30).sum()  # the page is grey, images are not
    assert colourful > 20_000, colourful
    dom = subprocess.run([*common, "--dump-dom", served.url + "?class=cat"], capture_output=True, text=True, timeout=120, env=environment).stdout
    assert "50 records, page 1 of 1" in dom and dom.count("<figure>") == 50
