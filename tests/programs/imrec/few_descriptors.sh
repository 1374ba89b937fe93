#!/usr/bin/env bash
# More shards than a process may have open files: all is as it is with as many as it likes.
make_images .
find source -name '??.jpg' | sort | head -12 >images
for i in $(seq 0 359); do
    printf '%d\t%d\t%s\n' "$i" $((i % 5)) "$(sed -n "$((i % 12 + 1))p" images)"
done >many.lst
mkdir set
im2rec --quiet --pass-through --shards 120 many.lst . set/t.rec
few() { (ulimit -Sn 48 && "$@"); }
# shellcheck disable=SC2054 # shapes have commas
options=(data_shape=3,16,16 batch_size=32 shuffle=1 num_parts=3 part_index=1)
imrec batches --count 8 --out all set/ "${options[@]}" >/dev/null
few imrec batches --count 8 --out few set/ "${options[@]}" >/dev/null
diff -r all few && echo "batches are the same"
imrec batches --count 8 --out all set/ "${options[@]}" path_imgidx=none >/dev/null
few imrec batches --count 8 --out few set/ "${options[@]}" path_imgidx=none >/dev/null
diff -r all few && echo "without an index, too"
few imrec verify set/ | grep -o 'nothing wrong'
imrec merge set/ all.rec >/dev/null
few imrec merge set/ few.rec >/dev/null
cmp all.rec few.rec && echo "merged"
