# Records with masks: packed from two folders, told, written back; what is missing is loud.
make_images .
mkdir -p both/images both/masks
mv source/ant both/images/ant
im2rec --quiet --color 0 --encoding png --no-shuffle both/images grey # grey PNGs: good for masks
imrec export --quiet grey.rec both/grey | sed 's/, .* in/ in/'
mv both/grey/ant both/masks/ant
for f in both/masks/ant/*; do mv "$f" "${f%.jpg.png}.png"; done
im2rec --quiet --no-shuffle --masks both/masks both/images masks
echo "status $?"
mkdir two && cp -r both/images both/masks two
im2rec --quiet --no-shuffle two pairs && cmp masks.rec pairs.rec && echo the same pairs
mkdir flat && cp -r both/images/ant flat/images && cp -r both/masks/ant flat/masks
im2rec --quiet --no-shuffle flat flat.rec && imrec info flat.rec | grep '^masks'
imrec info masks.rec | grep -E '^(images|masks)'
imrec info --json masks.rec | grep -o '"masks": [0-9]*'
imrec verify --quiet masks.rec | grep -o '8 images decoded; nothing wrong'
first=$(ls both/masks/ant | head -1)
imrec cat --mask masks.rec 0 | cmp - "both/masks/ant/$first" && echo the same mask
imrec cat --json masks.rec 0 | grep -c mask_bytes
imrec cat --mask grey.rec 0; echo "exit $?"
imrec export --quiet masks.rec back | sed 's/, .* in/ in/'
diff -r both/masks back/masks && echo the same masks
im2rec --quiet --no-shuffle --pass-through --pack-label --masks back/masks back/export.lst back again.rec
imrec export --quiet again.rec again >/dev/null && diff -r back/masks again/masks && echo and again
imrec batches masks.rec data_shape=3,32,32 batch_size=4 masks=uint16 resize=32 --count 1 --out b
head -c 128 b/masks.npy | grep -ao "'descr'.*(4, 32, 32)"
imrec batches masks.rec data_shape=3,32,32 batch_size=4 images=image,mask:uint16:fill=255 resize=32 --count 1 --out c
cmp b/masks.npy c/image_1.npy && cmp b/data.npy c/data.npy && echo a mask is a further image
rm "both/masks/ant/$first"
im2rec --quiet --no-shuffle --masks both/masks --report skips.json both/images less
echo "status $?"
cut -c 1-160 skips.json
im2rec --quiet --on-error stop --masks both/masks both/images none
echo "status $?"
im2rec --quiet --list --masks both/masks both/images none
echo "status $?"
im2rec --quiet --format cbf --no-shuffle two paired.cbf
imrec info paired.cbf | grep -E '^(stream|masks)'
imrec verify --quiet paired.cbf | grep -o '8 images decoded; nothing wrong'
imrec merge --quiet paired.cbf records.rec >/dev/null && cmp masks.rec records.rec && echo records of both are equal
imrec cat --mask paired.cbf 0 | cmp - <(imrec cat --mask masks.rec 0) && echo the same mask
imrec export --quiet paired.cbf back2 | sed 's/, .* in/ in/'
diff -r back/masks back2/masks && echo the same masks
imrec merge --quiet masks.rec merged.rec >/dev/null; imrec cat --mask merged.rec 0 | cmp - <(imrec cat --mask masks.rec 0) && echo merged
imrec convert --quiet masks.rec masks.tfrecord | sed 's/, .*:/:/'
imrec merge --quiet masks.tfrecord examples.rec >/dev/null; imrec cat --mask examples.rec 0 | cmp - <(imrec cat --mask masks.rec 0) && echo of Examples, too
