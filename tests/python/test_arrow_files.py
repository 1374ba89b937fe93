"""Rows that pyarrow, Polars and datasets of Hugging Face have written (arrow_files/make.py), kept and written anew."""
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import imrec
from kept_images import HEIGHT, WIDTH, rows

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

KEPT = Path(__file__).parent / "arrow_files"
spec = importlib.util.spec_from_file_location("arrow_files_make", KEPT / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


def written(kind):
    """Names that end with kind: those that are kept, and those that their writers make here."""
    return pytest.mark.parametrize("folder, name", [(by, name) for writer, (_, names) in make.WRITERS.items() for name in names
                                                    if name.endswith(kind) for by in ("kept", writer)], indirect=["folder"])


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    if request.param == "kept":
        return KEPT
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    made = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_DATASETS_CACHE", str(made / "cache"))
        make.WRITERS[request.param][0](made)
    return made


def check(source, **more):
    """Pixels, labels and fields of each row, in two sweeps."""
    images = [np.frombuffer(b"".join(rows(i)), np.uint8).reshape(HEIGHT, WIDTH, 3) for i in range(make.COUNT)]
    seen = []
    with imrec.ImageRecordIter(source, data_shape=(3, HEIGHT, WIDTH), dtype="uint8", layout="NHWC", batch_size=4, last_batch="partial",
                               fields="caption?,scores,image", **more) as batches:
        for batch in [batch for _ in range(2) for batch in batches]:
            for slot, i in enumerate(batch.ids.tolist()):
                assert np.array_equal(batch.data[slot], images[i]) and batch.labels[slot] == make.LABELS[i]
                assert batch.text("caption")[slot] == make.CAPTIONS[i] and batch["image"][slot] == make.IMAGES[i]
                assert batch["scores"][slot].tolist() == make.SCORES[i]
                seen.append(i)
    assert len(seen) == 2 * make.COUNT and sorted(seen[:make.COUNT]) == sorted(seen[make.COUNT:]) == list(range(make.COUNT))
    return seen


@written(".parquet")
def test_rows_of_parquet_are_what_was_written(folder, name):
    assert check(folder / name) == [*range(make.COUNT)] * 2
    assert len({tuple(check(folder / name, shuffle=True, seed=seed)) for seed in range(4)}) > 1  # other orders


@written(".arrow")
def test_rows_of_messages_of_arrow_are_what_was_written(folder, name):
    with pa.memory_map(str(folder / name)) as file:
        reader = pa.ipc.open_file(file) if name == "file.arrow" else pa.ipc.open_stream(file)
        check(reader.read_all(), shuffle=True)


@written("hugging")
def test_a_folder_of_hugging_face_is_what_was_saved(folder, name):
    with pa.memory_map(str(next((folder / name).glob("*.arrow")))) as file:  # without the package
        check(pa.ipc.open_stream(file).read_all())
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    data = datasets.load_from_disk(str(folder / name))
    check(data, shuffle=True)
    with imrec.ImageRecordIter(data.select([5, 0]), data_shape=(3, 16, 16), batch_size=2) as batches:
        assert next(batches).labels.tolist() == [make.LABELS[5], make.LABELS[0]]


def test_several_writers_files_are_one_table():
    paths = [KEPT / f"{name}.parquet" for name in ("plain", "polars", "hugging")]
    with imrec.ImageRecordIter(paths, data_shape=(3, 16, 16), batch_size=3, fields="caption?") as batches:
        got = [(batch.labels.tolist(), batch.text("caption")) for batch in batches]
    assert [label for labels, _ in got for label in labels] == make.LABELS * 3
    assert [text for _, texts in got for text in texts] == make.CAPTIONS * 3
