#!/usr/bin/env bash
# Records into shards, Examples of others and back, and outputs that are none.
make_set a.rec 7
size() { sed -E 's/[0-9.]+ [KM]iB/SIZE/'; }
imrec convert --shards 3 a.rec b.tar | size
ls b-*
imrec convert 'b-*.tar' 'c-{00..01}.tfrecord' | size
ls c-*
imrec convert 'c-{00..01}.tfrecord' b.rec | size
imrec ls b.rec | cut -f 3- >ls.b
imrec ls a.rec | cut -f 3- | cmp - ls.b
imrec convert --shard-size 10K a.rec d.tar | sed -E 's/[0-9]+ shards.*/many shards/'
imrec convert --json --shards 2 a.rec e.tfrecord | grep shards
for arguments in 'a.rec out/' 'a.rec .' 'b-00000-of-00003.tar b.zip' 'c-00.tfrecord c.cbf' '. c.zip' \
                 '--shards 8 a.rec f.tar' '--shards 2 --shard-size 1M a.rec f.tar' '--shards 2 a.rec b.tar' \
                 '--shards 2 a.rec x-{0..1}.tar'; do
    # shellcheck disable=SC2086
    imrec convert $arguments; echo "exit $?"
done
ls ./*.part ./*.zip ./f* 2>/dev/null
touch g-00001-of-00009.tar.part
imrec convert --shards 1 a.rec g.tar | size
ls g*
