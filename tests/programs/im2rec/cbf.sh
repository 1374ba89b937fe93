#!/usr/bin/env bash
# What the toolbox says of a binary file, whole and damaged.
printf '1 |F 1 2 |L 3:1\n1 |F 3 4\n2 |F 5 6 |L 0:0.5\n' >a.ctf
printf 'features F dense 2\nlabels L sparse 4\n' >a.txt
ctf2bin --input a.ctf --header a.txt --output a.cbf --quiet
imrec info a.cbf
imrec info --json a.cbf | head -4
imrec verify a.cbf
printf '\x09' | dd of=a.cbf bs=1 seek=64 conv=notrunc status=none # the index of the first label
imrec verify a.cbf
echo "exit $?"
imrec verify --json a.cbf | grep -E 'offset|lost|fine'
imrec convert a.cbf b.ctf
echo "exit $?"
head -c 100 a.cbf >cut.cbf
imrec info cut.cbf
echo "exit $?"
exit 0
