"""Peers as data loader classes of DLIO (dlio_benchmark), which imports this module by name; tests/bench/dlio.py runs it.

DLIO makes a loader once and asks it for the batches of each epoch. It gets the next batches of the peer's endless stream, so no loader
waits where an epoch ends. Each rank reads the whole set.
"""
import argparse
import importlib
import json
import pathlib
import sys

import numpy
import psutil
from dlio_benchmark.checkpointing.base_checkpointing import BaseCheckpointing
from dlio_benchmark.data_loader.base_data_loader import BaseDataLoader

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peer  # noqa: E402

sys.modules["triton"] = None  # PyTorch does without; its LLVM and TensorFlow's in one process abort


def cpu_s():
    """CPU time of this process and of those below it."""
    this = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in (this, *this.children(recursive=True)))


class Loader(BaseDataLoader):
    SCRIPT = NAME = None
    WORKERS = 1  # minimum

    def __init__(self, format_type, dataset_type, epoch):
        super().__init__(format_type, dataset_type, epoch, None)
        self.batches = None

    def read(self):
        peer.BATCH = self.batch_size  # before the peer looks at it
        module = importlib.import_module(f"peer_{self.SCRIPT}")
        self.batches = module.open(peer.Run(argparse.Namespace(
            name=self.NAME, workload="w2", threads=max(self.WORKERS, self._args.read_threads),
            data=pathlib.Path(self._args.data_folder).parent)))
        self.check(getattr(module, "numpy", numpy.asarray), *next(self.batches))

    @staticmethod
    def check(array, images, labels):
        wrong = peer.check(array(images), array(labels), None)
        if wrong:
            raise ValueError("; ".join(wrong))

    def next(self):
        begin, images = cpu_s(), 0
        try:
            for batch in self.batches:  # not "yield from": that would end the peer's stream with the epoch
                images += self.batch_size
                yield batch
        finally:  # DLIO drops the generator after the last step
            cost = {"images": images, "cpu_s": cpu_s() - begin}
            (pathlib.Path(self._args.output_folder) / f"cpu-{self._args.my_rank}.json").write_text(json.dumps(cost))

    def finalize(self):
        pass


class Imrec(Loader):
    SCRIPT, NAME = "imrec", "imrec"


class Dali(Loader):
    SCRIPT, NAME = "dali", "dali"


class TfData(Loader):
    SCRIPT, NAME = "tensorflow", "tf.data"


class Torchvision(Loader):
    SCRIPT, NAME = "torchvision", "torchvision"
    WORKERS = 2  # a single one would decode in this process, only when DLIO asks


class NoCheckpoint(BaseCheckpointing):
    """DLIO's own starts TensorFlow before the workload asks for a checkpoint, and then its number of threads cannot be set."""

    @staticmethod
    def get_instance():
        return NoCheckpoint("none")

    def get_tensor(self, size):
        return None

    def save_state(self, suffix, state):
        raise NotImplementedError("nothing is trained")

    def checkpoint(self, epoch, step_number):
        raise NotImplementedError("nothing is trained")

    def finalize(self):
        pass
