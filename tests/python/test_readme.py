"""The Python that README.md shows runs, and that of the guides has no mistake of syntax."""
import re
from pathlib import Path

import numpy as np
import pytest

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


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_the_guides_python_compiles(path):
    for block in BLOCK.findall(path.read_text()):
        compile(block, str(path), "exec")
