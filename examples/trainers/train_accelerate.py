#!/usr/bin/env python3
"""train_accelerate.py TRAIN.rec FOLDER [OPTIONS]: Hugging Face's accelerate; its checkpoints keep the place in the data.

    torchrun --nproc-per-node 2 examples/trainers/train_accelerate.py train.rec run
"""
import json
import os

import accelerate
import torch

import common
import imrec.torch

o = common.options(__doc__)
accelerator = accelerate.Accelerator(cpu=not torch.cuda.is_available())
loader = imrec.torch.Loader(o.train, preset="imagenet-train-torch", data_shape=o.side, batch_size=o.batch,
                            shuffle=True)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
                            torch.nn.Linear(128, o.classes))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)  # the Loader stays as it is
accelerator.register_for_checkpointing(loader)
place = os.path.join(o.folder, "state")
if os.path.exists(os.path.join(place, "complete")):
    accelerator.load_state(place)


def done():
    """(sweep, steps) from the place in the data: nothing else has to be kept."""
    at = json.loads(loader.state_dict()["position"])
    return at["sweep"], at["sweep"] * len(loader) + -(-at["sample"] // o.batch)


step = done()[1]
while step < o.epochs * len(loader):
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images.to(accelerator.device)), labels.to(accelerator.device))
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % o.save_every == 0:
            accelerator.save_state(place)
            open(os.path.join(place, "complete"), "w").close()
        common.step_done(o, step)
common.finish(accelerator.unwrap_model(model), step)
