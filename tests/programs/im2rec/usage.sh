# Wrong usage: status 2 and one line that says what would be right; nothing is written.
make_images .
try() {
    im2rec "$@"
    echo "status $?"
}
try
try source
try --resise 3 source out.rec
try --part 4/4 source out.rec
try --pass-through --resize 3 source out.rec
try --shards 2 --shard-size 1M source out.rec
try source out.rec x.rec y.rec
try --train-ratio 0.5 source out.rec
try --resume --force source out.rec
try source out.rec part=1
try source rezise=3 out.rec
try rezise=3 source out.rec
try source resize=3 out.rec
ls
