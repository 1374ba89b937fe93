# Whole labels beyond 2^24: float32 has not all of them, and no other one is packed in their place.
make_images .
printf '1\t16777216\tant/00.jpg\n2\t16777217\tant/01.jpg\n3\t16777218.0\tant/02.jpg\n' >large.lst
im2rec --quiet --report skips large.lst source a.rec; echo "exit $?"
imrec ls a.rec | cut -f 3,4
grep -o 'large.lst line 2: .*float32 cannot hold' skips
im2rec --quiet --on-error stop large.lst source b.rec; echo "exit $?"
printf '1\t0\t16777217\tant/00.jpg\n' >second.lst # only the first label is packed
im2rec --quiet second.lst source c.rec; echo "exit $?"
im2rec --quiet --pack-label second.lst source d.rec; echo "exit $?"
printf '1\t0\tant/00.jpg\n2\tnan\tant/01.jpg\n3\t-inf\tant/02.jpg\n' >lost.lst
im2rec --quiet --report skips lost.lst source e.rec; echo "exit $?"
cut -f 3- skips
imrec relabel a.rec lost.lst f.rec; echo "exit $?"
printf '1\t16777217\tx.jpg\n3\t-9007199254740993\ty.jpg\n' >typed.lst
two=(data_shape=3,32,32 batch_size=2 --count 1)
imrec batches a.rec "${two[@]}" path_imglist=typed.lst --out rounded; echo "exit $?"
imrec batches a.rec "${two[@]}" path_imglist=typed.lst dtype_label=int64 --out typed; echo "exit $?"
python3 - <<'PY'
import array
raw = open("typed/labels.npy", "rb").read()
print(raw[10:raw.index(b",", 10)].decode(), list(array.array("q", raw[-16:])))
PY
