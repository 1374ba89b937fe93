#!/usr/bin/env bash
# Labels with boxes from a list into records, batches and a contact sheet with frames.
make_images .
printf '1\t2\t5\t0\t0.1\t0.2\t0.5\t0.6\tant/00.jpg\n' >a.lst
printf '2\t2\t5\t0\t0\t0\t1\t1\t2\t0.25\t0.25\t0.75\t0.75\tbee/00.jpg\n' >>a.lst
printf '3\t2\t5\t1\t0.5\t0.5\t480\t1\tcow/00.jpg\n' >>a.lst
im2rec --quiet --pack-label a.lst source a || exit
boxes=(preset=ImageDetRecordIter "data_shape=3,32,32" batch_size=3 on_error=skip verbose=0)
imrec batches a.rec "${boxes[@]}" --count 1 --out plain
imrec batches a.rec "${boxes[@]}" label_pad_width=20 rand_mirror_prob=1 resize_mode=fit --count 1 --out mirrored
python3 - <<'PY'
import ast, array
for name in "plain", "mirrored":
    raw = open(name + "/labels.npy", "rb").read()
    n = 10 + raw[8] + 256 * raw[9]
    shape = ast.literal_eval(raw[10:n].decode())["shape"]
    values = array.array("f", raw[n:])
    for row in range(shape[0]):
        print(name, *("%g" % v for v in values[row * shape[1]:(row + 1) * shape[1]]))
PY
imrec view --augmented a.rec a.html --count 3 "${boxes[@]}" rand_crop_prob=1 min_crop_scales=0.5
grep -c '<img' a.html
grep -o '<b>[0-9]* box[es]*</b>' a.html
imrec batches a.rec "${boxes[@]}" label_pad_width=11 --count 1 --out narrow; echo "exit $?"
imrec batches a.rec "${boxes[@]}" num_crop_sampler=2 max_crop_scales=1,1,1 --count 1 --out three; echo "exit $?"
imrec batches a.rec "${boxes[@]}" rand_crops_prob=1 --count 1 --out four; echo "exit $?"
