# merge, split, sample, relabel, and im2rec --append: sets into sets, records as they are.
make_images .
rm source/bee/{empty,text,torn}.jpg
mkdir -p more/ant more/cow
mv source/ant/07.jpg more/ant
mv source/cow/0[67].jpg more/cow
im2rec --quiet --no-shuffle --pass-through source all.rec
whole() { imrec verify --quiet "$1" | sed 's/, [0-9.]* KiB//'; }

echo "== split"
imrec split --shards 3 all.rec cut.rec
echo "status $?"
ls cut*
whole 'cut-*.rec'
diff all.lst cut.lst && diff all.classes.txt cut.classes.txt && echo same
imrec split --quiet --shard-size 20K all.rec sized.rec && find . -name 'sized-*.rec' -size +20k | wc -l

echo "== merge"
imrec merge --quiet cut-*.rec again.rec && cmp all.rec again.rec && cmp all.idx again.idx && echo equal
imrec merge all.rec cut-00001-of-00003.rec twice.rec
echo "status $?"
imrec merge --renumber all.rec cut-00001-of-00003.rec twice.rec
tail -n 1 twice.lst
imrec merge --quiet all.rec all.rec
echo "status $?"
imrec merge --quiet cut-*.rec again.rec
echo "status $?"
imrec merge --quiet --force cut-*.rec again.rec && cmp all.rec again.rec && echo replaced
printf 'x\ny\n' >again.classes.txt
imrec merge --quiet --renumber all.rec again.rec mixed.rec
echo "status $?"
imrec merge --quiet --renumber --no-classes all.rec again.rec mixed.rec && ls mixed*

echo "== sample"
imrec sample --fraction 0.25 --seed 3 all.rec val.rec
imrec sample --fraction 0.25 --seed 3 --rest all.rec train.rec
sort val.lst train.lst >both.lst && sort all.lst | diff - both.lst && echo parted
imrec sample --json --records 4 --shards 2 all.rec few.rec
wc -l <few.lst
imrec sample --records 99 all.rec none.rec
echo "status $?"
imrec sample all.rec none.rec
echo "status $?"
ls none* 2>/dev/null

echo "== relabel"
sed 's/\t[0-9.]*\t/\t7\t8.5\t/' all.lst >labels.lst
imrec relabel --quiet all.rec labels.lst two.rec
echo "status $?"
whole two.rec
imrec ls two.rec | head -n 2 | cut -f 1,3,4
imrec export two.rec a >/dev/null 2>&1 && imrec export all.rec b >/dev/null 2>&1 && diff -r a b -x '*.lst' >/dev/null && echo images as they were
sed 1d labels.lst >fewer.lst
imrec relabel all.rec fewer.lst less.rec
echo "status $?"
imrec relabel --unlisted drop all.rec fewer.lst dropped.rec
echo "status $?"

for label in 16777217 -33554435.0 1.6777217e7 16777218 0.1; do
    sed "3s/\t[0-9.]*\t/\t7\t$label\t/" all.lst >large.lst
    imrec relabel --quiet --force all.rec large.lst big.rec
    echo "$label: status $?"
done

echo "== append"
cp all.rec old.rec
im2rec --quiet --append --no-shuffle --pass-through more all.rec
echo "status $?"
ls all*
whole all.rec
cmp -n "$(stat -c %s old.rec)" old.rec all.rec && tail -n 2 all.lst
im2rec --quiet --append --no-shuffle --pass-through more cut.rec
echo "status $?"
ls cut*.rec
whole 'cut-*.rec'
grep appended cut.manifest.json
mkdir more/dog && cp more/ant/07.jpg more/dog
im2rec --quiet --append more cut.rec
echo "status $?"
mkdir more/ape && cp more/ant/07.jpg more/ape/08.jpg
im2rec --quiet --append --new-classes --no-shuffle --pass-through more cut.rec
echo "status $?"
cat cut.classes.txt
whole 'cut-*.rec'
tail -n 5 cut.lst
im2rec --quiet --append --new-classes --no-shuffle --pass-through more cut.rec # none is new now
echo "status $?, $(wc -l <cut.classes.txt) classes"
im2rec --quiet --append more nothing.rec
echo "status $?"
find . -name '*.part' -o -name '*.appended*'

echo "== images in CBF files"
im2rec --quiet --no-shuffle --pass-through source asrec.rec
im2rec --quiet --no-shuffle --pass-through --format cbf source ascbf.cbf
imrec merge --quiet ascbf.cbf merged.rec && whole merged.rec
for file in rec idx crc lst classes.txt; do
    cmp asrec.$file merged.$file
done
imrec sample --quiet --records 3 ascbf.cbf three.rec && imrec ls three.rec | cut -f 3,4,6
imrec merge ascbf.cbf again.cbf
echo "status $?"
