"""accelerate: the loader is registered for checkpointing."""
import json
import os

import common
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
loader, net = common.open_loader(), common.model()
assert accelerator.prepare(loader) is loader, "accelerate wraps only loaders of torch"
net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
accelerator.register_for_checkpointing(loader)
place = os.path.join(common.FOLDER, "state")
if os.path.exists(place):
    accelerator.load_state(place)
diary = common.Diary(accelerator.process_index, accelerator.num_processes)


def sweep():
    return json.loads(loader.state_dict()["position"])["epoch"]


while sweep() < common.SWEEPS:
    for batch in loader:
        diary.step(batch)
        accelerator.backward(common.loss_of(net, batch))
        optimizer.step()
        optimizer.zero_grad()
        accelerator.save_state(place)
