"""imrec.pack() of Pillow's images and of other libraries' data sets: files and class names are kept."""
import dataclasses
import io
import sys
import types

import numpy as np
import pytest

import imrec
from conftest import jpeg, make_image
from tests_support import grey_png, records, warnings_of


# ---- Pillow ----------------------------------------------------------------------------------------------------------

class Pillow:
    """An image of Pillow's, as far as pack() looks at it."""

    def __init__(self, pixels, mode="RGB", data=None, **info):
        self._pixels, self.mode, self.info, self.palette = pixels, mode, info, None
        self.fp, self.tile, self.decoderconfig = (io.BytesIO(data), [("x",)], ()) if data else (None, [], ())
        self.frame = 0

    def tell(self):
        return self.frame

    def convert(self, mode):
        channels = {"L": 1, "RGB": 3, "RGBA": 4}[mode]
        return Pillow(np.broadcast_to(self._pixels[:, :, :1], (*self._pixels.shape[:2], channels)), mode)

    def __array__(self, *more, **words):
        return np.array(self._pixels if self.mode != "L" else self._pixels[:, :, 0])


def test_an_untouched_image_of_pillow_is_its_file(out):
    data = jpeg(make_image(0))
    used, turned, drafted, strange = (Pillow(make_image(1), data=data) for _ in range(4))
    used.tile, turned.frame, drafted.decoderconfig, strange.fp = [], 1, (2, 0), io.BytesIO(b"a format that only Pillow reads")
    card = imrec.pack([(Pillow(make_image(1), data=data), 0), (used, 1), (turned, 2), (drafted, 3), (strange, 4)], out)
    first, *others = records(out)
    assert first.image == data and all((r.pixels() == make_image(1)).all() for r in others)
    assert card["encoded"] == {"pixels rgb": 4}


@pytest.mark.parametrize("mode, clear, channels", [("L", False, 1), ("RGB", False, 3), ("RGBA", False, 4), ("1", False, 1),
                                                   ("P", False, 3), ("P", True, 4), ("LA", False, 4), ("PA", False, 4),
                                                   ("L", True, 4), ("RGB", True, 4)])
def test_modes_of_pillow_that_lose_nothing(out, mode, clear, channels):
    pixels = np.zeros((5, 4, len(mode) if mode.startswith("RGB") else 1), np.uint8)
    card = imrec.pack([(Pillow(pixels, mode, **({"transparency": 0} if clear else {})), 0)], out)
    assert card["encoded"] == {{1: "pixels grey", 3: "pixels rgb", 4: "pixels rgba"}[channels]: 1}


@pytest.mark.parametrize("mode", ["I;16", "I", "F", "CMYK", "YCbCr", "LAB", "HSV", "RGBa", "La"])
def test_other_modes_of_pillow_are_refused_by_name(out, mode):
    with pytest.raises(imrec.ArgumentError, match=f"item 1 is a Pillow image of mode '{mode}'"):
        imrec.pack([(make_image(0), 0), (Pillow(np.zeros((5, 4, 1), np.uint8), mode), 0)], out)


def test_images_of_the_real_pillow(out, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "a.jpg").write_bytes(jpeg(make_image(0)))
    (tmp_path / "p.png").write_bytes(grey_png(1))
    loaded, shrunk = Image.open(tmp_path / "a.jpg"), Image.open(tmp_path / "a.jpg")
    loaded.load()
    shrunk.draft("RGB", (12, 12))
    rows = [Image.open(tmp_path / "a.jpg"), loaded, Image.open(tmp_path / "p.png"), Image.open(io.BytesIO(jpeg(make_image(0)))), shrunk,
            Image.open(tmp_path / "a.jpg").convert("P"), Image.open(tmp_path / "a.jpg").convert("1")]
    imrec.pack([(image, i) for i, image in enumerate(rows)], out)
    stored = records(out)
    assert [r.image.startswith(b"\xff\xd8") for r in stored] == [True, False, False, True, False, False, False]
    assert stored[0].image == stored[3].image == jpeg(make_image(0)) and stored[2].image == grey_png(1)
    assert (stored[1].pixels() == np.asarray(loaded)).all()
    assert (stored[5].pixels() == np.asarray(rows[5].convert("RGB"))).all()
    with pytest.raises(imrec.ArgumentError, match="mode 'F'"):
        imrec.pack([(rows[1].convert("F"), 0)], out, force=True)


# ---- data sets of others ---------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Image:
    decode: bool = True


