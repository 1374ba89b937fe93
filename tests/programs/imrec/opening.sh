#!/usr/bin/env bash
# What is no shard is called what it is; what is missing of a set is named.
make_set a.rec 6
make_set m.rec 20 4
imrec cat a.rec 100 >photo.jpg
: >empty.rec
: >empty.cbf
printf 'PK\003\004 and so on' >a.zip
head -c 4000 /dev/zero >zero.rec
for file in photo.jpg a.zip a.idx a.lst a.crc a.classes.txt empty.rec empty.cbf zero.rec; do
    for command in info verify ls; do
        imrec $command $file
        echo "$command $file: $?"
    done
done
imrec verify --json empty.rec | grep -E 'fine|"findings"'
imrec merge --quiet a.idx out.rec
imrec batches --count 1 --out batches photo.jpg data_shape=3,16,16
echo "batches: $?"
imrec ls 'a.rec;empty.rec' | wc -l

echo "== three of four"
mkdir set
cp m-* m.lst m.classes.txt m.manifest.json set
rm set/m-00002-of-00004.rec
for uri in set 'set/m-*.rec' set/m.manifest.json; do
    imrec info "$uri"
    echo "info $uri: $?"
    imrec info --allow-missing "$uri" | head -n 1 | cut -d, -f 1
    imrec batches --count 1 --out batches "$uri" batch_size=2 data_shape=3,16,16
    echo "batches $uri: $?"
    imrec batches --count 1 --out batches "$uri" batch_size=2 data_shape=3,16,16 allow_missing=1
    imrec verify --no-decode --quiet "$uri" | sed 's/, [0-9.]* KiB//'
    echo "verify $uri: ${PIPESTATUS[0]}"
    imrec verify --no-decode --quiet --allow-missing "$uri" | sed 's/, [0-9.]* KiB//'
    echo "verify --allow-missing $uri: ${PIPESTATUS[0]}"
done
imrec merge --quiet set out.rec
echo "merge: $?"
imrec merge --quiet --allow-missing set out.rec
echo "merge --allow-missing: $?, $(wc -l <out.lst) images"
imrec view set page.html
imrec view --allow-missing --count 2 set page.html
imrec ls --allow-missing --limit 1 set | cut -f 1-3
imrec cat --allow-missing set 119 | cmp - <(imrec cat 'm-*.rec' 119) && echo same
imrec export --quiet --allow-missing set photos | cut -d, -f 1
imrec repair --quiet --allow-missing set mended.rec | cut -d, -f 1

echo "== by names alone"
rm set/m.manifest.json
imrec info set/*.rec | head -n 1 | cut -d, -f 1
imrec verify --quiet set/*.rec | sed 's/, [0-9.]* KiB//'
imrec verify --quiet set/m-00000-of-00004.rec | sed 's/, [0-9.]* KiB//'
cp m-00002-of-00004.rec set
imrec verify --quiet set | sed 's/, [0-9.]* KiB//'
imrec verify --quiet m-00000-of-00004.rec | sed 's/, [0-9.]* KiB//'

echo "== two sets of one name"
cp a.rec set/m.rec
imrec info set
imrec verify --quiet set | sed 's/, [0-9.]* KiB//'
