# Boxes of COCO and Pascal VOC, and detection labels of a list, of any number.
make_images .
mv source/ant photos
cat >coco.json <<'JSON'
{"info": {"year": 2017}, "licenses": [],
 "images": [{"id": 12, "file_name": "00.jpg", "width": 40, "height": 90},
            {"id": 30, "file_name": "01.jpg", "width": 47, "height": 85},
            {"id": 31, "file_name": "02.jpg", "width": 54, "height": 80}],
 "annotations": [{"id": 1, "image_id": 30, "category_id": 18, "bbox": [4.7, 8.5, 23.5, 17], "iscrowd": 0},
                 {"id": 2, "image_id": 12, "category_id": 1, "bbox": [0, 0, 40, 45], "iscrowd": 1},
                 {"id": 3, "image_id": 30, "category_id": 1, "bbox": [0, 0, 4.7, 8.5], "iscrowd": 0}],
 "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}]}
JSON
im2rec --quiet --no-shuffle --resize 32 --annotations coco.json photos coco.rec
echo "status $?"
cat coco.lst coco.classes.txt
imrec ls coco.rec | cut -f 3,4,6
grep label_width coco.manifest.json
im2rec --quiet --no-shuffle --pass-through --drop-empty --annotations coco.json photos dropped.rec && imrec ls dropped.rec | cut -f 3,4
mkdir voc
for i in 3 4; do
    cat >voc/0$i.xml <<XML
<?xml version="1.0"?>
<annotation><filename>0$i.jpg</filename><size><width>60</width><height>75</height><depth>3</depth></size>
<object><name>cat</name><difficult>0</difficult><bndbox><xmin>6</xmin><ymin>15</ymin><xmax>30</xmax><ymax>75</ymax></bndbox></object>
</annotation>
XML
done
printf 'dog\ncat\n' >names
im2rec --quiet --no-shuffle --pass-through --classes names --annotations voc photos voc.rec
echo "status $?"
cat voc.lst
im2rec --quiet --pass-through --pack-label coco.lst photos again.rec && imrec ls again.rec | cut -f 3,4
sed -i 's/"category_id": 18/"category_id": 17/' coco.json
im2rec --quiet --annotations coco.json photos bad.rec
echo "status $?"
im2rec --quiet --annotations coco.json coco.lst photos bad.rec
echo "status $?"
for move in --center-crop "--augment mirror=1"; do # boxes go where their image goes
    # shellcheck disable=SC2086 # two words
    im2rec --quiet --force --pack-label $move coco.lst photos boxes.rec
    echo "status $?"
    imrec ls boxes.rec | cut -f 3,4,6
done
im2rec --quiet --resize 24 --center-crop coco.lst photos first.rec # the first label alone is no box
echo "status $?"
ls bad* 2>/dev/null || echo nothing written
