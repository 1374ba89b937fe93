#!/usr/bin/env bash
# A cache is shown, checked and emptied; what is none is refused and stays. (What it keeps: test_cache.)
make_set a.rec 20
imrec batches a.rec data_shape=3,24,24 batch_size=4 --count 1 --out out cache=kept cache_size=8M
imrec cache kept
imrec cache kept --check
imrec cache kept --check --json | grep -v disk_bytes # which is up to the file system
imrec cache kept --empty; echo "exit $?"
imrec cache kept --check --empty; echo "exit $?"
imrec cache away; echo "exit $?"
mkdir other && echo "my notes" >other/imrec.cache
imrec cache other --empty; echo "exit $?"
cat other/imrec.cache
