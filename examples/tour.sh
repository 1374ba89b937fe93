#!/usr/bin/env bash
# examples/tour.sh PHOTOS - runs the programs once on a folder of images with one sub-folder per class.
set -euo pipefail
photos=$1

# quickstart: begin
# README: begin
im2rec --resize 256 "$photos" train.rec           # pack: train.rec .idx .lst .crc, classes, manifest
imrec verify train.rec                          # check structure, checksums, every image
imrec view --augmented train.rec seen.html rand_crop=1 rand_mirror=1 # draw what training sees
imrec info "$photos"                              # folders of images are read as they are, too
# README: end
imrec info train.rec                            # summary of the data set
imrec ls --limit 5 train.rec                    # records: shard, offset, id, labels, bytes, size, format
imrec view train.rec train.html                 # contact sheet of the packed images
imrec batches train.rec data_shape=3,224,224 batch_size=32 shuffle=1 --count 2 --out batches # .npy
imrec bench --seconds 0.2 train.rec batch_size=32 rand_crop=1 # images/s, versus decoding alone
imrec export train.rec files                    # back to files, one folder per class
imrec repair train.rec healed.rec               # every intact record of a damaged shard
# quickstart: end