@dataclasses.dataclass
class ClassLabel:
    names: list


class Rows:
    """A data set of Hugging Face's, as far as pack() looks at it."""

    def __init__(self, rows, features, format=None, sized=True):
        self.rows, self.features, self.format = rows, features, {"type": format}
        self.asked = []

    def _like(self, **change):
        other = Rows(self.rows, self.features)
        other.format = self.format
        other.asked = self.asked
        for name, value in change.items():
            setattr(other, name, value)
        return other

    def cast_column(self, name, feature):
        return self._like(features={**self.features, name: feature})

    def select_columns(self, names):
        self.asked.append(names)
        return self._like(features={name: self.features[name] for name in names})

    def with_format(self, kind):
        return self._like(format={"type": kind})

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        for row in self.rows:
            row = {key: row[key] for key in self.features}
            for key, feature in self.features.items():
                if isinstance(feature, Image) and feature.decode:
                    row[key] = imrec.decode(row[key]["bytes"])
            yield {key: np.asarray(v) if self.format["type"] else v for key, v in row.items()}


def rows_of(n=4, **more):
    return [{"img": {"bytes": jpeg(make_image(i)), "path": None}, "fine": i % 2, "text": "x", **more} for i in range(n)]


FEATURES = {"img": Image(), "fine": ClassLabel(["ant", "bee"]), "text": None}


@pytest.mark.parametrize("format", [None, "numpy"])
def test_hugging_faces_bytes_and_names_are_kept(out, tmp_path, caplog, format):
    card = imrec.pack(Rows(rows_of(), FEATURES, format), out, image="img", label="fine")
    assert [(r.image, r.label) for r in records(out)] == [(jpeg(make_image(i)), i % 2) for i in range(4)]
    assert card["encoded"] == {} and card["classes"] == 2
    assert (tmp_path / "o.classes.txt").read_text() == "ant\nbee\n"
    assert warnings_of(caplog) == ["not packed: column 'text'"]


def test_hugging_faces_columns_are_named(out):
    with pytest.raises(imrec.ArgumentError, match="no column 'image': it has 'img', 'fine', 'text'; write image='img'"):
        imrec.pack(Rows(rows_of(), FEATURES), out)
    with pytest.raises(imrec.ArgumentError, match="no column 'label': it has 'img', 'fine', 'text'; write label="):
        imrec.pack(Rows(rows_of(), FEATURES), out, image="img")
    with pytest.raises(imrec.ArgumentError, match="item 0: label -1 is the number of none of the 2 classes"):
        imrec.pack(Rows([{**row, "fine": -1} for row in rows_of()], FEATURES), out, image="img", label="fine")
    imrec.pack(Rows(rows_of(), FEATURES), out, image="img", label=None)
    assert not out.with_name("o.classes.txt").exists()


def test_a_transform_of_hugging_faces_is_taken_at_its_word(out):
    card = imrec.pack(Rows(rows_of(), {"img": Image(), "fine": None}, "custom"), out, image="img", label="fine")
    assert card["encoded"] == {"pixels rgb": 4}


def test_a_stream_of_hugging_faces_without_known_columns(out, caplog):
    class Stream(Rows):
        def __init__(self, rows):
            super().__init__(rows, None)

        def __iter__(self):
            return iter(self.rows)

        def __len__(self):
            raise TypeError

    imrec.pack(Stream(rows_of()), out, image="img", label="fine")
    assert [r.image for r in records(out)] == [jpeg(make_image(i)) for i in range(4)]
    assert warnings_of(caplog) == ["not packed: 'text'"]
    imrec.pack(Stream([{**row, "img": make_image(0)} for row in rows_of()]), out, image="img", label="fine", force=True)
    assert warnings_of(caplog)[-1] == ("the images of column 'img' were decoded and are stored as PNG: cast_column('img', "
                                       "Image(decode=False)) before map() or filter() keeps their bytes")


