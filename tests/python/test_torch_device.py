"""imrec.torch.normalize() and prefetch_to(): what a batch goes through on its way to the model."""
import gc
import time

import pytest

import imrec
from tests_support import SHAPE

torch = pytest.importorskip("torch", reason="torch is not installed")
import imrec.torch  # noqa: E402
from imrec import _torch_cuda  # noqa: E402

pytestmark = pytest.mark.usefixtures("alone")
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


def loader(path, **more):
    return imrec.torch.Loader(path, **{"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, "shuffle": True, **more})


# ---- normalize -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mean, std, scale", [(MEAN, STD, 1.0), (MEAN, STD, 1 / 255), (0.3 * 255, 1.0, 0.017), (0.0, 1.0, 1.0)])
def test_bytes_become_the_values_of_the_iterator_bit_for_bit(shard, device, mean, std, scale):
    with loader(shard, mean=mean, std=std, scale=scale) as values, loader(shard, dtype="uint8") as pixels, \
            loader(shard, dtype="uint8", layout="NHWC") as last:
        for (expected, _), (images, _), (nhwc, _) in zip(values, pixels, last):
            got = imrec.torch.normalize(images.to(device), mean, std, scale=scale)
            assert got.device.type == device and torch.equal(got.cpu(), expected)
            got = imrec.torch.normalize(nhwc.to(device), mean, std, scale=scale, layout="NHWC")
            assert got.is_contiguous(memory_format=torch.channels_last) and torch.equal(got.cpu(), expected)
            for dtype in (torch.float16, torch.bfloat16):
                assert torch.equal(imrec.torch.normalize(images.to(device), mean, std, dtype, scale=scale).cpu(), expected.to(dtype))


def test_half_precision_is_that_of_the_iterator(shard):
    with loader(shard, mean=MEAN, std=STD, dtype="float16") as values, loader(shard, dtype="uint8") as pixels:
        for (expected, _), (images, _) in zip(values, pixels):
            assert torch.equal(imrec.torch.normalize(images, MEAN, STD, torch.float16), expected)


@pytest.mark.parametrize("batch, more, words", [
    (torch.zeros(2, 3, 4, 4), {}, "torch.float32 of shape"), (torch.zeros(3, 4, 4, dtype=torch.uint8), {}, "must be a tensor uint8"),
    ([1], {}, "list"), (torch.zeros(2, 3, 4, 4, dtype=torch.uint8), {"mean": (1.0, 2.0)}, "mean has 2 values"),
    (torch.zeros(2, 3, 4, 4, dtype=torch.uint8), {"std": (0.0, 50.0, 60.0)}, "std must not be 0"),
    (torch.zeros(2, 3, 4, 4, dtype=torch.uint8), {"mean": (0.485, 0.456, 0.406)}, "write .123.675, 116.28, 103.53"),
    (torch.zeros(2, 3, 4, 4, dtype=torch.uint8), {"layout": "CHWN"}, "'NCHW' or 'NHWC'")])
def test_what_cannot_be_normalized_is_refused(batch, more, words):
    with pytest.raises(imrec.ArgumentError, match=words):
        imrec.torch.normalize(batch, **more)


# ---- prefetch_to -----------------------------------------------------------------------------------------------------

class _Ahead(_torch_cuda._Here):
    """The order of calls of a device with streams, on the CPU."""

    looks_ahead = True


@pytest.fixture(params=[*DEVICES, "ahead"])
def to(request, monkeypatch):
    if request.param == "ahead":
        monkeypatch.setattr(_torch_cuda, "_Here", _Ahead)
    device = "cpu" if request.param == "ahead" else request.param
    return lambda ours, **more: imrec.torch.prefetch_to(ours, device, **more)


def batches(loop):
    return [(images.cpu().clone(), labels.tolist()) for images, labels in loop]


def equal(one, other):
    return len(one) == len(other) and all(a[1] == b[1] and torch.equal(a[0], b[0]) for a, b in zip(one, other))


@pytest.fixture
def sweeps(shard):
    with loader(shard) as ours:
        return [batches(ours) for _ in range(3)]


def test_batches_and_attributes_are_those_of_the_loader(shard, sweeps, to):
    with loader(shard) as ours:
        there = to(ours)
        assert len(there) == len(ours) == 5 and there.dataset is ours.dataset and len(there.sampler) == 37
        assert isinstance(there.sampler, torch.utils.data.RandomSampler) and there.batch_size == 8
        for expected in sweeps:
            assert equal(batches(there), expected)
        for images, labels in there:
            assert images.device.type == there.device.type
            assert there.batch.labels.astype(int).tolist() == labels.tolist()


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_place_is_that_of_the_consumer(shard, sweeps, to, stop, restart):
    with loader(shard, restart=restart) as ours:
        there = to(ours)
        loop = iter(there)
        for n in range(stop):
            assert equal(batches([next(loop)]), [sweeps[0][n]])
        state = there.state_dict()
        assert equal(batches(there), sweeps[1] if restart or stop == 5 else sweeps[0][stop:])  # another loop, as after break
        with pytest.raises(RuntimeError, match="another loop"):
            next(loop)
    with loader(shard, restart=restart) as ours:
        there = to(ours)
        next(iter(there))
        there.load_state_dict(state)
        assert equal(batches(there), sweeps[0][stop:] or (sweeps[1] if restart else []))


def test_rewind_and_sweep_begin_the_next_sweep(shard, sweeps, to):
    with loader(shard) as ours:
        there = to(ours)
        next(iter(there))
        there.rewind()
        next(iter(there))
        assert equal(batches(there.sweep()), sweeps[2])


def test_errors_come_in_their_place(broken, to):
    with loader(broken, shuffle=False) as ours:
        loop = iter(to(ours))
        with pytest.raises(imrec.DataError):
            next(loop)
        assert [labels.tolist() for _, labels in loop] == [list(range(8, 16)), list(range(16, 20))]


def test_a_function_is_run_on_the_device_and_structures_keep_their_shape(shard, to):
    def then(batch):
        assert sorted(batch) == ["id", "image", "label", "weight"]
        return {**batch, "image": imrec.torch.normalize(batch["image"], MEAN, STD)}

    with loader(shard, dtype="uint8", deliver="dict") as ours, loader(shard, mean=MEAN, std=STD) as values:
        there = to(ours, then=then)
        for batch, (expected, labels) in zip(there, values):
            assert torch.equal(batch["image"].cpu(), expected) and batch["id"].device.type == there.device.type
            assert torch.equal(batch["label"].cpu(), labels)


def test_a_dataloader_is_prefetched_too(shard, to):
    ours = torch.utils.data.DataLoader(list(range(20)), batch_size=8)
    there = to(ours)
    for _ in range(2):
        assert [batch.tolist() for batch in there] == [list(range(8)), list(range(8, 16)), list(range(16, 20))]
        assert next(iter(there)).tolist() == list(range(8))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_a_copy_on_its_stream_is_complete_when_it_is_used(shard):
    with loader(shard, pin_memory=True, data_shape=(3, 512, 512)) as ours, loader(shard, data_shape=(3, 512, 512)) as plain:
        busy = torch.zeros(4096, 4096, device="cuda")
        for (images, labels), (expected, _) in zip(imrec.torch.prefetch_to(ours, "cuda"), plain):
            for _ in range(20):
                busy = busy @ busy
            total = images.double().sum()
            del images
            gc.collect()
            time.sleep(0.001)
            assert torch.allclose(total.cpu(), expected.double().sum())
