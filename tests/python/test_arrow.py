"""Arrow tables, data sets of Hugging Face and Parquet files as data of an iterator."""
import gc
import urllib.request

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image
from tests_support import fake_bucket, open_iter, put

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
import pyarrow.dataset  # noqa: E402
import pyarrow.fs  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

COUNT = 60


@pytest.fixture(scope="module")
def images():
    return [jpeg(make_image(i)) for i in range(COUNT)]


@pytest.fixture(scope="module")
def table(images):
    return pa.table({"image": pa.array(images, pa.binary()), "label": pa.array(range(COUNT), pa.int64())})


def structs(images, label=None):
    column = pa.array([{"bytes": image, "path": None} for image in images])
    return pa.table({"image": column, "label": label if label is not None else pa.array(range(len(images)), pa.int32())})


def seen(source, **more):
    with open_iter(source, **more) as it:
        return [(b.ids.tolist(), b.labels.tolist(), b.data.tobytes()) for _ in range(2) for b in it]


def labels(source, **more):
    with open_iter(source, **more) as it:
        return [int(label) for b in it for label in b.labels]


class Plain:
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], i


@pytest.mark.parametrize("way", [{}, {"shuffle": True, "seed": 5}, {"shuffle": True, "num_parts": 4, "part_index": 3}])
def test_rows_of_all_forms_come_as_samples_of_python_do(images, table, tmp_path, way):
    wanted = seen(Plain(images), **way)
    cut = pa.concat_tables([table.slice(0, 7), table.slice(7, 30), table.slice(37)])
    large = table.set_column(0, "image", table.column("image").cast(pa.large_binary()))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    pq.write_table(structs(images), tmp_path / "b.parquet", row_group_size=11)
    pa.ipc.new_file(str(tmp_path / "c.arrow"), table.schema)
    forms = [table, cut, large, table.combine_chunks().to_batches()[0], structs(images), tmp_path / "a.parquet",
             str(tmp_path / "b.parquet"), pyarrow.dataset.dataset(table), pyarrow.dataset.dataset(str(tmp_path / "a.parquet"))]
    for form in forms:
        assert seen(form, **way) == wanted, type(form)


def test_slices_of_structs_have_their_own_rows(images):
    whole = structs(images)
    cut = pa.concat_tables([whole.slice(50), whole.slice(3, 20)])
    assert labels(cut) == [*range(50, 60), *range(3, 23)]
    wanted = seen([(images[i], i) for i in [*range(50, 60), *range(3, 23)]])
    assert seen(cut) == wanted


@pytest.mark.parametrize("column, found", [
    (pa.array([True, False] * 4), [1, 0] * 4), (pa.array([0.5] * 8), [0.5] * 8), (pa.array([7] * 8, pa.uint64()), [7] * 8),
    (pa.array([1.5] * 8, pa.float32()), [1.5] * 8), (pa.array([[1, 2]] * 8), [[1, 2]] * 8),
    (pa.array([[1.0, 2.5]] * 8, pa.list_(pa.float32(), 2)), [[1, 2.5]] * 8)])
def test_labels_are_numbers_or_lists_of_them(images, column, found):
    with open_iter(structs(images[:8], column), label_width=np.ndim(found)) as it:
        assert next(it).labels.tolist() == found


def test_a_table_without_labels_has_label_0(table):
    assert labels(table.select(["image"])) == [0] * COUNT


def test_what_has_no_rows_by_index_in_pyarrow_is_refused(table):
    for wrong in table.column("image"), table.to_reader():
        with pytest.raises(imrec.ArgumentError, match="have rows by index"):
            open_iter(wrong)


def test_a_large_label_is_exact(images):
    with open_iter(structs(images[:8], pa.array([2**53 + 1] * 8)), dtype_label="int64") as it:
        assert next(it).labels.tolist() == [2**53 + 1] * 8


