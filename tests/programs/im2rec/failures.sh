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
