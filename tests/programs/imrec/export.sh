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
imrec export a.rec less; echo "exit $?"
(cd less && find . -type f | sort)
imrec export --on-error skip a.rec less | sed -E 's/[0-9.]+ KiB/SIZE/'
echo "exit ${PIPESTATUS[0]}"
(cd less && find . -type f | sort)
make_set b.rec 4
dd if=/dev/zero of=b.rec bs=1 seek=300 count=1 conv=notrunc status=none
imrec export b.rec changed; echo "exit $?"
imrec export --quiet --json --on-error skip b.rec changed | grep -E 'left_out|"id"|skipped'
mkdir alien && printf 'imrec export 1\nof other.rec\n' >alien/export.part && touch alien/x
imrec export b.rec alien; echo "exit $?"

# Names that no file can have: cut, with a hash of the whole, the same in every run, and unlike each other.
make_set n.rec 5
a=$(printf 'a%.0s' {1..250}) u=$(printf 'é%.0s' {1..140}) p=$(printf 'folder/%.0s' {1..600})
printf '%s\n' "100	0	${a}12345.jpg" "101	1	${a}12346.jpg" "102	2	$a/$u/x.jpg" "103	0	${p}y.jpg" "104	1	${a%??}.jpg" >n.lst
imrec export n.rec long | sed -E 's/[0-9.]+ KiB/SIZE/'
cut -f3 long/export.lst | sed -E 's/a{200,}/A/; s/(é){100,}/E/'
im2rec --quiet --pass-through long/export.lst long again.rec && imrec verify --quiet again.rec | sed 's/, [0-9.]* KiB//'
