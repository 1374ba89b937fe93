#!/usr/bin/env python3
"""train_clip.py SHARDS [STEPS [SIDE]]: images and their captions, as open_clip trains on archives of WebDataset, with a tiny model.

    python examples/trainers/train_clip.py 'shards/train-{000000..000009}.tar' 100
"""
import sys

import torch

import imrec.torch


class Tiny(torch.nn.Module):
    """An image and a text tower into one space, and a temperature: CLIP's parts."""

    def __init__(self, width=64):
        super().__init__()
        self.image = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 7, 4), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, 2), torch.nn.ReLU(),
                                         torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(128, width))
        self.text = torch.nn.Sequential(torch.nn.EmbeddingBag(256, width, padding_idx=0), torch.nn.Linear(width, width))
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, images, texts):
        a, b = (torch.nn.functional.normalize(x, dim=-1) for x in (self.image(images), self.text(texts)))
        return self.scale.exp() * a @ b.T


def tokenize(texts, length=77):
    """Bytes as tokens; 0 is padding."""
    out = torch.zeros(len(texts), length, dtype=torch.int64)
    for row, text in zip(out, texts):
        data = text.encode()[:length]
        row[:len(data)] = torch.tensor(list(data))
    return out


def collate(samples):
    return samples.batch["image"], tokenize([sample["txt"].decode() for sample in samples])


def main(shards, steps=100, side=224):
    torch.manual_seed(0)
    model = Tiny()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loader = imrec.torch.Loader(shards, data_shape=side, batch_size=32, shuffle=True, seed=1, random_resized_crop=True,
                                min_random_area=0.9, mean=(122.8, 116.7, 104.1), std=(68.5, 66.6, 70.3),
                                label="none", fields="txt", deliver="dict", collate=collate, last_batch="wrap")
    for step, (images, texts) in enumerate(loader, 1):
        logits, own = model(images, texts), torch.arange(len(images))
        loss = (torch.nn.functional.cross_entropy(logits, own) + torch.nn.functional.cross_entropy(logits.T, own)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 or step == 1:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
        if step == steps:
            break
    loader.close()
    return loss.item()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