def test_data_sets_of_the_real_datasets(out, tmp_path, caplog):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["ant", "bee"]),
                                  "text": datasets.Value("string")})
    data = datasets.Dataset.from_list([{"image": {"bytes": jpeg(make_image(i)), "path": None}, "label": i % 2, "text": "x"}
                                       for i in range(5)], features=features)
    stream = data.to_iterable_dataset()
    for some in (data, data.with_format("numpy"), stream):
        caplog.clear()
        card = imrec.pack(some, out, force=True)
        assert [(r.image, r.label) for r in records(out)] == [(jpeg(make_image(i)), i % 2) for i in range(5)]
        assert card["encoded"] == {} and (tmp_path / "o.classes.txt").read_text() == "ant\nbee\n"
        assert warnings_of(caplog) == ["not packed: column 'text'"]
    turned = data.with_transform(lambda batch: {**batch, "image": [im.rotate(90, expand=True) for im in batch["image"]]})
    assert imrec.pack(turned, out, force=True)["encoded"] == {"pixels rgb": 5}
    with pytest.raises(imrec.ArgumentError, match="DatasetDict of 'train' is not a data set"):
        imrec.pack(datasets.DatasetDict(train=data), out, force=True)


def test_images_elsewhere_are_read_by_the_library_that_named_them(out, monkeypatch):
    rows = [({"bytes": None, "path": "zip://0.jpg::https://nowhere/a.zip"}, 0)]
    monkeypatch.setitem(sys.modules, "datasets.utils.file_utils", None)
    with pytest.raises(imrec.ArgumentError, match="item 0: its image is at zip://0.jpg::.* only the package datasets can fetch"):
        imrec.pack(rows, out)
    utils = types.ModuleType("datasets.utils.file_utils")
    utils.xopen = lambda path, mode: io.BytesIO(jpeg(make_image(0)) if path.startswith("zip://0.jpg") else b"")
    for name in ("datasets", "datasets.utils"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "datasets.utils.file_utils", utils)
    imrec.pack(rows, out)
    assert records(out)[0].image == jpeg(make_image(0))


class Folder:
    """torchvision's ImageFolder, as far as pack() looks at it."""

    def __init__(self, samples, classes, transform=None, target_transform=None):
        self.samples, self.classes, self.loader = samples, classes, None
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return imrec.decode(open(self.samples[i][0], "rb").read()), self.samples[i][1]


class Part:
    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        return self.dataset[self.indices[i]]


@pytest.fixture
def files(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.jpg").write_bytes(jpeg(make_image(i)))
    return [(str(tmp_path / f"{i}.jpg"), i % 2) for i in range(5)]


def test_files_and_names_of_an_image_folder_are_kept(out, tmp_path, files):
    folder = Folder(files, ["ant", "bee"])
    for source, wanted in ((folder, range(5)), (Part(folder, [3, 1]), [3, 1]), (Part(Part(folder, [4, 3, 1]), [2, 0]), [1, 4])):
        card = imrec.pack(source, out, force=True)
        assert [(r.image, r.label) for r in records(out)] == [(jpeg(make_image(i)), i % 2) for i in wanted]
        assert card["encoded"] == {} and (tmp_path / "o.classes.txt").read_text() == "ant\nbee\n"


def test_a_transform_of_an_image_folder_is_refused_with_what_to_write(out, files):
    for which in ("transform", "target_transform"):
        folder = Folder(files, ["ant", "bee"], **{which: lambda image: image})
        with pytest.raises(imrec.ArgumentError, match=rf"Folder has a {which}, .*dataset.samples, ..., classes=dataset.classes"):
            imrec.pack(folder, out)
    imrec.pack(folder.samples, out, classes=folder.classes)
    assert imrec.pack(((np.asarray(image), label) for image, label in (folder[i] for i in range(5))), out, classes=folder.classes,
                      force=True)["encoded"] == {"pixels rgb": 5}


def test_an_image_folder_of_the_real_torchvision(out, tmp_path):
    datasets = pytest.importorskip("torchvision.datasets")
    for name in ("ant", "bee"):
        (tmp_path / "set" / name).mkdir(parents=True)
        (tmp_path / "set" / name / "0.jpg").write_bytes(jpeg(make_image(3)))
    card = imrec.pack(datasets.ImageFolder(tmp_path / "set"), out)
    assert card["encoded"] == {} and card["classes"] == 2 and records(out)[1].image == jpeg(make_image(3))
    with pytest.raises(imrec.ArgumentError, match="ImageFolder has a transform"):
        imrec.pack(datasets.ImageFolder(tmp_path / "set", transform=lambda image: image), out, force=True)


def test_a_data_set_that_is_asked_by_number_ends_where_it_says(out, tmp_path):
    class Endless:
        classes = ["ant", "bee"]

        def __len__(self):
            return 3

        def __getitem__(self, i):
            return make_image(i), i % 2

    assert imrec.pack(Endless(), out)["packed"] == 3
    assert (tmp_path / "o.classes.txt").read_text() == "ant\nbee\n"
