#!/usr/bin/env python3
"""train_detection.py TRAIN.rec ANNOTATIONS.json [EPOCHS]: a loop as torchvision's references/detection/train.py, and COCO's evaluation.

    im2rec --pass-through --annotations instances.json images/ train.rec
    torchrun --nproc-per-node 2 examples/trainers/train_detection.py train.rec instances.json
"""
import json
import os
import sys

import torch
import torchvision

import imrec.torch

path, annotations, epochs = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["1"])[0])
if "RANK" in os.environ:
    torch.distributed.init_process_group("gloo")
with open(annotations) as file:
    coco = json.load(file)
images = {image["id"]: image for image in coco["images"]}
categories = sorted(category["id"] for category in coco["categories"])

boxes = {"preset": "ImageDetRecordIter", "data_shape": (3, 96, 96), "resize_mode": "fit", "scale": 1 / 255, "batch_size": 4,
         "deliver": "detection", "restart": True}
data_loader = imrec.torch.Loader(path, shuffle=True, rand_mirror_prob=0.5, last_batch="drop", **boxes)
data_loader_test = imrec.torch.Loader(path, last_batch="partial", **boxes)
model = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=1 + len(categories))
if "RANK" in os.environ:
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)

for epoch in range(epochs):
    model.train()
    for samples, targets in data_loader:
        loss = sum(model(samples, targets).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")

model.eval()
results = []
with torch.no_grad():
    for samples, targets in data_loader_test:
        results += imrec.torch.coco_results(data_loader_test, model(samples), images, categories)
if "RANK" in os.environ:
    gathered = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, results)
    results = [result for some in gathered for result in some]
    torch.distributed.destroy_process_group()
print(f"{len(results)} boxes for COCO.loadRes()")
