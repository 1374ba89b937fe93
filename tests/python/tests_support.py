"""What several tests of the package need."""
import contextlib
import logging
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import imrec
from conftest import jpeg, make_image, png

SHAPE = (3, 16, 16)


def open_iter(path, **more):
    """An iterator of small batches; what is given changes it."""
    return imrec.ImageRecordIter(path, **{"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, **more})


def left(path):
    return sorted(os.listdir(path))


def files_in(path):
    return {name: (path / name).read_bytes() for name in left(path)}


def records(path):
    return list(imrec.open(path))


def labels_of(batches):
    return [list(map(int, batch[1] if isinstance(batch, tuple) else batch.labels)) for batch in batches]


def warnings_of(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]


def grey_png(i):
    return png(make_image(i)[:, :, 0])


def pack_photos(folder, count, classes, out):
    """Images 0 to count - 1 as files of as many classes, packed as they are; the set."""
    for i in range(count):
        place = folder / "photos" / classes[i % len(classes)]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(jpeg(make_image(i)))
    imrec.pack(folder / "photos", folder / out, pass_through=True)
    return folder / out


def shared(path):
    """What is there of the shared data; without it the test is skipped."""
    found = Path(os.environ.get("IMREC_SHARED") or Path(__file__).resolve().parents[3] / "shared", path)
    if not found.exists():
        pytest.skip(f"{found} is not there")
    return found


@contextlib.contextmanager
def fake_bucket(folder, objects, *options):
    """Serves a bucket `shop` with these objects; the variables by which s3:// finds it."""
    with pytest.raises(imrec.Error) as error:
        imrec.open("s3://shop/no.rec")
    if "has no libcurl" in str(error.value):
        pytest.skip("imrec is built without libcurl, which buckets need")
    port = folder / "port"
    program = Path(__file__).parents[1] / "support" / "fake_bucket.py"
    with subprocess.Popen([sys.executable, program, *options, port]) as server:
        while not port.exists():
            assert server.poll() is None
            time.sleep(0.02)
        url = f"http://127.0.0.1:{port.read_text()}"
        for name, data in objects.items():
            put(f"{url}/shop/{name}", data)
        yield {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "words", "AWS_ENDPOINT_URL": url, "AWS_REGION": "us-east-1"}
        server.kill()


def put(url, data):
    urllib.request.urlopen(urllib.request.Request(url, data=data, method="PUT")).read()
