#!/usr/bin/env bash
# The page of draws: every augmenter, every parameter of augmentation, one picture.
make_set a.rec 5
view() { imrec view --augmented "$@" preprocess_threads=1; }
view --grid 3 a.rec grid.html data_shape=3,24,24 resize=26 >grid.txt
# A row of the table that stands nowhere on the page has no picture: give it one in tools/augmenters.c.
param_rows augmentation | awk 'NR > 2 {print $2}' | tr -cd 'a-z_\n' | sort >listed
[ "$(wc -l <listed)" -gt 50 ] || echo 'too few parameters'
grep -o '<tr><td><code>[a-z_]*' grid.html | sed 's/.*>//' | sort -u >shown
comm -23 listed shown
diff <(grep -o '<a href="#[a-z-]*' grid.html | sed 's/.*#//') \
    <(grep -o '<h2 id="[a-z-]*' grid.html | sed 's/.*"//; /not-shown/d')
grep -o '<h2 id="boxes[^"]*' grid.html
sed -n '/<h2 id="brightness"/,/<h2 id="contrast"/p' grid.html >one.html
grep -c '<img ' one.html
sed -n 's/.*<br>\(brightness\) [0-9.]*, .*/\1/p' one.html
echo "alone: $(sed -n '/<h2 id="mirror"/,/<h2 id="order"/p' grid.html | grep -c '<img ')"
view --grid 3 a.rec again.html data_shape=3,24,24 resize=26 >again.txt
cmp grid.html again.html
# Another picture: of another partition.
view --grid 2 a.rec other.html data_shape=3,24,24 num_parts=5 part_index=2 >other.txt
grep -o 'id 10[0-9], sweep' other.html | sort -u
# Boxes: only where the label is one.
printf '0\t2\t5\t1\t0.2\t0.2\t0.7\t0.7\tcat/p102.jpg\n' >b.lst
imrec export --quiet a.rec files >/dev/null
im2rec --quiet --pack-label b.lst files b.rec
view --grid 2 b.rec boxes.html data_shape=3,24,24 resize=26 >boxes.txt
param_rows detection | awk 'NR > 2 {print $2}' | tr -cd 'a-z_\n' | sort >listed
grep -o '<tr><td><code>[a-z_]*' boxes.html | sed 's/.*>//' | sort -u >shown
comm -23 listed shown
grep -c '<b>1 box</b>' boxes.html
view --grid 2 b.rec only.html data_shape=3,24,24 preset=ImageDetRecordIter >only.txt
grep '^<h2 id=' only.html | grep -vc boxes
view --grid 2 a.rec grey.html data_shape=1,24,24 >grey.txt; echo "exit $?"
sed -n '/<h2 id="hue"/,/<h2 id="gray/s/.*class="bad">\([^<]*\).*/\1/p' grey.html
imrec view --grid 2 a.rec no.html; echo "exit $?"
view --grid 2 missing.rec no.html; echo "exit $?"
view --grid 2 a.rec no.html data_shape=3; echo "exit $?"
[ ! -e no.html ]
