# What ends with status 1: each says why, and leaves no set.
make_images .
try() {
    im2rec --quiet "$@"
    echo "status $?"
}
try nowhere out.rec
try missing.lst source out.rec
try --on-error stop --no-shuffle source out.rec
ls out*
try source out.rec
try --resume --quality 80 source out.rec
try --resume --no-shuffle source out.rec
try source out.rec
try --force --shards 2 source out.rec
ls out*
try source nowhere/out.rec
printf 'ant\ncow\n' >two.txt
try --classes two.txt source more.rec
mkdir empty other a=b
: >other/notes.txt
cp source/ant/00.jpg a=b
printf '0\t1\tnotes.txt\n' >l.lst
try source more.rec class_from=flat
try --class-from flat empty more.rec
try other more.rec
try --list more other
try --plan plan --tasks 2 other more.rec
try l.lst other more.rec part=1/2
: >none.lst
try none.lst other more.rec
ls | grep -E 'more|plan'
printf '0\t1\t00.jpg\n' >l.lst
try l.lst a=b more.rec # a folder of this name is there
