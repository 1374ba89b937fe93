#!/usr/bin/env bash
# Text to binary: the original's flags, errors by line, exit statuses; and back again.
printf '1 |F 1 2 |L 3:1\n1 |F 3 4\n2 |F 5 6 |L 0:0.5 |# comment\n' >a.ctf
printf 'features F dense 2\nlabels L sparse 4\n' >a.txt
ctf2bin --input a.ctf --header a.txt --chunk_size 1000 --output a.cbf 2>/dev/null
ctf2bin --input=a.ctf --header=a.txt --output=b.cbf --json --quiet --threads 3
cmp a.cbf b.cbf
ctf2bin --input a.ctf --header a.txt --output d.cbf --precision double --defines-mb-size labels --json --quiet | grep -E 'samples|bytes"'
imrec convert --quiet --header again.txt a.cbf again.ctf
cat again.ctf again.txt
imrec convert --quiet --header again.txt again.ctf c.cbf
cmp a.cbf c.cbf
# The type of each input: a word of its line, --precision for the rest, --precision NAME=... above both.
printf 'features F dense 2 double\nlabels L sparse 4\n' >typed.txt
types() { imrec info "$1" | sed -n 's/^stream *//p'; }
ctf2bin --input a.ctf --header typed.txt --output e.cbf --quiet
types e.cbf
ctf2bin --input a.ctf --header typed.txt --output f.cbf --quiet --precision double --precision=labels=float
types f.cbf
ctf2bin --input a.ctf --header a.txt --output g.cbf --quiet --precision features=double,labels=double
cmp d.cbf <(ctf2bin --input a.ctf --header a.txt --output h.cbf --quiet --precision double --defines-mb-size labels; cat h.cbf)
types g.cbf
imrec convert --quiet --header back.txt e.cbf back.ctf
cat back.txt
imrec convert --quiet --header back.txt back.ctf i.cbf
cmp e.cbf i.cbf
imrec convert --quiet --header a.txt a.ctf j.cbf --precision labels=double
types j.cbf
ctf2bin --input a.ctf --header a.txt --output x.cbf --quiet --precision nolabel=double
echo "exit $?"
ctf2bin --input a.ctf --header a.txt --output x.cbf --quiet --precision labels=half
echo "exit $?"
ctf2bin --input a.ctf --header a.txt --output x.cbf --quiet --action train
echo "exit $?"
printf 'features F dense 2 half\n' >wrong.txt
ctf2bin --input a.ctf --header wrong.txt --output x.cbf --quiet
echo "exit $?"
printf '1 |F 1 2 |L 3:1\n2 |F x 4 |L 1:1\n' >bad.ctf
ctf2bin --input bad.ctf --header a.txt --output bad.cbf --quiet
echo "exit $?"
ctf2bin --input bad.ctf --header a.txt --output dropped.cbf --quiet --max-errors 1
echo "exit $?"
seq 25 | sed 's/.*/|F x/' >many.ctf
ctf2bin --input many.ctf --header a.txt --output many.cbf --quiet --max-errors 30 2>&1 | sed '2,9d'
ctf2bin --input a.ctf
echo "exit $?"
ctf2bin --input a.ctf --header a.txt --output x.cbf --chunksize 3
echo "exit $?"
ls ./*.cbf ./*.part 2>/dev/null
exit 0
