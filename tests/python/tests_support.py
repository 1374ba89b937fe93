"""What several tests of the package need."""
import imrec

SHAPE = (3, 16, 16)


def open_iter(path, **more):
    """An iterator of small batches; what is given changes it."""
    return imrec.ImageRecordIter(path, **{"data_shape": SHAPE, "batch_size": 8, "preprocess_threads": 2, **more})
