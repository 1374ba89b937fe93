#!/usr/bin/env bash
# Tar archives and TFRecord files, one by one or as the folder that they are in; their labels shifted.
make_images .
im2rec --quiet --pass-through --no-shuffle source s.rec
labels() { imrec ls "$1" | cut -f 3,4 | tr '\t' ' ' | paste -sd ' '; }
labels s.rec
for kind in tar tfrecord; do
    echo "-- $kind"
    mkdir $kind
    imrec convert --quiet --shards 3 s.rec $kind/t.$kind >/dev/null
    im2rec --quiet --json --pass-through $kind/*.$kind one.rec | grep -E '"(packed|skipped|other_files)"'; echo "exit ${PIPESTATUS[0]}"
    im2rec --quiet --pass-through $kind one2.rec; echo "exit $?"
    cmp one.rec one2.rec && echo a folder of them
    im2rec --quiet --pass-through $kind/ s.rec.$kind.rec && cmp one.rec s.rec.$kind.rec && echo with a slash
    im2rec --quiet --pass-through --label-offset=-1 $kind shifted.rec && labels shifted.rec
    im2rec --quiet --resize 16 --plan $kind.plan $kind planned.rec && im2rec --quiet --work $kind.plan
    im2rec --quiet --finish $kind.plan; im2rec --quiet --resize 16 $kind resized.rec; cmp planned.rec resized.rec && echo planned
    im2rec --quiet --pass-through $kind/t-00001-of-00003.$kind part.rec; echo "exit $?"; labels part.rec
    rm -f one.* one2.* shifted.* planned.* resized.* part.*
done
echo "-- names of TensorFlow"
mkdir numbered
for number in 0 1 2; do cp tfrecord/t-0000$number-of-00003.tfrecord numbered/t-0000$number-of-00003; done
im2rec --quiet --pass-through numbered n.rec && cmp n.rec s.rec.tfrecord.rec && echo the same
echo "-- damage and lacks"
cp tfrecord/t-00000-of-00003.tfrecord damaged.tfrecord
printf x | dd of=damaged.tfrecord bs=1 seek=200 conv=notrunc status=none
im2rec --quiet --pass-through damaged.tfrecord d.rec; echo "exit $?"
im2rec --quiet --pass-through --on-error stop damaged.tfrecord e.rec; echo "exit $?"; ls e.rec 2>/dev/null
im2rec --quiet --pass-through --force --image-ext image/none damaged.tfrecord e.rec; echo "exit $?"
im2rec --quiet --pass-through --label-offset 16777216 tfrecord/t-00001-of-00003.tfrecord f.rec; echo "exit $?"
im2rec --quiet --pass-through none.tfrecord e.rec; echo "exit $?"
im2rec --quiet --label-offset 1 source e.rec; echo "exit $?"
im2rec --quiet --label-offset 1 --label-ext none tar e.rec; echo "exit $?"
echo "-- which is meant"
cp -r source/ant tar/ant
im2rec --quiet tar e.rec; echo "exit $?"
rm -r tar/ant
cp tfrecord/t-00000-of-00003.tfrecord tar/
im2rec --quiet tar e.rec; echo "exit $?"
rm tar/*.tfrecord tar/t-00001-of-00003.tar
im2rec --quiet tar e.rec; echo "exit $?"
im2rec --quiet --plan e.plan tar e.rec; echo "exit $?"
im2rec --quiet --pass-through --label-offset 16777216 'tar/*.tar' part.rec; echo "exit $?"
cp tar/t-00000-of-00003.tar tar/t-00000-of-00001.tar
im2rec --quiet tar e.rec; echo "exit $?"
echo "-- one of many names"
mkdir odd && cp tar/t-00000-of-00003.tar 'odd/[a]*.tar' && cp tar/t-00002-of-00003.tar 'odd/b c.tar'
im2rec --quiet --pass-through odd odd.rec; echo "exit $?"; cut -f 3 odd.lst | sed 's/\.tar.*/.tar/' | sort | uniq -c
mv 'odd/b c.tar' 'odd/b;c.tar'
im2rec --quiet --pass-through odd odd2.rec; echo "exit $?"
ls e.rec 2>/dev/null
exit 0
