"""What the examples of trainers share: their options, and the line at the end."""
import argparse
import os
import zlib

import torch


def options(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", help="shards that im2rec has packed")
    parser.add_argument("folder", help="of checkpoints; if there is one, training continues from it")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--side", type=int, default=32, help="size of the network's input in pixels [%(default)s]")
    parser.add_argument("--batch", type=int, default=8, help="samples of each rank [%(default)s]")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--save-every", type=int, default=2, help="steps [%(default)s]")
    parser.add_argument("--stop-after", type=int, default=0, help="end after this step without any goodbye, as if killed")
    o = parser.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    torch.manual_seed(0)
    return o


def step_done(o, step):
    if step == o.stop_after:
        os._exit(9)


def finish(model, steps):
    """The same model, bit for bit, whether training was interrupted or not."""
    if int(os.environ.get("RANK", "0")) == 0:
        state = model.state_dict()
        digest = zlib.crc32(b"".join(state[name].detach().cpu().numpy().tobytes() for name in sorted(state)))
        print(f"{steps} steps, model {digest:08x}")
