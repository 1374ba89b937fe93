#!/usr/bin/env python3
"""train_huggingface.py TRAIN.rec FOLDER [OPTIONS]: Hugging Face's Trainer; its checkpoints keep the place in the data.

    torchrun --nproc-per-node 2 examples/trainers/train_huggingface.py train.rec run
"""
import torch
import transformers
from transformers.trainer_utils import get_last_checkpoint

import common
import imrec.huggingface
import imrec.torch

o = common.options(__doc__)
arguments = transformers.TrainingArguments(
    o.folder, num_train_epochs=o.epochs, save_steps=o.save_every, learning_rate=0.01, report_to=[], disable_tqdm=True,
    save_strategy="steps", logging_strategy="no", use_cpu=not torch.cuda.is_available())
loader = imrec.torch.Loader(o.train, preset="imagenet-train-torch", data_shape=o.side, batch_size=o.batch,
                            shuffle=True, restart=True, deliver={"pixel_values": "image", "labels": "label"})
model = transformers.ResNetForImageClassification(transformers.ResNetConfig(
    embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=o.classes))


class Stop(transformers.TrainerCallback):
    def on_step_begin(self, arguments, state, control, **more):
        common.step_done(o, state.global_step)


trainer = imrec.huggingface.Trainer(model=model, args=arguments, train_loader=loader,
                                    callbacks=[Stop()] if o.stop_after else [])
trainer.train(resume_from_checkpoint=get_last_checkpoint(o.folder))
common.finish(model, trainer.state.global_step)
