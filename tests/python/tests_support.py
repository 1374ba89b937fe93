"""What several tests of the package need."""
import os
from pathlib import Path

import pytest

import imrec

SHAPE = (3, 16, 16)


def open_iter(path, **more):
    """An iterator of small batches; what is given changes it."""
    return imrec.ImageRecordIter(path, **{"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, **more})


def shared(path):
    """What is there of the shared data; without it the test is skipped."""
    found = Path(os.environ.get("IMREC_SHARED") or Path(__file__).resolve().parents[3] / "shared", path)
    if not found.exists():
        pytest.skip(f"{found} is not there")
    return found