@pytest.mark.parametrize("column, words", [("photo", "no column 'photo', it has 'image', 'label'"), ("label", "a column of int64")])
def test_a_wrong_column_is_an_error_at_opening(table, tmp_path, column, words):
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(imrec.ArgumentError, match=words):
        open_iter(table, image=column)
    if column == "photo":
        with pytest.raises(imrec.ArgumentError, match=words):
            open_iter(tmp_path / "a.parquet", image=column)
    with pytest.raises(imrec.ArgumentError, match="no column 'class'"):
        open_iter(table, label="class")
    with pytest.raises(imrec.ArgumentError, match="a column of string"):
        open_iter(table.set_column(1, "label", pa.array(["a"] * COUNT)))


def test_a_row_that_lacks_something_costs_itself(images, tmp_path):
    (tmp_path / "9.jpg").write_bytes(images[9])
    rows = [{"bytes": image, "path": None} for image in images]
    rows[4] = None
    rows[5] = {"bytes": None, "path": str(tmp_path / "none.jpg")}
    rows[6] = {"bytes": None, "path": None}
    rows[9] = {"bytes": None, "path": str(tmp_path / "9.jpg")}
    label = pa.array([None if i == 20 else i for i in range(COUNT)])
    broken = pa.table({"image": pa.array(rows), "label": label})
    for form in (broken, pa.concat_tables([broken.slice(0, 5), broken.slice(5)])):
        assert labels(form, on_error="skip") == [i for i in range(COUNT) if i not in (4, 5, 6, 20)]
    with open_iter(broken) as it:
        with pytest.raises(imrec.DataError, match="record 4, id 4: its image is null"):
            next(it)


def test_offsets_that_lie_are_not_followed(images):
    data = b"".join(images[:8])
    ends = np.cumsum([0] + [len(image) for image in images[:8]]).astype(np.int32)
    ends[4], ends[6] = 2**31 - 5, -7
    column = pa.Array.from_buffers(pa.binary(), 8, [None, pa.py_buffer(ends), pa.py_buffer(data)])
    lying = pa.table({"image": column, "label": pa.array(range(8))})
    assert labels(lying, on_error="skip") == [0, 1, 2, 7] or labels(lying, on_error="skip") == [0, 1, 2]
    with open_iter(lying) as it:
        with pytest.raises(imrec.DataError, match="outside the buffer"):
            next(it)


def test_the_bytes_are_not_copied(table):
    with open_iter(table) as it:
        rows = it._source.rows
        out = np.zeros(4, imrec._fetch.FETCHED)
        rows.fill(np.array([1, 2, 3, 59]), out)
        buffer = table.column("image").chunk(0).buffers()[2]
        assert all(buffer.address <= at < buffer.address + buffer.size for at in out["image"].tolist())
        before = pa.total_allocated_bytes()
        for _ in it:
            pass
        assert pa.total_allocated_bytes() <= before


# ---- Parquet -----------------------------------------------------------------------------------------------------

@pytest.fixture
def files(images, tmp_path):
    """Two files of row groups of 5, the last ones shorter."""
    rows = pa.table({"image": pa.array(images, pa.binary()), "label": pa.array(range(COUNT), pa.int64())})
    pq.write_table(rows.slice(0, 33), tmp_path / "p-0.parquet", row_group_size=5)
    pq.write_table(rows.slice(33), tmp_path / "p-1.parquet", row_group_size=5)
    return tmp_path


def test_several_files_are_one_table(files, images):
    wanted = seen(Plain(images), shuffle=True)
    assert seen(str(files / "*.parquet"), shuffle=True) == wanted
    assert seen([files / "p-0.parquet", files / "p-1.parquet"], shuffle=True) == wanted
    assert seen((files / "p-*.parquet").as_uri().replace("%2A", "*"), shuffle=True) == wanted
    with pytest.raises(imrec.ArgumentError, match="no file"):
        open_iter(str(files / "q*.parquet"))


