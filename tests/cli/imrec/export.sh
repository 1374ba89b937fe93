#!/usr/bin/env bash
# Back to files: names of the list, else class and id; nothing is overwritten or leaves the folder.
make_set a.rec 7
imrec export a.rec named | sed -E 's/[0-9.]+ KiB/SIZE/'
(cd named && find . -type f | sort)
cat named/export.lst
rm a.lst
imrec export --json a.rec numbered | grep -v bytes
(cd numbered && find . -type f | sort)
printf '100\t0\t../escape.jpg\n101\t1\t/tmp/escape.jpg\n102\t2\tcat/./x.jpg\n103\t0\ta.png\n104\t1\ta.png\n' >a.lst
rm a.classes.txt
imrec export a.rec odd | sed -E 's/[0-9.]+ KiB/SIZE/'
(cd odd && find . -type f | sort)
imrec export a.rec odd; echo "exit $?"
printf 'xxxxxxxx' | dd of=a.rec bs=1 seek=0 conv=notrunc status=none
imrec export a.rec less | sed -E 's/[0-9.]+ KiB/SIZE/'
echo "exit ${PIPESTATUS[0]}"
