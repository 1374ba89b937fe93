#!/usr/bin/env bash
# examples/tour.sh PHOTOS - the programs once through, on a folder of images, one folder a class.
set -euo pipefail
photos=$1

# README: begin
im2rec --resize 256 "$photos" train.rec         # pack: train.rec .idx .lst .crc, classes, manifest
imrec info train.rec                            # the data set's card
imrec ls --limit 5 train.rec                    # records: place, id, labels, bytes, size, kind
imrec verify train.rec                          # structure, checksums, every image decoded
imrec view train.rec train.html                 # contact sheet of what was packed
imrec view --augmented train.rec seen.html rand_crop=1 rand_mirror=1 # and of what training sees
imrec batches train.rec data_shape=3,224,224 batch_size=32 shuffle=1 --count 2 --out batches # .npy
imrec bench --seconds 0.2 train.rec batch_size=32 rand_crop=1 # images/s, beside the limit
imrec export train.rec files                    # back to files, a folder a class
imrec repair train.rec healed.rec               # every intact record of a damaged shard
# README: end
