"""Hugging Face's Trainer, reading from an imrec.torch.Loader.

    loader = imrec.torch.Loader("train.rec", preset="imagenet-train-torch", batch_size=32, shuffle=True, restart=True,
                                deliver={"pixel_values": "image", "labels": "label"})
    trainer = imrec.huggingface.Trainer(model=model, args=arguments, train_loader=loader)
    trainer.train(resume_from_checkpoint=...)

The place in the data is in the Trainer's own checkpoints (trainer_state.json): a run that is resumed continues with the batches
that followed.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import transformers  # type: ignore[import-not-found,import-untyped,unused-ignore]
from transformers.trainer_callback import ExportableState  # type: ignore[import-not-found,import-untyped,unused-ignore]

from .errors import ArgumentError

if TYPE_CHECKING:
    from .torch import Loader

__all__ = ["LoaderPlace", "Trainer"]


class LoaderPlace(transformers.TrainerCallback, ExportableState):  # type: ignore[misc,unused-ignore]
    """Keeps the place of a Loader in the state of a Trainer, and restores it when training begins: for a Trainer class of your own
    whose get_train_dataloader() returns the Loader. It needs ignore_data_skip=True."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def state(self) -> dict[str, Any]:
        return {"args": {}, "attributes": {"place": self._loader.state_dict()}}

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if not args.ignore_data_skip:
            raise ArgumentError("the Trainer would skip batches of a DataLoader when it resumes: write ignore_data_skip=True in its "
                                "TrainingArguments, the Loader continues at its place by itself", field="ignore_data_skip")
        if state.global_step > 0:
            kept = state.stateful_callbacks.get(type(self).__name__)
            if not kept:
                raise ArgumentError("this checkpoint has no place of a Loader: it was saved by a Trainer without one; train from its model "
                                    "alone, without resume_from_checkpoint", field="resume_from_checkpoint")
            self._loader.load_state_dict(kept["attributes"]["place"])


class Trainer(transformers.Trainer):  # type: ignore[misc,unused-ignore]
    """transformers.Trainer that trains on train_loader and evaluates on eval_loader, instead of data sets.

    train_loader: an imrec.torch.Loader with restart=True, whose batches are what the model takes (deliver=); batch size, number of
        workers and rank are the Loader's, and open it after the TrainingArguments, which initialize torch.distributed.
    eval_loader: another one, with shuffle=False.
    Raises ArgumentError for a Loader without restart=True.
    All other arguments are those of transformers.Trainer; ignore_data_skip of `args` is set.
    """

    def __init__(self, *arguments: Any, train_loader: Loader | None = None, eval_loader: Loader | None = None, **more: Any) -> None:
        for name, loader in (("train_loader", train_loader), ("eval_loader", eval_loader)):
            if loader is not None and not loader.restart:
                raise ArgumentError(f"{name} must be a Loader with restart=True: the Trainer expects each loop to be a complete sweep",
                                    field=name)
        super().__init__(*arguments, **more)
        self._train_loader, self._eval_loader = train_loader, eval_loader
        if train_loader is not None:
            self.args.ignore_data_skip = True
            self.add_callback(LoaderPlace(train_loader))

    def get_train_dataloader(self) -> Any:
        return super().get_train_dataloader() if self._train_loader is None else self._train_loader

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        if self._eval_loader is None or eval_dataset is not None:
            return super().get_eval_dataloader(eval_dataset)
        return self._eval_loader