def test_a_state_resumes_inside_a_sweep_of_files(files):
    path = str(files / "*.parquet")
    for more in {"shuffle": True}, {"shuffle": True, "order": "global", "locality": "chunk"}:
        with open_iter(path, **more) as it:
            next(it)
            next(it)
            state, rest = it.state_dict(), [b.ids.tolist() for b in it]
        with open_iter(path, fetch_threads=1, **more) as it:
            it.load_state_dict(state)
            assert [b.ids.tolist() for b in it] == rest
    with open_iter(str(files / "p-0.parquet"), **more) as it:
        with pytest.raises(imrec.ArgumentError, match="other data"):
            it.load_state_dict(state)


def test_a_sweep_decodes_each_row_group_about_once(images, tmp_path):
    """Files larger than shuffle_window: row groups stay together, and few are in memory."""
    many = [images[i % COUNT] for i in range(3000)]
    size = sum(map(len, many))
    pq.write_table(pa.table({"image": pa.array(many, pa.binary()), "label": pa.array(range(3000))}),
                   tmp_path / "a.parquet", row_group_size=20, compression=None)
    window = max(size // 10, 64 << 10) // 8 * 8
    more = {"shuffle": True, "shuffle_window": window, "shuffle_chunk": 4096, "fetch_threads": 2}
    with open_iter(tmp_path / "a.parquet", **more) as it:
        rows = it._source.rows
        sweeps = [[int(i) for b in it for i in b.ids]]
        assert sorted(sweeps[0]) == list(range(3000)) and sweeps[0] != list(range(3000))
        first = rows.decoded
        assert sum(group.bytes for group in rows._groups.values()) <= window + size // 50
        assert first <= 2.5 * 150
        held = [abs(a - b) for a, b in zip(sweeps[0], sweeps[0][1:])]
        assert np.median(held) > 20  # neighbours are of different row groups
    with open_iter(tmp_path / "a.parquet", shuffle=True, fetch_threads=2) as it:
        rows = it._source.rows
        assert sorted(int(i) for b in it for i in b.ids) == list(range(3000))
        assert rows.decoded == 150  # all of it fits


def test_a_row_group_that_cannot_be_decoded_costs_its_rows(files):
    path = files / "p-0.parquet"
    data = bytearray(path.read_bytes())
    group = pq.ParquetFile(path).metadata.row_group(2)
    at = group.column(0).data_page_offset
    data[at:at + 40] = b"\xff" * 40
    path.write_bytes(data)
    assert labels(path, on_error="skip") == [i for i in range(33) if not 10 <= i < 15]
    with open_iter(path) as it, pytest.raises(imrec.DataError, match="p-0.parquet: record 10"):
        for _ in it:
            pass


def test_memory_of_row_groups_is_freed(files):
    gc.collect()
    before = pa.total_allocated_bytes()
    with open_iter(str(files / "*.parquet"), shuffle=True) as it:
        for _ in range(3):
            for batch in it:
                assert batch.count
        assert pa.total_allocated_bytes() > before
    del it, batch
    gc.collect()
    assert pa.total_allocated_bytes() <= before


def test_files_of_a_store_of_ones_own_are_read(files, images):
    class Shelf:
        def open(self, name):
            data = (files / name.split("/")[-1]).read_bytes()

            class Opened:
                size = len(data)

                def read_at(self, offset, n):
                    return data[offset:offset + n]

            return Opened()

        def list(self, folder):
            return [f.name for f in files.iterdir()] if folder == "set" else []

    imrec.register_store("shelf", Shelf())
    try:
        assert seen("shelf://set/*.parquet") == seen(Plain(images))
    finally:
        imrec.unregister_store("shelf")


@pytest.fixture
def there(files, tmp_path, monkeypatch):
    """The same files in a bucket; its URL and the requests that it has answered."""
    port = tmp_path / "server"
    port.mkdir()
    with fake_bucket(port, {f"set/{path.name}": path.read_bytes() for path in files.glob("*.parquet")}) as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield variables["AWS_ENDPOINT_URL"]


def answered(url):
    with urllib.request.urlopen(f"{url}/.log") as log:
        return [line for line in log.read().decode().splitlines() if line.startswith(("GET", "HEAD"))]


@pytest.mark.parametrize("pattern", ["s3://shop/set/*.parquet", "s3://shop/set/p-{0..1}.parquet"])
def test_files_of_a_bucket_are_read_by_the_stores_of_imrec(there, images, pattern):
    assert seen(pattern, shuffle=True) == seen(Plain(images), shuffle=True)
    assert seen([f"s3://shop/set/p-{i}.parquet" for i in range(2)]) == seen(Plain(images))
    assert seen([f"{there}/shop/set/p-{i}.parquet" for i in range(2)]) == seen(Plain(images))  # of a web server
    assert any("set/p-1.parquet" in line for line in answered(there))


def test_a_loader_reads_files_of_a_bucket(there):
    pytest.importorskip("torch", reason="torch is not installed")
    with imrec.torch.Loader("s3://shop/set/*.parquet", data_shape=(3, 16, 16), batch_size=7, shuffle=True) as loader:
        assert sorted(int(label) for _, numbers in loader for label in numbers) == list(range(COUNT))


def test_requests_that_fail_are_sent_again(files, images, tmp_path, monkeypatch):
    (tmp_path / "server").mkdir()
    with fake_bucket(tmp_path / "server", {"p-0.parquet": (files / "p-0.parquet").read_bytes()}, "--every", "3") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert labels("s3://shop/p-0.parquet") == list(range(33))


def test_what_a_bucket_does_not_have_is_named(there):
    for missing in "s3://shop/set/q.parquet", "s3://shop/no/*.parquet":
        with pytest.raises(imrec.Error, match="s3://shop/(set/q.parquet|no)"):
            open_iter(missing)
    with pytest.raises(FileNotFoundError):
        open_iter("s3://shop/set/q.parquet")
    with pytest.raises(imrec.UnsupportedError, match="no store knows the scheme 'nobody"):
        open_iter("nobody://shop/a.parquet")


def test_what_pyarrow_alone_knows_is_read_by_its_file_system(files, images, monkeypatch):
    shelf = pyarrow.fs.SubTreeFileSystem(str(files), pyarrow.fs.LocalFileSystem())

    class Known:
        @staticmethod
        def from_uri(uri):
            return shelf, uri.partition("://")[2]

    monkeypatch.setattr(pyarrow.fs, "FileSystem", Known)
    assert seen("hub://p-?.parquet", shuffle=True) == seen(Plain(images), shuffle=True)
    with pytest.raises(imrec.ArgumentError, match="hub://q.* no file has such a name"):
        open_iter("hub://q*.parquet")


def test_a_file_that_is_replaced_costs_its_rows(there, files):
    rows = imrec._arrow.rows_of("s3://shop/set/*.parquet", None, None, 1, {})
    changed = files / "p-0.parquet"
    pq.write_table(pq.read_table(changed).slice(0, 12), changed, row_group_size=5)
    put(f"{there}/shop/set/p-0.parquet", changed.read_bytes())
    out = np.zeros(4, imrec._fetch.FETCHED)
    kept = rows.fill(np.array([2, 40, 3, 59]), out)
    assert [status != 0 for status in out["status"].tolist()] == [True, False, True, False] and kept
    why = imrec._ffi.text(imrec._ffi.ffi.cast("const char *", int(out["why"][0])))
    assert "s3://shop/set/p-0.parquet: it has become another version" in why


def test_a_cache_is_read_instead_of_the_bucket(there, images, tmp_path):
    cache = {"cache": tmp_path / "cache", "cache_size": "8M"}
    assert seen("s3://shop/set/*.parquet", **cache) == seen(Plain(images))
    before = len(answered(there))
    assert seen("s3://shop/set/*.parquet", **cache) == seen(Plain(images))
    again = answered(there)[before:]
    assert not [line for line in again if line.startswith("GET") and ".parquet" in line and "list" not in line], again


def test_nothing_is_read_after_a_cancel(there):
    rows = imrec._arrow.rows_of("s3://shop/set/*.parquet", None, None, 1, {})
    with rows._open(*rows._files[0]) as file:
        rows.cancel()
        with pytest.raises(imrec.CancelledError):
            file.read_row_group(0)
    out = np.zeros(1, imrec._fetch.FETCHED)
    rows.fill(np.array([2]), out)
    assert out["status"][0] == imrec._ffi.lib.IMREC_ERR_CANCELLED


# ---- Hugging Face ------------------------------------------------------------------------------------------------

@pytest.fixture
def hugging(images, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    features = datasets.Features({"image": datasets.Value("binary"), "label": datasets.ClassLabel(num_classes=COUNT)})
    return datasets.Dataset.from_dict({"image": images, "label": list(range(COUNT))}, features=features)


def test_a_dataset_of_hugging_face_is_read(hugging, images, tmp_path):
    datasets = pytest.importorskip("datasets")
    assert seen(hugging, shuffle=True) == seen(Plain(images), shuffle=True)
    hugging.save_to_disk(str(tmp_path / "saved"))
    assert seen(datasets.load_from_disk(str(tmp_path / "saved"))) == seen(Plain(images))
    with_images = datasets.Dataset.from_dict({"image": [{"bytes": i, "path": None} for i in images], "label": list(range(COUNT))},
                                             features=datasets.Features({"image": datasets.Image(), "label": datasets.Value("int8")}))
    assert seen(with_images) == seen(Plain(images))


def test_its_selections_are_respected(hugging, images):
    order = [5, 3, 3, 59, 0]
    assert labels(hugging.select(order)) == order
    assert labels(hugging.shuffle(seed=1).select(range(9))) == hugging.shuffle(seed=1)["label"][:9]
    assert labels(hugging.filter(lambda row: row["label"] % 7 == 0)) == list(range(0, COUNT, 7))
    with open_iter(hugging.select(range(50))) as a, open_iter(hugging.select(list(reversed(range(50))))) as b:
        with pytest.raises(imrec.ArgumentError, match="other data"):
            b.load_state_dict(a.state_dict())


def test_what_has_no_rows_by_index_is_refused(hugging):
    datasets = pytest.importorskip("datasets")
    with pytest.raises(imrec.ArgumentError, match="choose one of its splits"):
        open_iter(datasets.DatasetDict({"train": hugging}))
    with pytest.raises(imrec.ArgumentError, match="without streaming"):
        open_iter(hugging.to_iterable_dataset())


@pytest.mark.parametrize("kind", ["table", "parquet", "dataset"])
def test_fields_are_columns(images, table, tmp_path, kind):
    texts = [f"caption {i}" if i % 7 else None for i in range(COUNT)]
    more = table.append_column("txt", pa.array(texts)).append_column("sizes", pa.array([[i, 2 * i] for i in range(COUNT)])) \
        .append_column("right", pa.array(images, pa.binary()))
    source = more
    if kind != "table":
        pq.write_table(more, tmp_path / "a.parquet", row_group_size=13)
        source = str(tmp_path / "a.parquet") if kind == "parquet" else pyarrow.dataset.dataset(tmp_path / "a.parquet")
    with open_iter(source, shuffle=True, last_batch="partial", fields="txt?,sizes", images="image,right") as batches:
        count = 0
        for batch in batches:
            for k, i in enumerate(batch.ids.tolist()):
                assert batch.text("txt")[k] == texts[i] and batch["sizes"][k].tolist() == [i, 2 * i]
                count += 1
            assert np.array_equal(batch["right"], batch.data)
    assert count == COUNT
    with pytest.raises(imrec.ArgumentError, match="no column 'gone'"):
        open_iter(source, fields="gone")
