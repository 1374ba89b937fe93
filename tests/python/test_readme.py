"""The Python that README.md shows runs, and that of the guides has no mistake of syntax."""
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import imrec
import imrec.recordio
from conftest import jpeg, make_image

TOP = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
GUIDES = sorted(path for path in (TOP / "docs").rglob("*.md") if BLOCK.search(path.read_text()))


def test_the_readmes_python_runs(tmp_path, monkeypatch):
    for i in range(40):
        place = tmp_path / "photos" / ("ant", "bee")[i % 2]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(jpeg(make_image(i, 300)))
    monkeypatch.chdir(tmp_path)
    seen = []

    def train(images, labels):
        seen.append((images.shape, images.dtype, labels.shape, labels.sum()))

    exec(BLOCK.search((TOP / "README.md").read_text())[1], {"train": train})
    assert [s[:3] for s in seen] == [((n, 3, 224, 224), np.float32, (n,)) for n in (32, 8)]  # no padding in a loop
    assert sum(s[3] for s in seen) == 20


# ---- each line of "what you have", on files of the writers that it names -----------------------------------------------------

LINES = re.findall(r"^Loader\(.*", (TOP / "README.md").read_text(), re.M)
SAMPLES = [(jpeg(make_image(i, 64)), i % 2) for i in range(12)]


def write_folder():
    for i, (image, label) in enumerate(SAMPLES):
        place = Path("photos") / ("ant", "bee")[label] / f"{i:02d}.jpg"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(image)


def write_list():
    write_folder()
    Path("train.lst").write_text("".join(f"{i}\t{label}\t{('ant', 'bee')[label]}/{i:02d}.jpg\n" for i, (_, label) in enumerate(SAMPLES)))


def write_tars():
    webdataset = pytest.importorskip("webdataset", reason="no webdataset: tools/dev/python_venv installs it")
    Path("shards").mkdir()
    with webdataset.ShardWriter("shards/train-%06d.tar", maxcount=4, verbose=0) as sink:
        for i, (image, label) in enumerate(SAMPLES):
            sink.write({"__key__": f"{i:04d}", "jpg": image, "cls": label, "txt": f"caption {i}"})


def write_tfrecords():  # tests/long tensorflow has TensorFlow's own
    for shard in range(2):
        with imrec.recordio.MXIndexedRecordIO("part.idx", "part.rec", "w") as out:
            for i, (image, label) in list(enumerate(SAMPLES))[shard * 6:shard * 6 + 6]:
                out.write_idx(i, imrec.recordio.pack(imrec.recordio.IRHeader(0, label + 1, i, 0), image))
        subprocess.run([sys.executable, "-m", "imrec", "convert", "part.rec", f"part-{shard}.tfrecord"], check=True, capture_output=True)
        Path(f"part-{shard}.tfrecord").rename(f"train-{shard:05d}-of-00002")


def write_records():
    with imrec.recordio.MXIndexedRecordIO("mxnet.idx", "mxnet.rec", "w") as out:
        for i, (image, label) in enumerate(SAMPLES):
            out.write_idx(i, imrec.recordio.pack(imrec.recordio.IRHeader(0, label, i, 0), image))


def write_parquet():
    pyarrow = pytest.importorskip("pyarrow", reason="no pyarrow: tools/dev/python_venv torch installs it")
    parquet = pytest.importorskip("pyarrow.parquet")
    Path("data").mkdir()
    columns = {"image": [{"bytes": image, "path": None} for image, _ in SAMPLES], "label": [label for _, label in SAMPLES]}
    parquet.write_table(pyarrow.table(columns), "data/a.parquet", row_group_size=5)


class Own:
    def __len__(self):
        return len(SAMPLES)

    def __getitem__(self, i):
        return {"image": SAMPLES[i][0], "label": SAMPLES[i][1]}


WRITERS = [write_folder, write_list, write_tars, write_tars, write_tfrecords, write_records, write_parquet, lambda: None]


@pytest.mark.parametrize("line, write", list(zip(LINES, WRITERS)), ids=[line.split(",")[0][7:].strip('"') for line in LINES])
def test_the_readmes_lines_read_what_you_have(line, write, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="no torch: tools/dev/python_venv torch installs it")
    from imrec.torch import Loader

    assert len(LINES) == len(WRITERS)
    monkeypatch.chdir(tmp_path)
    write()
    loader = eval(line, {"Loader": Loader, "dataset": Own()})
    images, labels, *captions = zip(*loader)
    assert torch.cat(images).shape == (12, 3, 224, 224) and torch.cat(labels).bincount().tolist() == [6, 6]
    texts = [text for batches in captions for batch in batches for text in batch]
    assert texts == [f"caption {i}".encode() for i in range(12)] * ("deliver" in line)
    loader.close()


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_the_guides_python_compiles(path):
    for block in BLOCK.findall(path.read_text()):
        compile(block, str(path), "exec")
