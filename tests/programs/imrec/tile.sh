# imrec tile: a set's JPEGs with restart markers; imrec verify --same-pixels proves that nothing else has changed.
make_images .
rm source/bee/{empty,text,torn}.jpg
im2rec --quiet --no-shuffle --pass-through source all.rec
im2rec --quiet --no-shuffle --no-tile --resize 24 source small.rec 2>/dev/null
same() { imrec verify --same-pixels --quiet "$@"; echo "status $?"; }

echo "== tile"
imrec tile --quiet small.rec tiled.rec; echo "status $?"
same tiled.rec small.rec
same small.rec small.rec
imrec tile small.rec tiled.rec; echo "status $?"
imrec tile --force small.rec tiled.rec | sed 's/, [0-9.]* KiB//'
imrec tile --force --json small.rec tiled.rec | grep -E '"(written|tiled|left_out)"'
diff small.lst tiled.lst && diff small.classes.txt tiled.classes.txt && echo "the same list and classes"
grep -E '"(command|tile)"' tiled.manifest.json | tr -d ' []'
imrec verify --quiet tiled.rec | sed 's/, [0-9.]* KiB//'
im2rec --quiet --no-shuffle --resize 24 source direct.rec 2>/dev/null
cmp direct.rec tiled.rec && echo "the bytes of im2rec --tile"
imrec tile --quiet --threads 3 small.rec threads.rec && cmp tiled.rec threads.rec && echo "any threads, the same bytes"
imrec tile --quiet tiled.rec again.rec && cmp tiled.rec again.rec && echo "once more changes nothing"
im2rec --quiet --no-shuffle --resize 24 --append source tiled.rec 2>/dev/null
grep -c '' tiled.lst

im2rec --quiet --no-shuffle --resize 24 --encoding png source png.rec 2>/dev/null
imrec tile png.rec png2.rec | tail -n 1; same png2.rec png.rec

echo "== files as they were, in several shards"
imrec tile --quiet all.rec mixed.rec; same mixed.rec all.rec
imrec split --quiet --shards 3 all.rec cut.rec
imrec tile --quiet cut-*.rec out.rec && ls out-*.rec
same 'out-*.rec' all.rec
imrec tile --quiet --shards 2 cut-*.rec two.rec && ls two-*.rec

echo "== differences"
im2rec --quiet --no-shuffle --resize 24 --quality 90 source other.rec 2>/dev/null
same small.rec other.rec
awk -F'\t' -v OFS='\t' '$1 == 7 { $2 = 3 } { print }' small.lst >other.lst2
imrec relabel --quiet --no-classes small.rec other.lst2 labels.rec
same small.rec labels.rec
imrec sample --quiet --records 5 small.rec few.rec
same small.rec few.rec
imrec verify --same-pixels --json small.rec few.rec | grep same
imrec merge --quiet --renumber small.rec few.rec more.rec
same small.rec more.rec
imrec verify --same-pixels small.rec; echo "status $?"
imrec tile small.rec small.rec; echo "status $?"
