#!/usr/bin/env python3
"""train_timm.py TRAIN.rec FOLDER [OPTIONS]: a loop as timm's train.py, with its model, optimizer and recovery checkpoints.

    torchrun --nproc-per-node 2 examples/trainers/train_timm.py train.rec run
"""
import timm
import timm.optim
import timm.utils
import torch
from timm.models import resume_checkpoint

import common
import imrec.torch

args = common.options(__doc__)
args.model, args.distributed, args.device = "test_resnet", False, "cuda" if torch.cuda.is_available() else "cpu"
device = timm.utils.init_distributed_device(args)
model = timm.create_model(args.model, num_classes=args.classes).to(device)
optimizer = timm.optim.create_optimizer_v2(model, opt="sgd", lr=0.05, momentum=0.9)
loader_train = imrec.torch.Loader(args.train, preset="imagenet-train-torch", data_shape=args.side,
                                  batch_size=args.batch, shuffle=True, restart=True)
saver = timm.utils.CheckpointSaver(model, optimizer, args=args, checkpoint_dir=args.folder, recovery_dir=args.folder)

start_epoch, resume = 0, saver.find_recovery()
if resume:
    resume_checkpoint(model, resume, optimizer)
    saved = torch.load(resume, weights_only=False)
    start_epoch = saved["epoch"]
    loader_train.load_state_dict(saved["args"].loader)
net = torch.nn.parallel.DistributedDataParallel(model) if args.distributed else model

step = args.step = saved["args"].step if resume else 0
for epoch in range(start_epoch, args.epochs):
    if args.distributed:
        loader_train.sampler.set_epoch(epoch)
    for batch_idx, (input, target) in enumerate(loader_train):
        loss = torch.nn.functional.cross_entropy(net(input.to(device)), target.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step = args.step = step + 1
        if step % args.save_every == 0 and timm.utils.is_primary(args):
            args.loader = loader_train.state_dict()
            saver.save_recovery(epoch, batch_idx=step)
        common.step_done(args, step)
common.finish(model, step)
