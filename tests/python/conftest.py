"""Small shards of images made in code, for all tests of the package."""
import os
import struct
import zlib

import numpy as np
import pytest

import imrec
from imrec._ffi import check, ffi, lib, new_error


def jpeg(pixels, quality=95):
    """uint8 (H, W, 3) as a JPEG."""
    err, decoder, image = new_error(), ffi.new("struct imrec_decoder **"), ffi.new("struct imrec_image *")
    pixels = np.ascontiguousarray(pixels)
    view = ffi.from_buffer("uint8_t[]", pixels)
    image.pixels, image.stride = view, pixels.strides[0]
    image.height, image.width, image.channels = pixels.shape
    check(lib.imrec_decoder_new(decoder, err), err)
    data, n = ffi.new("const void **"), ffi.new("size_t *")
    check(lib.imrec_decoder_encode_jpeg(decoder[0], image, quality, data, n, err), err)
    out = bytes(ffi.buffer(data[0], n[0]))
    lib.imrec_decoder_free(decoder[0])
    return out


def make_image(i, side=24):
    """Image i: noise over a colour of its own."""
    rng = np.random.default_rng(i)
    base = np.array([i * 37 % 200, i * 91 % 200, i * 53 % 200])
    return (base + rng.integers(0, 40, (side + i % 5, side + i % 3, 3))).astype(np.uint8)


def write_shard(path, records, index=True, damage=None):
    """records: (id, labels, image bytes) or (id, labels, image bytes, mask bytes)."""
    err, writer = new_error(), ffi.new("struct imrec_writer **")
    idx = str(path)[:-4] + ".idx" if index else None
    check(lib.imrec_writer_open(str(path).encode(), idx.encode() if idx else ffi.NULL, True, writer, err), err)
    for i, labels, image, *mask in records:
        labels = np.atleast_1d(np.asarray(labels, np.float32))
        values = ffi.from_buffer("float[]", labels)
        if mask:
            check(lib.imrec_writer_append_masked(writer[0], i, values, len(labels), i, image, len(image), mask[0],
                                                 len(mask[0]), err), err)
        else:
            check(lib.imrec_writer_append_image(writer[0], i, values, len(labels), i, image, len(image), err), err)
    check(lib.imrec_writer_commit(writer[0], err), err)
    return str(path)


@pytest.fixture(scope="session")
def shard(tmp_path_factory):
    """37 images; id 1000 + i, label i."""
    path = tmp_path_factory.mktemp("shard") / "train.rec"
    return write_shard(path, [(1000 + i, i, jpeg(make_image(i))) for i in range(37)])


@pytest.fixture(scope="session")
def broken(tmp_path_factory):
    """20 records; that with id 7 is no image."""
    path = tmp_path_factory.mktemp("broken") / "broken.rec"
    return write_shard(path, [(i, i, b"no image" if i == 7 else jpeg(make_image(i))) for i in range(20)])


def png(values):
    """uint8 (H, W) as a grey PNG: a mask."""
    height, width = values.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(values, np.uint8))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def alone(monkeypatch):
    """No launcher's variables, whoever started the tests."""
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_", "TORCHELASTIC_")) or name in (
                "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MPI_LOCALNRANKS"):
            monkeypatch.delenv(name)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "o.rec"


@pytest.fixture(params=["ImageRecordIter", "Loader"])
def open_kind(request):
    """Opens either of them, shuffled, with small batches; what is given changes it."""
    if request.param == "Loader":
        pytest.importorskip("torch", reason="torch is not installed")
    kind = imrec.ImageRecordIter if request.param == "ImageRecordIter" else imrec.torch.Loader

    def open_one(path, **more):
        return kind(path, **{"data_shape": (3, 16, 16), "batch_size": 8, "preprocess_threads": 2, "shuffle": True, **more})

    return open_one
