#!/usr/bin/env bash
# What damage costs batches is counted, whether an index lists it or not, and no new index is advised
# where it would list no more.
make_set a.rec 30
mapfile -t at < <(imrec ls a.rec | cut -f2)
batches() { # FILE key=value...
    imrec batches "$@" data_shape=3,8,8 batch_size=8 --count 4 --out out
    echo "status $?"
}
head -c $((at[29] - 4)) a.rec >cut.rec
cp cut.rec stale.rec && cp a.idx stale.idx
cp a.rec head.rec && printf x | dd of=head.rec bs=1 seek=0 conv=notrunc status=none

echo "== without an index"
batches cut.rec
batches cut.rec on_error=stop
batches head.rec verbose=0
batches cut.rec --json | grep -E 'failed|damaged|status'

echo "== with the index of what is left"
imrec index cut.rec
batches cut.rec path_imgidx=auto

echo "== with the earlier index"
batches stale.rec path_imgidx=auto
