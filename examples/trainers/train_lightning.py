#!/usr/bin/env python3
"""train_lightning.py TRAIN.rec FOLDER [OPTIONS]: Lightning, under DDP; its checkpoints keep the place in the data.

    torchrun --nproc-per-node 2 examples/trainers/train_lightning.py train.rec run
"""
import os

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

import common
import imrec.torch

o = common.options(__doc__)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
                                       torch.nn.Flatten(), torch.nn.Linear(128, o.classes))

    def train_dataloader(self):
        return imrec.torch.Loader(o.train, preset="imagenet-train-torch", data_shape=o.side, batch_size=o.batch,
                                  shuffle=True, restart=True)

    def val_dataloader(self):
        return imrec.torch.Loader(o.train, preset="imagenet-eval-torch", data_shape=o.side, resize=o.side, batch_size=o.batch,
                                  restart=True)

    def training_step(self, batch, number):
        images, labels = batch
        return torch.nn.functional.cross_entropy(self.net(images), labels)

    def validation_step(self, batch, number):
        images, labels = batch
        self.log("right", (self.net(images).argmax(1) == labels).float().mean(), sync_dist=True)

    def on_train_batch_end(self, *what):
        common.step_done(o, self.trainer.global_step)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


last = os.path.join(o.folder, "last.ckpt")
keep = ModelCheckpoint(dirpath=o.folder, every_n_train_steps=o.save_every, save_last=True)
trainer = lightning.Trainer(accelerator="auto" if torch.cuda.is_available() else "cpu", strategy="ddp", logger=False,
                            devices=int(os.environ.get("LOCAL_WORLD_SIZE", "1")), max_epochs=o.epochs, callbacks=[keep],
                            enable_progress_bar=False, enable_model_summary=False)
model = Classifier()
trainer.fit(model, ckpt_path=last if os.path.exists(last) else None)
common.finish(model.net, trainer.global_step)
