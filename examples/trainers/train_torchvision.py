#!/usr/bin/env python3
"""train_torchvision.py TRAIN.rec FOLDER [OPTIONS]: a loop as torchvision's references/classification/train.py.

    torchrun --nproc-per-node 2 examples/trainers/train_torchvision.py train.rec run
"""
import os

import torch
import torchvision

import common
import imrec.torch

args = common.options(__doc__)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
args.distributed = "RANK" in os.environ
if args.distributed:
    torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
data_loader = imrec.torch.Loader(args.train, preset="imagenet-train-torch", data_shape=args.side,
                                 batch_size=args.batch, shuffle=True, restart=True)
train_sampler = data_loader.sampler
model = torchvision.models.shufflenet_v2_x0_5(num_classes=args.classes).to(device)
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
model_without_ddp = model
if args.distributed:
    model = torch.nn.parallel.DistributedDataParallel(model)

path, start_epoch, step = os.path.join(args.folder, "checkpoint.pth"), 0, 0
if os.path.exists(path):
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model_without_ddp.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    data_loader.load_state_dict(checkpoint["data_loader"])
    start_epoch, step = checkpoint["epoch"], checkpoint["step"]


def save(epoch):
    if data_loader.rank == 0:
        torch.save({"model": model_without_ddp.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, "step": step,
                    "data_loader": data_loader.state_dict()}, path + ".new")
        os.replace(path + ".new", path)


for epoch in range(start_epoch, args.epochs):
    if args.distributed:
        train_sampler.set_epoch(epoch)
    model.train()
    for image, target in data_loader:
        loss = criterion(model(image.to(device)), target.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % args.save_every == 0:
            save(epoch)
        common.step_done(args, step)
common.finish(model_without_ddp, step)
if args.distributed:
    torch.distributed.destroy_process_group()
