"""The example of open_clip's training runs on archives that webdataset has written, and learns which caption is whose."""
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import jpeg

pytest.importorskip("torch", reason="no torch: tools/dev/python_venv torch installs it")
webdataset = pytest.importorskip("webdataset", reason="no webdataset: tools/dev/python_venv installs it")

COLOURS = {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (20, 40, 230), "white": (240, 240, 240), "black": (10, 10, 10)}


def test_captions_find_their_images(tmp_path):
    rng = np.random.default_rng(3)
    with webdataset.ShardWriter(str(tmp_path / "train-%06d.tar"), maxcount=50, verbose=0) as sink:
        for i in range(160):
            name, colour = list(COLOURS.items())[i % len(COLOURS)]
            pixels = np.clip(np.array(colour) + rng.integers(-9, 10, (64, 64, 3)), 0, 255).astype(np.uint8)
            sink.write({"__key__": f"{i:05d}", "jpg": jpeg(pixels), "txt": f"a {name} image"})
    example = Path(__file__).parents[2] / "examples" / "trainers" / "train_clip.py"
    done = subprocess.run([sys.executable, example, f"{tmp_path}/train-{{000000..000003}}.tar", "60", "64"], check=True, text=True,
                          capture_output=True, timeout=300)
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", done.stdout)]
    # Of 32 images of 5 colours a caption can do no better than to find its colour: log(32 / 5).
    assert losses[0] > 3 and losses[-1] < math.log(32 / 5) + 0.35, losses
