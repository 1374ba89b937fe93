# The same bytes from one worker and many, whole, resumed after --on-error stop, and in shards.
make_images .
im2rec --quiet --threads 1 source a.rec
im2rec --quiet --threads 9 source b.rec
for end in rec idx crc lst classes.txt; do cmp a.$end b.$end; done
im2rec --quiet --on-error stop source c.rec 2>/dev/null
im2rec --quiet --resume source c.rec
for end in rec idx crc lst; do cmp a.$end c.$end; done
im2rec --quiet --shards 3 source d.rec
cat d-0000?-of-00003.rec | cmp - a.rec
