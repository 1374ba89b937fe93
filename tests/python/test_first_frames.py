"""GIF and WebP that decoders disagree about: every way of reading gives the same pixels, which are Pillow's."""
import collections
import importlib.util
import io
import json
import pathlib

import numpy as np
import pytest

import imrec
from conftest import write_shard

CASES = pathlib.Path(__file__).resolve().parents[1] / "codec"


def built_with(name, data):
    try:
        imrec.decode(data, 3)
    except imrec.UnsupportedError:
        return False
    return True


def recorded():
    """(name, file, RGB, alpha) as Pillow had them when the file was made; turned ones left out."""
    out = []
    for case in json.loads((CASES / "first_frames.json").read_text()):
        width, height = case["size"]
        data = bytes.fromhex(case["file"])
        rgb = np.frombuffer(bytes.fromhex(case["rgb"]), np.uint8).reshape(height, width, 3)
        alpha = np.frombuffer(bytes.fromhex(case["alpha"]), np.uint8).reshape(height, width, 1)
        if "exif" not in case["name"] and built_with(case["name"], data):
            out.append((case["name"], data, rgb, alpha))
    if not out:
        pytest.skip("this build reads neither GIF nor WebP")
    return out


def by_size(cases):
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case[2].shape[:2]].append(case)
    return groups.items()


def test_decoder_iterator_and_verify_agree(tmp_path):
    for (height, width), cases in by_size(recorded()):
        path = tmp_path / f"{width}x{height}.rec"
        write_shard(path, [(i, i, data) for i, (_, data, _, _) in enumerate(cases)])
        found = imrec.verify(path)
        assert found["decoded"] == len(cases) and not found["findings"]
        with imrec.ImageRecordIter(path, data_shape=(3, height, width), batch_size=1, dtype="uint8") as it:
            for (name, data, rgb, alpha), batch in zip(cases, it):
                assert np.array_equal(imrec.decode(data, 3), rgb), name
                assert np.array_equal(imrec.decode(data, 4), np.concatenate([rgb, alpha], 2)), name
                assert np.array_equal(np.asarray(batch.data)[0].transpose(1, 2, 0), rgb), name
        with imrec.ImageRecordIter(path, data_shape=(4, height, width), batch_size=1, dtype="uint8") as it:
            for (name, _, rgb, alpha), batch in zip(cases, it):
                assert np.array_equal(np.asarray(batch.data)[0].transpose(1, 2, 0), np.concatenate([rgb, alpha], 2)), name


def test_the_packer_blends_alpha_on_white_or_keeps_it(tmp_path):
    cases = recorded()
    for name, data, _, _ in cases:
        (tmp_path / "files").mkdir(exist_ok=True)
        (tmp_path / "files" / name).write_bytes(data)
    (tmp_path / "all.lst").write_text("".join(f"{i}\t{i}\t{name}\n" for i, (name, *_) in enumerate(cases)))
    card = imrec.pack(tmp_path / "all.lst", tmp_path / "white.rec", root=tmp_path / "files", encoding="png")
    assert card["packed"] == len(cases) and card["skipped"] == 0
    assert any(kind.endswith("animation") for kind in dict(card["kinds"]))
    for record in imrec.open(tmp_path / "white.rec"):
        name, _, rgb, alpha = cases[record.id]
        wide, a = rgb.astype(int), alpha.astype(int)
        assert np.array_equal(imrec.decode(record.image, 3), (wide * a + 255 * (255 - a) + 127) // 255), name
    imrec.pack(tmp_path / "all.lst", tmp_path / "kept.rec", root=tmp_path / "files", encoding="png", color=-1)
    for record in imrec.open(tmp_path / "kept.rec"):
        name, _, rgb, alpha = cases[record.id]
        assert np.array_equal(imrec.decode(record.image, 4), np.concatenate([rgb, alpha], 2)), name


def test_the_pillow_that_is_installed_agrees():
    pil = pytest.importorskip("PIL.Image")
    spec = importlib.util.spec_from_file_location("make_first_frames", CASES / "make_first_frames.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for name, data in made.cases():
        image = pil.open(io.BytesIO(data))
        if "exif" in name or not built_with(name, data):
            continue
        assert np.array_equal(imrec.decode(data, 3), np.asarray(image.convert("RGB"))), name
        assert np.array_equal(imrec.decode(data, 4), np.asarray(image.convert("RGBA"))), name
