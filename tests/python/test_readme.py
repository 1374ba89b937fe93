"""What README.md shows is what runs."""
import re
from pathlib import Path

import numpy as np

from conftest import jpeg, make_image

README = Path(__file__).parents[2] / "README.md"


def test_the_readmes_python_runs(tmp_path, monkeypatch):
    for i in range(40):
        place = tmp_path / "photos" / ("ant", "bee")[i % 2]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i}.jpg").write_bytes(jpeg(make_image(i, 300)))
    monkeypatch.chdir(tmp_path)
    seen = []

    def train(images, labels):
        seen.append((images.shape, images.dtype, labels.shape, labels.sum()))

    exec(re.search(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)[1], {"train": train})
    assert [s[:3] for s in seen] == [((n, 3, 224, 224), np.float32, (n,)) for n in (32, 8)]  # no padding in a loop
    assert sum(s[3] for s in seen) == 20
