#!/usr/bin/env bash
# Parts of samples by name, and lists below a folder: with the iterator's options every command reads what it reads.
make_set a.rec 6
imrec export --quiet a.rec photos >/dev/null
mkdir pairs
number=0
for image in photos/*/p10[0-3].jpg; do
    other=$(echo photos/cat/*5.jpg)
    key=pairs/s$number
    cp "$image" "$key.jpg"
    [ $number = 2 ] || cp "$other" "$key.right.jpg"
    echo 7 >"$key.cls"
    echo $((number + 11)) >"$key.count"
    number=$((number + 1))
done
(cd pairs && tar --format=ustar -cf ../two.tar -- *)
whole=(--image right.jpg --label count --label-offset=-10)
echo "-- the default, and by name"
imrec ls two.tar | cut -f 4-
imrec ls "${whole[@]}" two.tar 2>err | cut -f 4-; echo "exit ${PIPESTATUS[0]}"; cat err
imrec info "${whole[@]}" two.tar | grep -E '^(images|width|damage|  )'
imrec cat --image right.jpg two.tar 1 | cmp - photos/cat/p105.jpg && echo cat
imrec cat --json "${whole[@]}" two.tar 3 | grep -A 1 labels
imrec verify "${whole[@]}" two.tar | sed -E 's/[0-9.]+ KiB/SIZE/'; echo "exit ${PIPESTATUS[0]}"
echo "-- indexes"
imrec index two.tar
imrec index --force --image right.jpg --label count two.tar
imrec batches two.tar image=right.jpg label=count data_shape=3,30,45 batch_size=4 --count 1 --out seen --json | grep failed
echo "-- the benchmark's limit decodes what the iterator does"
imrec bench --quiet --json --repeat 1 --seconds 0.01 --threads 1 two.tar image=right.jpg data_shape=3,30,45 |
    awk '/"limit_images_per_s"/ {rate = $2 + 0} /"limit_mb_per_s"/ {printf "%.0f bytes an image\n", 1e6 * $2 / rate}'
rm two.tar.idxb
echo "-- made into others"
imrec export "${whole[@]}" --on-error skip --quiet two.tar out 2>/dev/null | sed 's/, .* in/ in/'; (cd out && cat export.lst)
imrec merge "${whole[@]}" --on-error skip --quiet two.tar merged.rec 2>/dev/null; imrec ls merged.rec | cut -f 3-
imrec convert "${whole[@]}" --on-error skip --quiet two.tar converted.rec 2>/dev/null; imrec ls converted.rec | cut -f 3-
imrec sample "${whole[@]}" --on-error skip --records 2 --quiet two.tar sampled.rec 2>/dev/null; imrec ls sampled.rec | wc -l
imrec split --label-offset=5 --shards 2 --quiet a.rec cut.rec; imrec ls cut-*.rec | cut -f 3,4
printf '100\t40\tx\n' >new.lst
imrec relabel --label-offset=5 --unlisted keep --quiet a.rec new.lst again.rec
imrec ls again.rec | cut -f 3,4 | head -2
imrec view --first "${whole[@]}" two.tar page.html 2>/dev/null; grep -o '<b>label [0-9]*</b>' page.html
imrec view --augmented --image right.jpg two.tar page.html label=count data_shape=3,30,45 2>/dev/null; grep -c '<img' page.html
imrec view --augmented --grid 1 two.tar page.html image=right.jpg label=count data_shape=3,30,45 2>/dev/null
grep -o '<b>label [0-9]*</b>' page.html | head -1
echo "-- a TFRecord file"
imrec convert --quiet two.tar two.tfrecord 2>/dev/null
imrec ls --image right.jpg --label image/id --label-offset=50 two.tfrecord 2>err | cut -f 4-; cat err
imrec index --image right.jpg two.tfrecord
echo "-- masks by name: the usual one is of another image"
im2rec --quiet --color 0 --encoding png --no-shuffle photos grey
imrec export --quiet grey.rec greys >/dev/null
mkdir masked
cp photos/ant/p100.jpg masked/1.jpg
cp greys/ant/p100* masked/1.parts.png
cp greys/ant/p103* masked/1.mask.png
(cd masked && tar --format=ustar -cf ../masked.tar -- *)
parts=masked/1.parts.png
imrec verify masked.tar | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec verify --mask parts.png masked.tar | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec info --mask none.png masked.tar | grep -c '^masks'
imrec cat --mask --mask-name parts.png masked.tar 0 | cmp - $parts && echo cat
imrec export --mask parts.png --quiet masked.tar unpacked >/dev/null 2>&1; cmp unpacked/masks/*/*.png $parts && echo export
imrec merge --mask parts.png --quiet masked.tar masked.rec 2>/dev/null; imrec cat --mask masked.rec 0 | cmp - $parts && echo merge
imrec convert --mask parts.png --quiet masked.tar masked.tfrecord 2>/dev/null
imrec cat --mask masked.tfrecord 0 | cmp - $parts && echo convert
imrec cat --mask --mask-name mask.png masked.tfrecord 0 | cmp - masked/1.mask.png && echo a feature
imrec merge --quiet masked.tfrecord merged3.rec 2>/dev/null; imrec cat --mask merged3.rec 0 | cmp - $parts && echo merge
imrec batches masked.tar label=none masks=uint8 mask=parts.png data_shape=3,30,40 batch_size=1 --count 1 --out delivered --json | grep failed
echo "-- a list below a folder, a folder of two kinds"
mv photos/export.lst .
imrec info --path-root photos export.lst | grep -E '^(source|images|damage)'
imrec verify --path-root photos export.lst | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec convert --path-root photos/ --quiet export.lst list.tar 2>/dev/null && imrec ls list.tar | cut -f 3-5
imrec convert --path-root photos --label-offset=1 --quiet export.lst list.rec 2>/dev/null && imrec ls list.rec | cut -f 3-5
imrec merge --path-root photos --quiet export.lst merged2.rec 2>/dev/null && imrec ls merged2.rec | cut -f 3,4 | head -1
imrec export --path-root photos --quiet export.lst back >/dev/null 2>&1 && diff -r photos back | cut -c -20
cp a.rec photos
imrec info --container folder photos | grep -E '^(source|images|  )'
imrec info --container rec --allow-missing photos | grep -E '^(source|images)'
echo "-- refused"
imrec ls --image jpg a.rec; echo "exit $?"
imrec info --label cls a.rec; echo "exit $?"
imrec verify --path-root photos a.rec; echo "exit $?"
imrec cat --container tar a.rec 100; echo "exit $?"
imrec merge --image jpg a.rec no.rec; echo "exit $?"
imrec convert --path-root photos two.tar no.rec; echo "exit $?"
imrec index --image jpg a.rec; echo "exit $?"
imrec export --label-offset 16777217 a.rec no; echo "exit $?"
imrec ls --label-offset 16777216 a.rec 2>err | cut -f 3,4; cat err
