"""Names that are markup or paths, in every place where a file can put one: no page runs a script, no export leaves its folder."""
import html
import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image, png, write_shard
from test_view_serve import Served

PROGRAM = Path(imrec.__file__).parent / "bin" / "imrec"
RUN = "document.documentElement.id='ran'+'now'"  # a page that ran it has id="rannow", which no name contains
MARKUP = [f"<script>{RUN}</script>", f"\"><img src=x onerror=\"{RUN}\">", f"'><svg onload=\"{RUN}\">", f"</style></title><script>{RUN}</script>",
          f"--><script>{RUN}</script>", f"x\" onmouseover=\"{RUN}", f"&lt;script&gt;{RUN}", "a\x1b[31mb\x07c", "\u202egnp.exe"]
PATHS = ["../escape.jpg", "../../escape.jpg", "/tmp/imrec-escape.jpg", "a/../../escape.jpg", "./escape.jpg", "a//escape.jpg", "..", ".", "~/escape.jpg",
         "..\\escape.jpg", "C:\\escape.jpg", "a/b/../../../escape.jpg", "%2e%2e/escape.jpg", "export.lst", "export.part", "\\\\host\\escape.jpg", "-rf.jpg",
         "x\x01y.jpg", "con.jpg"]


def imrec_tool(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=cwd)


def packed(folder, names, classes, stem="a"):
    """A record of each name, by the .lst next to the shard; class i has the i-th name."""
    rows = [(100 + i, i % max(1, len(classes)), jpeg(make_image(i))) for i in range(len(names))]
    path = write_shard(folder / f"{stem}.rec", rows)
    (folder / f"{stem}.lst").write_text("".join(f"{100 + i}\t{i % max(1, len(classes))}\t{name}\n" for i, name in enumerate(names)))
    (folder / f"{stem}.classes.txt").write_text("".join(name + "\n" for name in classes))
    return path


# ---- pages ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def set_of_markup(tmp_path_factory):
    stem = f"<img src=x onerror={RUN}>\"'&"
    return packed(tmp_path_factory.mktemp("markup"), MARKUP, MARKUP, stem)


@pytest.fixture(scope="module")
def pages(set_of_markup, tmp_path_factory):
    """Every page that imrec can write, of that set."""
    folder = tmp_path_factory.mktemp("pages")
    made = [("sheet", "view", set_of_markup, folder / "sheet.html"), ("first", "view", "--first", "--count", "5", set_of_markup, folder / "first.html"),
            ("augmented", "view", "--augmented", set_of_markup, folder / "augmented.html", "data_shape=3,16,16"),
            ("grid", "view", "--augmented", "--grid", "2", set_of_markup, folder / "grid.html", "data_shape=3,16,16"),
            ("bench", "bench", set_of_markup, "--seconds", "0.2", "--threads", "1", "--report", folder / "bench.html", "batch_size=2", "data_shape=3,16,16")]
    for name, *arguments in made:
        done = imrec_tool(*arguments)
        assert done.returncode == 0, (name, done.stderr)
    (folder / "python.html").write_text(imrec.open(set_of_markup)._repr_html_(), encoding="utf-8")
    return sorted(folder.glob("*.html"))


def browser():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome", "chrome"))), None)
    if found is None:
        pytest.skip("there is no Chromium: tools/install_dependencies browser")
    return found


