"""Folders and lists that are packed are named by URIs as well: in a bucket of tests/support/fake_bucket.py, and file://."""
import subprocess
import sys

import pytest

import imrec
import imrec.distributed
from conftest import jpeg, make_image
from tests_support import fake_bucket, files_in

PACK = """import sys, imrec.distributed
if __name__ == "__main__":
    root = {"root": sys.argv[4]} if len(sys.argv) > 4 else {}
    {"one": imrec.pack, "tasks": imrec.distributed.pack}[sys.argv[1]](*sys.argv[2:4], resize=20, shards=2, **root)
"""


@pytest.fixture
def folder(tmp_path):
    lines = []
    for i in range(12):
        name = f"{('ant', 'bee')[i % 2]}/{i}.jpg"
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / name).write_bytes(jpeg(make_image(i)))
        lines.append(f"{i}\t{i % 2}\t{name}\n")
    for place in "photos/list.lst", "list.lst":
        (tmp_path / place).write_text("".join(lines))
    for name in "ab":
        (tmp_path / name).mkdir()
    return tmp_path / "photos"


@pytest.fixture
def bucket(folder, tmp_path):
    """Variables of a bucket `shop`, which has photos/ and list.lst as the folder does."""
    paths = [*folder.glob("*/*.jpg"), folder / "list.lst", tmp_path / "list.lst"]
    with fake_bucket(tmp_path, {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in paths}) as variables:
        yield variables


@pytest.mark.parametrize("how", ["one", "tasks"])
@pytest.mark.parametrize("source", [["photos"], ["photos/list.lst"], ["list.lst", "photos"]])
def test_a_bucket_is_packed_as_a_folder_is(folder, bucket, tmp_path, monkeypatch, source, how):
    local = [str(tmp_path / name) for name in source]
    imrec.pack(local[0], tmp_path / "a" / "t.rec", resize=20, shards=2, **{"root": name for name in local[1:]})
    for name, value in bucket.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "job.py").write_text(PACK)
    there = [f"s3://shop/{name}" for name in source]
    subprocess.run([sys.executable, tmp_path / "job.py", how, there[0], tmp_path / "b" / "t.rec", *there[1:]], check=True)
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


@pytest.mark.parametrize("how", [imrec.pack, imrec.distributed.pack])
def test_file_uris_are_paths(folder, tmp_path, monkeypatch, how):
    imrec.pack(folder, tmp_path / "a" / "t.rec", resize=20)
    how(folder.as_uri(), (tmp_path / "b" / "t.rec").as_uri(), resize=20)
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")
    monkeypatch.chdir(tmp_path)
    for out, source in ("a/u.rec", "photos/list.lst"), ("b/u.rec", "file://photos/list.lst"):
        (imrec.pack if out[0] == "a" else how)(source, out, resize=20)
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


@pytest.mark.parametrize("how", [imrec.pack, imrec.distributed.pack])
def test_what_cannot_be_had_is_named_as_it_was_written(tmp_path, how):
    with pytest.raises(imrec.Error, match="ftp://shop/photos"):
        how("ftp://shop/photos", tmp_path / "t.rec")
    with pytest.raises(FileNotFoundError, match="nowhere: there is no such file"):
        how(tmp_path / "nowhere", tmp_path / "t.rec")
