"""The examples that train, on images made in code: they learn, and an interruption changes nothing."""
import io
import pathlib
import re
import subprocess
import sys
import tarfile

import numpy as np
import pytest

from conftest import jpeg, write_shard

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
CLASSES = 4


def colourful(label, i):
    """Noise over the colour of a class."""
    rng = np.random.default_rng(1000 * label + i)
    base = np.array([(220, 40, 40), (40, 220, 40), (40, 40, 220), (200, 200, 40)][label])
    return np.clip(base + rng.normal(0, 30, (40, 44, 3)), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Shards of 80 and 40 images in four classes."""
    folder = tmp_path_factory.mktemp("sets")
    return [write_shard(folder / f"{name}.rec", [(i, i % CLASSES, jpeg(colourful(i % CLASSES, first + i)))
                                                 for i in range(count)])
            for name, first, count in (("train", 0, 80), ("val", 500, 40))]


def run(name, sets, *options):
    """What an example says last."""
    command = [sys.executable, str(EXAMPLES / name), *sets, "--classes", str(CLASSES), "--batch", "8", *map(str, options)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(name, sets, folder, *options):
    whole = run(name, sets, *options)
    interrupted = [*options, "--checkpoint", folder / "checkpoint", "--save-every", 3]
    assert "stopped after batch 17" in run(name, sets, *interrupted, "--stop-after", 17)  # 10 batches a sweep; 15 are saved
    resumed = run(name, sets, *interrupted)
    assert "continues in epoch 1, after batch 15" in resumed
    pattern = r"accuracy ([0-9.]+).* ([0-9a-f]{8})$"
    assert re.search(pattern, whole.strip()).groups() == re.search(pattern, resumed.strip()).groups()
    assert float(re.search(pattern, whole.strip())[1]) > 0.9


def write_scenes(path, first, count):
    """Images whose depth is 1000 for each step of red, and 20 for each of blue, which are blocks."""
    Image = pytest.importorskip("PIL.Image")
    with tarfile.open(path, "w") as out:
        for i in range(first, first + count):
            pixels = np.random.default_rng(i).integers(1, 8, (6, 6, 3)).repeat(8, 0).repeat(8, 1)
            for name, array in (("png", 30 * pixels), ("depth.png", 1000 * pixels[:, :, 0] + 20 * pixels[:, :, 2])):
                content = io.BytesIO()
                Image.fromarray(array.astype(np.uint8 if name == "png" else np.uint16)).save(content, "png")
                head = tarfile.TarInfo(f"{i:04d}.{name}")
                head.size = content.tell()
                content.seek(0)
                out.addfile(head, content)
    return str(path)


def test_depths_are_learned_from_the_pixels_that_they_lie_under(tmp_path):
    sets = write_scenes(tmp_path / "train.tar", 0, 60), write_scenes(tmp_path / "val.tar", 100, 20)
    done = subprocess.run([sys.executable, str(EXAMPLES / "train_depth.py"), *sets, "--side", "40"], capture_output=True, text=True,
                          timeout=120, check=True)
    assert float(re.search(r"errors ([0-9.]+)", done.stdout)[1]) < 0.05


def test_training_with_numpy_learns_and_goes_on_with_the_same_weights(sets, tmp_path):
    check("train_numpy.py", sets, tmp_path, "--epochs", 3, "--side", 8)


def test_training_with_torch_learns_and_goes_on_with_the_same_weights(sets, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    check("train_torch.py", sets, tmp_path, "--epochs", 4, "--side", 16)