def dom_of(url, folder):
    """What a browser has made of a page after a while."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment["HOME"] = str(folder)
    done = subprocess.run([browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile",
                           "--virtual-time-budget=3000", "--dump-dom", url], capture_output=True, text=True, timeout=120, env=environment)
    assert "<html" in done.stdout, done.stderr[-2000:]
    return done.stdout


def test_a_script_that_runs_would_be_seen(tmp_path):
    for i, text in enumerate(MARKUP[:2]):
        page = tmp_path / f"{i}.html"
        page.write_text(f"<!doctype html><title>x</title><p>{text}</p>")
        assert "rannow" in dom_of(page.as_uri(), tmp_path), text


def test_no_page_runs_a_script_that_is_a_name(pages, tmp_path):
    assert len(pages) == 6
    for page in pages:
        dom = dom_of(page.as_uri(), tmp_path)
        assert "rannow" not in dom, page
        if page.name not in ("grid.html",):  # it shows options, and no name
            assert html.escape("<img src=x") in dom or html.escape("<script>") in dom, page


def test_no_page_of_the_server_runs_a_script_that_is_a_name(set_of_markup, tmp_path):
    with Served(set_of_markup) as served:
        for target in ("", "record/0", "record/1", "?class=" + "%3Cscript%3E", "?id=%3Cscript%3E" + RUN):
            dom = dom_of(served.url.rstrip("/") + "/" + target, tmp_path)
            assert "rannow" not in dom, target


def test_no_terminal_is_sent_control_characters_of_names(set_of_markup):
    for arguments in (["ls", set_of_markup], ["info", set_of_markup], ["verify", set_of_markup]):
        done = imrec_tool(*arguments)
        assert "\x1b" not in done.stdout + done.stderr and "\x07" not in done.stdout + done.stderr, arguments


# ---- export -----------------------------------------------------------------------------------------------------------------


def everything(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def export_into(folder, *arguments):
    """Exports into folder/deep/er/out, and returns what is new outside of it."""
    out = folder / "deep" / "er" / "out"
    out.parent.mkdir(parents=True)
    before = everything(folder)
    done = imrec_tool("export", *arguments, out, cwd=folder)
    outside = [name for name in everything(folder) if name not in before and not name.startswith("deep/er/out")]
    assert not Path("/tmp/imrec-escape.jpg").exists() and not (Path.home() / "escape.jpg").exists()
    return done, out, outside


def test_export_stays_in_its_folder_whatever_the_list_names(tmp_path):
    path = packed(tmp_path, PATHS, ["cat"])
    done, out, outside = export_into(tmp_path, path)
    assert done.returncode == 0 and outside == [], (outside, done.stderr)
    assert len([p for p in out.rglob("*") if p.is_file() and p.name != "export.lst"]) == len(PATHS)
    assert all(p.resolve().is_relative_to(out.resolve()) for p in out.rglob("*"))


def test_export_stays_in_its_folder_whatever_the_classes_are_called(tmp_path):
    classes = ["..", "../up", "/tmp/imrec-escape", ".", "a/../../up", " ", "~", "c\\..\\d", "x" * 300]
    path = packed(tmp_path, [f"{i}" for i in range(len(classes))], classes)
    (tmp_path / "a.lst").unlink()
    done, out, outside = export_into(tmp_path, path)
    assert done.returncode == 0 and outside == [], (outside, done.stderr)
    assert len(list(out.rglob("*.jpg"))) == len(classes)


def test_export_stays_in_its_folder_whatever_members_and_fields_are_called(tmp_path):
    image = jpeg(make_image(1))
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name, data in [("../../escape.jpg", image), ("../../escape.cls", b"1"), ("/tmp/imrec-escape.jpg", image), ("/tmp/imrec-escape.cls", b"0"),
                           ("ok.jpg", image), ("ok.cls", b"2"), ("ok.../x", b"field"), ("b.jpg", image), ("b.cls", b"1"), ("b.%2e%2e", b"x"),
                           ("b.a\\..\\..\\c", b"x"), ("b.\x01", b"x")]:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("out.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    done, out, outside = export_into(tmp_path, "--on-error", "skip", tmp_path / "a.tar")
    assert done.returncode in (0, 3) and outside == [], (outside, done.stderr)
    assert list(out.rglob("*.jpg")) and not any(p.is_symlink() for p in out.rglob("*"))


def test_export_of_masks_stays_in_its_folder(tmp_path):
    rows = [(i, 0, jpeg(make_image(i)), png(np.zeros((24 + i % 5, 24 + i % 3)))) for i in range(len(PATHS))]
    write_shard(tmp_path / "m.rec", rows)
    (tmp_path / "m.lst").write_text("".join(f"{i}\t0\t{name}\n" for i, name in enumerate(PATHS)))
    done, out, outside = export_into(tmp_path, tmp_path / "m.rec")
    assert done.returncode == 0 and outside == [], (outside, done.stderr)
    assert all(p.resolve().is_relative_to(out.resolve()) for p in out.rglob("*"))
