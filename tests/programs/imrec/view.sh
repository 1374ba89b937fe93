#!/usr/bin/env bash
# Contact sheets hold their images: as packed, byte for byte, and as the iterator delivers them.
export PYTHONDONTWRITEBYTECODE=1 # the folder is listed below
make_set a.rec 20
imrec export --quiet a.rec files >/dev/null
cat >look.py <<'PY'
import base64, html.parser, re, sys
class Sheet(html.parser.HTMLParser):
    void = {"meta", "img", "br"}
    def __init__(self):
        super().__init__()
        self.open, self.images, self.texts = [], [], []
    def handle_starttag(self, tag, attributes):
        if tag not in self.void:
            self.open.append(tag)
        if tag == "img":
            mime, data = re.fullmatch(r"data:(.*);base64,(.*)", dict(attributes)["src"]).groups()
            self.images.append((mime, base64.b64decode(data, validate=True)))
        assert tag not in ("script", "link", "iframe"), tag
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        if self.open[-1:] == ["b"]:
            self.texts.append(data)
sheet = Sheet()
sheet.feed(open(sys.argv[1], encoding="utf-8").read())
assert not sheet.open and all(p[:2] == b"\xff\xd8" for _, p in sheet.images)
PY
imrec view a.rec all.html --count 20
python3 -c '
import sys; sys.argv = ["", "all.html"]
from look import sheet
import glob
files = {open(f, "rb").read() for f in glob.glob("files/*/*.jpg")}
print(len(sheet.images), {p for _, p in sheet.images} == files, sheet.texts[:4])'
imrec view a.rec first.html --first --count 3 --json
python3 -c '
import sys; sys.argv = ["", "first.html"]
from look import sheet
print(sheet.texts, sheet.images[2][1] == open("files/cat/p102.jpg", "rb").read())'
imrec view --augmented a.rec aug.html --count 7 data_shape=3,24,24 rand_crop=1 rand_mirror=1 \
    shuffle=1 batch_size=3 mean_r=100 std_r=50 dtype=float16
python3 -c '
import sys; sys.argv = ["", "aug.html"]
from look import sheet
print(len(sheet.images), len(sheet.texts))'
printf '<b>&"bee"\nx\ny\n' >a.classes.txt
imrec view a.rec escaped.html --count 5 --first
python3 -c '
import sys; sys.argv = ["", "escaped.html"]
from look import sheet
print("".join(sheet.texts))'
printf 'xxxx' | dd of=a.rec bs=1 seek=32 conv=notrunc status=none
imrec view a.rec bad.html --first --count 2; echo "exit $?"
imrec view a.rec out.html rand_crop=1; echo "exit $?"
imrec view missing.rec out.html; echo "exit $?"
imrec view a.rec no/such/folder.html; echo "exit $?"
ls
make_set b.rec 20
imrec view --augmented b.rec draws.html --count 9 data_shape=3,24,24 max_rotate_angle=9 rand_augment=2 \
    brightness=0.3 random_h=9 pca_noise=0.1 hue=0.1 gaussian_blur=1 max_random_contrast=0.1 mixup=0.2 num_classes=20
for word in turned 'H [+-]' light hue blurred; do
    printf '%s %d\n' "$word" "$(grep -o "<br>$word" draws.html | wc -l)"
done
