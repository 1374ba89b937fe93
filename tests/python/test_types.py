"""The types of the package, as mypy sees them."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

import imrec

pytest.importorskip("mypy", reason="mypy is not installed")
if "asan" in os.environ.get("LD_PRELOAD", ""):
    pytest.skip("types are the same under AddressSanitizer", allow_module_level=True)
USER = '''
import numpy as np
import torch
import imrec, imrec.torch
it = imrec.ImageRecordIter("a.rec", data_shape=(3, 8, 8), batch_size=4, dtype=np.float16, mean=(1, 2, 3), std=2.0,
                           epoch_size="FULL_DATA_SWEEP", data_shape_schedule={0: 128, 5: (3, 224, 224)})
reveal_type([b for b in it.sweep()][0].dropped)
loader = imrec.torch.Loader("a.rec", batch_size=4, dtype=np.uint8, data_shape=224, weights=True, restart=True, world_size=1)
names: list[str] = [*loader.classes, *loader.dataset.class_to_idx]
there = imrec.torch.prefetch_to(loader, "cpu", then=lambda batch: batch)
pixels = imrec.torch.normalize(imrec.torch.Loader("a.rec", batch_size=4, deliver={"x": "image"}, transform=lambda s: s, collate=len,
                                                  transform_threads=3).dataset[0][0], (124, 116, 104), 58.0)
where: tuple[str | None, str | None] = (imrec.TransformError().field, imrec.DataError().shard)
of: torch.utils.data.Sampler[int] = loader.sampler
size: int = loader.batch_size + len(loader.dataset) + imrec.open("a.rec")[1:3][0].id
'''
WRONG = {'imrec.torch.Loader("a.rec")': "batch_size", 'imrec.torch.Loader("a.rec", batch_size=4, shufle=True)': "shufle",
         'imrec.torch.Loader("a.rec", batch_size=4, num_parts=2)': "num_parts",
         'imrec.torch.Loader("a.rec", batch_size=4, deliver=3)': "deliver", 'imrec.torch.normalize([1])': "normalize",
         'imrec.ImageRecordIter("a.rec", data_shape=224, batch_size="4")': "batch_size",
         'imrec.ImageRecordIter("a.rec", data_shape=224, batch_size=4, last_batch="padd")': "last_batch"}


def mypy(*arguments, folder):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, cwd=Path(imrec.__file__).parents[1])
    return done.stdout


def test_the_package_and_its_users_are_checked_strictly(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("PIL", reason="Pillow is not installed")
    assert "Success" in mypy("imrec", folder=tmp_path)
    lines = USER.strip().splitlines()
    (tmp_path / "user.py").write_text("\n".join([*lines, *WRONG]) + "\n")
    said = mypy(tmp_path / "user.py", folder=tmp_path).splitlines()
    assert any('"int"' in line and "Revealed" in line for line in said)
    errors = [line for line in said if " error: " in line]
    assert len(errors) == len(WRONG), errors
    for number, name in enumerate(WRONG.values(), len(lines) + 1):
        assert any(f"user.py:{number}: error" in line and name in line for line in errors), (name, errors)
