#!/usr/bin/env bash
# Shards that a set lacks by its names: of tars and TFRecord files as of records.
make_set a.rec 8 4
for kind in tar tfrecord; do
    mkdir $kind
    imrec convert --quiet --shards 4 'a-*.rec' $kind/t.$kind >/dev/null
    imrec ls $kind | wc -l
    rm $kind/t-00002-of-00004.$kind $kind/t-00003-of-00004.$kind
    echo "-- $kind: a folder, a pattern"
    imrec ls $kind; echo "exit $?"
    imrec batches "$kind/*.$kind" data_shape=3,8,8 batch_size=2 --count 1 --out out; echo "exit $?"
    imrec ls --allow-missing $kind | wc -l
    echo "-- $kind: those that are named"
    imrec ls $kind/t-00000-of-00004.$kind 2>err | wc -l; cat err
    imrec ls "$kind/t-{00000..00001}-of-00004.$kind" 2>err | wc -l; cat err
    imrec ls "$kind/t-00000-of-00004.$kind;$kind/t-00001-of-00004.$kind" 2>err | wc -l; cat err
    imrec verify --quiet $kind/t-00000-of-00004.$kind | head -1
done
echo "-- two sets of one name"
for number in 0 1; do cp tar/t-00000-of-00004.tar tar/t-0000$number-of-00002.tar; done
imrec ls tar; echo "exit $?"
