"""The examples of trainers, and what their packages do with a Loader: on two ranks of gloo, ended in the second sweep and continued
from the package's own checkpoint, they end with the model of an uninterrupted run, bit for bit.

    python -m pytest tests/trainers/frameworks.py    # in build/venv_frameworks, which tools/dev/python_venv frameworks makes
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))
from conftest import alone, jpeg, make_image, write_shard  # noqa: E402, F401

SAMPLES, BATCH, SWEEPS, RANKS, STOP = 100, 8, 2, 2, 11
STEPS = SWEEPS * -(-SAMPLES // RANKS // BATCH)
NAMES = {"timm": "timm", "lightning": "lightning", "huggingface": "transformers", "accelerate": "accelerate", "torchvision": "torchvision"}

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "train.rec"
    return write_shard(path, [(i, i % 10, jpeg(make_image(i, 40))) for i in range(SAMPLES)])


def run(name, packed, folder, *more):
    """Exit status, and what the job has printed."""
    example = ROOT / "examples" / "trainers" / f"train_{name}.py"
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", str(example), packed,
                           str(folder), *more], capture_output=True, text=True, timeout=400, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return done.returncode, done.stdout + done.stderr


def end_of(name, packed, folder):
    status, said = run(name, packed, folder)
    assert status == 0, said[-4000:]
    return re.search(r"^(\d+) steps, model ([0-9a-f]{8})$", said, re.M).groups()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_that_was_interrupted_ends_with_the_same_model(name, packed, tmp_path):
    pytest.importorskip(NAMES[name], reason=f"{NAMES[name]} is not installed: tools/dev/python_venv frameworks")
    whole = end_of(name, packed, tmp_path / "whole")
    assert int(whole[0]) == STEPS
    status, said = run(name, packed, tmp_path / "stopped", "--stop-after", str(STOP))
    assert status != 0 and "model" not in re.findall(r"^\d+ steps, (model)", said, re.M), said[-4000:]
    assert end_of(name, packed, tmp_path / "stopped") == whole


@pytest.mark.parametrize("name", NAMES)
def test_the_guide_shows_the_lines_of_the_example(name):
    example = (ROOT / "examples" / "trainers" / f"train_{name}.py").read_text().splitlines()
    guide = (ROOT / "docs" / "guide" / "trainers.md").read_text()
    section = next(part for part in guide.split("\n## ") if f"train_{name}.py" in part.split("```diff")[0] and "```diff" in part)
    lines = section.split("```diff\n")[1].split("```")[0].splitlines()
    added = [line[1:] for line in lines if line.startswith("+")]
    assert 1 <= len(added) <= 5 and all(line[0] in "+- " for line in lines)
    for line in lines:
        if not line.startswith("-"):
            assert line[1:] in example, line


# ---- what the packages do with a Loader ------------------------------------------------------------------------------

def open_loader(packed, **more):
    import imrec.torch

    return imrec.torch.Loader(packed, **{"data_shape": (3, 16, 16), "batch_size": BATCH, "preprocess_threads": 1, "shuffle": True,
                                         "restart": True, **more})


def test_accelerate_does_not_wrap_a_loader_and_cannot_skip_in_it(packed):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed")
    with open_loader(packed) as ours:
        assert accelerate.Accelerator(cpu=True).prepare(ours) is ours
        with pytest.raises(TypeError, match="state_dict"):
            next(iter(accelerate.skip_first_batches(ours, 3)))


def test_timms_prefetch_loader_takes_a_loader(packed):
    pytest.importorskip("timm", reason="timm is not installed")
    import torch
    from timm.data.loader import PrefetchLoader

    import imrec.torch

    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    with open_loader(packed, dtype="uint8", shuffle=False) as ours, open_loader(packed, dtype="uint8", shuffle=False) as plain:
        theirs = PrefetchLoader(ours, mean, std, device=torch.device("cpu"))
        assert len(theirs) == len(ours) and len(theirs.sampler) == SAMPLES and theirs.dataset is ours.dataset
        assert theirs.mixup_enabled is False
        for (images, labels), (pixels, expected) in zip(theirs, plain):
            ours_ = imrec.torch.normalize(pixels, [255 * v for v in mean], [255 * v for v in std])
            assert torch.allclose(images, ours_, atol=1e-5) and torch.equal(labels, expected)


def lightning_epochs(packed, folder, **more):
    """The batches that Lightning trains and validates on: of each epoch."""
    import lightning
    import torch

    seen = {"train": [], "val": []}

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(1, 1)

        def on_train_epoch_start(self):
            seen["train"].append([])

        def on_validation_epoch_start(self):
            seen["val"].append([])

        def training_step(self, batch, number):
            seen["train"][-1] += batch[1].tolist()
            return self.net(torch.zeros(1, 1)).sum()

        def validation_step(self, batch, number):
            seen["val"][-1] += batch[1].tolist()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    trainer = lightning.Trainer(accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                enable_model_summary=False, default_root_dir=folder, **more)
    with open_loader(packed) as train, open_loader(packed, shuffle=False) as val:
        trainer.fit(Model(), train, val)
    return seen


def test_lightning_neither_skips_nor_repeats_an_epoch(packed, tmp_path):
    pytest.importorskip("lightning", reason="Lightning is not installed")
    with open_loader(packed) as train, open_loader(packed, shuffle=False) as val:
        sweeps = [sum((labels.tolist() for _, labels in train), []) for _ in range(3)]
        ordered = sum((labels.tolist() for _, labels in val), [])
    seen = lightning_epochs(packed, tmp_path, max_epochs=3, num_sanity_val_steps=2)
    assert seen["train"] == sweeps
    assert seen["val"] == [ordered[:2 * BATCH], ordered, ordered, ordered]  # the sanity check, then complete epochs


def huggingface(folder, **more):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    import imrec.huggingface

    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1], layer_type="basic", num_labels=10)
    arguments = transformers.TrainingArguments(str(folder), report_to=[], disable_tqdm=True, use_cpu=True, save_strategy="no",
                                               logging_strategy="no", num_train_epochs=1)
    return imrec.huggingface.Trainer(model=transformers.ResNetForImageClassification(config), args=arguments, **more)


def test_hugging_faces_trainer_evaluates_every_sample_each_time(packed, tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    import imrec

    counts = []

    def metrics(predictions):
        counts.append(sorted(predictions.label_ids.tolist()))
        return {}

    names = {"pixel_values": "image", "labels": "label"}
    with open_loader(packed, shuffle=False, deliver=names) as val:
        trainer = huggingface(tmp_path, eval_loader=val, compute_metrics=metrics)
        assert trainer.evaluate()["eval_loss"] == trainer.evaluate()["eval_loss"]
    assert counts == [sorted(i % 10 for i in range(SAMPLES))] * 2
    with open_loader(packed, restart=False) as train, pytest.raises(imrec.ArgumentError, match="restart=True"):
        huggingface(tmp_path, train_loader=train)


def test_hugging_faces_trainer_does_not_resume_in_another_place_in_silence(packed, tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    import imrec
    from imrec.huggingface import LoaderPlace

    names = {"pixel_values": "image", "labels": "label"}
    with open_loader(packed, deliver=names) as train:
        trainer = huggingface(tmp_path, train_loader=train)
        trainer.args.ignore_data_skip = False
        with pytest.raises(imrec.ArgumentError, match="write ignore_data_skip=True"):
            trainer.train()
        trainer.args.ignore_data_skip = True
        trainer.state.global_step, trainer.state.stateful_callbacks = 3, {}
        with pytest.raises(imrec.ArgumentError, match="no place of a Loader"):
            LoaderPlace(train).on_train_begin(trainer.args, trainer.state, None)
