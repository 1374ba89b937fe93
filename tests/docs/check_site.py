#!/usr/bin/env python3
"""check_site.py SITE [CHROMIUM] - looks at a site that tools/docs_site has made: every link within it leads to a file and an
anchor; nothing is loaded from elsewhere; structs have their fields; its search finds words of guides, parameters, headers and manuals; on a phone no
page is wider than the screen, in light and dark. Without CHROMIUM the index of the search is looked at instead."""
import functools
import html.parser
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

FOUND = {"shuffle_window": "reference/parameters.html", "imrec_iter_next": "reference/c-iterator.html",
         "WebDataset": "formats/webdataset.html", "restart markers": "guide/packing.html", "label-offset": "reference/im2rec.html"}
FIELDS = {"c-iterator": "int64_t shuffle_window;", "c-reader_options": "int64_t label_offset;"}
PHONE = ["index", "guide/quickstart", "guide/detection", "migrate/cntk", "migrate/mxnet", "migrate/dali", "performance",
         "reference/parameters", "reference/c-iterator", "reference/imrec", "reference/python-imrec-torch"]
PROBE = """<!doctype html><body><script>
const wide = [], pages = %s;
function next() {
  if (!pages.length) { document.body.textContent = 'wide: ' + JSON.stringify(wide); return; }
  const page = pages.shift(), frame = document.createElement('iframe');
  frame.style.cssText = 'width:390px;height:800px;border:0';
  frame.onload = () => {
    const all = frame.contentDocument.documentElement;
    if (all.scrollWidth > all.clientWidth) wide.push([page, all.scrollWidth]);
    frame.remove();
    next();
  };
  frame.src = page + '.html';
  document.body.append(frame);
}
next();
</script>"""


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon") or tag in ("script", "img", "iframe"):
            self.loaded.append(given.get("href") or given.get("src") or "")


def wrong_fields(site):
    """Structs are shown with the fields that a macro makes of a table."""
    for name, field in FIELDS.items():
        shown = re.sub(r"<[^>]+>", "", (site / f"reference/{name}.html").read_text(encoding="utf-8"))
        if field not in shown or "(IMREC_FIELD)" in shown:
            yield f"{name}: a struct lacks {field}"


def wrong_links(site):
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if path.name != "augmenters.html"}
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        for target in page.links + page.loaded:
            if re.match(r"[a-z]+:|//", target):
                if target in page.loaded and not target.startswith("data:"):
                    yield f"{here}: is loaded from elsewhere: {target}"
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / urllib.parse.unquote(name.partition("?")[0])).resolve() if name else path
            if not file.is_file():
                yield f"{here}: no file {target}"
            elif anchor and file in pages and urllib.parse.unquote(anchor) not in pages[file].ids:
                yield f"{here}: no anchor {target}"


def wrong_index(site):
    found = json.loads(re.search(r"Search\.setIndex\((.*)\)", (site / "searchindex.js").read_text())[1])
    for words, page in FOUND.items():
        stem = words.lower().split("-")[0][:5]
        terms = [docs for kind in ("terms", "titleterms") for term, docs in found[kind].items() if term.startswith(stem)]
        number = found["docnames"].index(page[:-len(".html")])
        if not any(number in (docs if isinstance(docs, list) else [docs]) for docs in terms):
            yield f"{words!r}: the index of the search does not have it in {page}"


def shown(chromium, url, *options):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run([chromium, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", *options,
                               "--virtual-time-budget=60000", "--dump-dom", url], capture_output=True, text=True, timeout=300).stdout


def wrong_search(url, chromium):
    for words, page in FOUND.items():
        text = shown(chromium, f"{url}/search.html?q={urllib.parse.quote(words)}")
        if not re.search(rf'<a href="{page}[^"]*" data-score', text):
            yield f"{words!r}: the search does not find {page}"


def wrong_widths(site, url, chromium):
    probe = site / "probe.html"
    probe.write_text(PROBE % json.dumps(PHONE))
    for scheme in (0, 1):  # dark, light
        text = shown(chromium, f"{url}/probe.html", f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1000,900")
        said = re.search(r"wide: (\[.*\])", text)
        wide = json.loads(said[1]) if said else [["the probe did not end", 0]]
        yield from (f"{page}: {width} px wide on a phone" for page, width in wide)
    probe.unlink()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def main(site, chromium=None):
    wrong = [*wrong_links(site), *wrong_fields(site)]
    if chromium:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        wrong += [*wrong_search(url, chromium), *wrong_widths(site, url, chromium)]
    else:
        print("no chromium: the index of the search is looked at instead (tools/install_dependencies browser)")
        wrong += wrong_index(site)
    print("\n".join(wrong) or f"{len(list(site.rglob('*.html')))} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), *sys.argv[2:]))
