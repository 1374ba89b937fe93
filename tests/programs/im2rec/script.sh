# The calls of the original's script: its flags, and its operands PREFIX ROOT.
make_images .
rm source/bee/{empty,text,torn}.jpg
cp source/ant/00.jpg source/zero.jpg
im2rec --quiet --list --recursive --exts .jpg .png --train-ratio 0.5 --test-ratio 0.25 set source
echo "status $?"
wc -l set_*.lst
head -n 2 set_train.lst
cp set_train.lst set2.lst
im2rec --quiet --resize 24 --quality 80 --num-thread 2 --encoding .jpg --color 0 set source
echo "status $?"
ls set*
cmp set_val.lst set_val.packed.lst && imrec verify --quiet set_val.rec && echo whole
im2rec --quiet --list --no-recursive --exts .jpg flat source
cat flat.lst
im2rec --quiet nothing source
echo "status $?"
im2rec --quiet --num-thread=1 --pass-through --encoding=.jpg flat source
echo "status $?"
# Ours: --augment takes pairs, as often as it is given.
im2rec --quiet --no-shuffle --augment rand_mirror=1 max_rotate_angle=9 --augment brightness=0.2 --copies 2 source many
echo "status $?"
head -n 3 many.lst
grep augment many.manifest.json
