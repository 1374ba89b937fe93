#!/usr/bin/env bash
# Images packed into CNTK's binary format, both ways, through the toolbox and the iterator.
make_images .
pack() { im2rec --quiet --no-shuffle --resize 32 --center-crop "$@"; }
mkdir rec files pixels
pack source rec/out.rec
pack --format cbf --cbf-chunk 6000 source files/out.cbf
pack --format cbf --pixels source pixels/out.cbf
imrec info files/out.cbf | sed 's/[0-9.]* KiB/N KiB/; s/largest .*/largest/'
imrec info --json pixels/out.cbf | grep -E 'format|"dim"|"records"|bmp'
imrec verify files/out.cbf
imrec verify --json pixels/out.cbf | grep -E 'decoded|fine'
imrec ls files | cut -f 3- >a
imrec ls rec | cut -f 3- | cmp - a && echo "the same list"
imrec cat files/out.cbf 5 | cmp - <(imrec cat rec/out.rec 5) && echo "the same image"
imrec export --quiet files/out.cbf a.d | sed 's/,.*//'
imrec export --quiet rec/out.rec b.d | sed 's/,.*//'
diff -r a.d b.d && echo "the same files"
imrec export --quiet pixels/out.cbf c.d | sed 's/,.*//'
find c.d/ant -name '0[01]*' | sort
imrec view files/out.cbf view.html | sed 's/,.*//'
head -c 15 view.html
echo
words=('data_shape=3,24,24' batch_size=7 round_batch=1)
imrec batches --count 9 --out rec.b rec "${words[@]}"
imrec batches --count 9 --out files.b files "${words[@]}"
for f in data labels ids valid; do cmp rec.b/$f.npy files.b/$f.npy && echo "the same $f"; done
imrec batches --json --count 99 --out e.b files data_shape=3,24,24 batch_size=8 epoch_size=20 max_samples=50 last_batch=partial
printf '\xff\xff' | dd of=files/out.cbf bs=1 seek=36 conv=notrunc status=none # how long the first is
imrec verify files/out.cbf | sed 's/ is 0x.*/ differs/; s/, [0-9.]* KiB/, N KiB/'
imrec batches --count 1 --out d.b files data_shape=3,24,24 batch_size=7
echo "exit $?"
imrec index files/out.cbf
imrec repair files/out.cbf new.rec
exit 0
