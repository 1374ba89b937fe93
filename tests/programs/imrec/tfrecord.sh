#!/usr/bin/env bash
# TFRecord files: made of records and back, looked at like any shard, damaged.
make_set a.rec 7
imrec convert a.rec a.tfrecord | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec convert a.tfrecord b.rec | sed -E 's/[0-9.]+ KiB/SIZE/'
for suffix in rec idx crc; do cmp "a.$suffix" "b.$suffix"; done
imrec convert --json a.tfrecord b.tfrecords | grep -v bytes
cmp a.tfrecord b.tfrecords
imrec info a.tfrecord | grep -E '^(records|source|images)' | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec verify a.tfrecord | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec export a.tfrecord files | sed -E 's/[0-9.]+ KiB/SIZE/'
(cd files && find . -type f | wc -l)
imrec convert a.rec b.rec; echo "exit $?"
imrec convert --label-offset=1 a.tfrecord c.tfrecord; echo "exit $?"
printf x | dd of=a.tfrecord bs=1 seek=100 conv=notrunc status=none
imrec convert a.tfrecord c.rec; echo "exit $?"
ls c.rec 2>/dev/null
imrec convert --on-error skip a.tfrecord c.rec | sed -E 's/[0-9.]+ KiB/SIZE/'; echo "exit ${PIPESTATUS[0]}"
gzip a.tfrecord
imrec info a.tfrecord.gz; echo "exit $?"
