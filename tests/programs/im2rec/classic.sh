# The original's call and spelling: list, root, output, key=value; shares are appended to the name.
make_images .
im2rec --quiet --list --no-shuffle source set
sed -i '/empty\|text\|torn/d' set.lst
im2rec --quiet set.lst source a.rec color=1 resize=-1 label_width=1 quality=90 encoding=.jpg nsplit=2 part=1
echo "status $?"
im2rec --quiet set.lst source b.rec unchanged=1 pack_label=0
echo "status $?"
ls *.rec*
wc -l <b.lst
im2rec set.lst source c.rec inter_method=2 --quiet resise=3
echo "status $?"
