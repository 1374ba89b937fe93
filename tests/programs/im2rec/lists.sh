# --list: shares of train, test and val, chunks, and what is there already.
make_images .
im2rec --quiet --list --train-ratio 0.5 --test-ratio 0.25 source set
echo "status $?"
wc -l set_*.lst
im2rec --quiet --list --chunks 2 --no-shuffle source cut.lst
head -n 2 cut_1.lst
im2rec --quiet --list --chunks 2 --no-shuffle source cut.lst
echo "status $?"
rm cut_0.lst
im2rec --quiet --list --chunks 2 --no-shuffle source cut.lst
echo "status $?"
ls cut*
