#!/usr/bin/env bash
# Named fields of records: listed, written one by one, exported next to their images, whatever they are called.
make_set a.rec 4
imrec export --quiet a.rec photos >/dev/null
for image in photos/*/*.jpg; do echo "a photo of $image" >"${image%.jpg}.caption.txt"; printf '{"n": 1}' >"${image%.jpg}.json"; done
rm photos/cat/p102.json
im2rec --quiet --no-shuffle --pass-through --fields 'caption.txt,json?' photos/export.lst photos f.rec
im2rec --quiet --no-shuffle --pass-through --format cbf --fields 'caption.txt,json?' photos/export.lst photos c.cbf
imrec convert --quiet f.rec f.tar >/dev/null
imrec convert --quiet f.rec f.tfrecord >/dev/null
for set in f.rec c.cbf f.tar f.tfrecord a.rec; do echo "-- $set"; imrec ls --fields "$set" | cut -f 3,8; done
echo "-- one of them"
imrec ls --fields --json --limit 1 f.rec | python3 -c '
import json, sys
print(json.load(sys.stdin)["records"][0]["fields"])'
imrec cat --json f.rec 100 | python3 -c 'import json, sys; print(json.load(sys.stdin)["fields"][1])'
for set in f.rec c.cbf; do imrec cat --field caption.txt "$set" 102; imrec cat --field json "$set" 101; echo; done
imrec cat --field caption.txt f.tar 2
imrec cat --field image/id f.tfrecord 2; echo
imrec cat --field image/format f.tfrecord 2; echo
imrec cat --field json f.rec 102; echo "exit $?"
imrec cat --field json --mask f.rec 102; echo "exit $?"
echo "-- files"
for set in f.rec c.cbf; do
    imrec export --quiet "$set" out | sed -E 's/[0-9.]+ KiB/SIZE/'
    diff -r photos out && echo the same files
    rm -r out
done
echo "-- resumed, and with a file of others in the way"
imrec export --quiet f.rec out >/dev/null
printf 'imrec export 1\nof f.rec\n' >out/export.part
rm out/export.lst out/cat/p102.jpg out/bee/p101.json
echo of others >out/bee/p101.json
imrec export --quiet f.rec out | sed -E 's/[0-9.]+ KiB/SIZE/'
cat out/bee/p101.json out/export.lst; (cd out && find . -type f | sort)
rm -r out
imrec export --quiet f.tfrecord out >/dev/null; (cd out && find . -type f | sort)
cat out/2/2.image%2Fid; echo
im2rec --quiet --no-shuffle --pass-through --fields 'caption.txt,json?' photos/export.lst photos again.rec
cmp f.rec again.rec && echo packed again
echo "-- hostile names"
python3 - <<'P'
import struct
import binascii

TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
    TABLE.append(n)

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff

def field(name, value, kind=0):
    return struct.pack("<BBHI", kind, 0, len(name), len(value)) + name + value

image = open("photos/ant/p100.jpg", "rb").read()
names = [b"../../escape", b"/tmp/escape", b"..", b"jpg", b"JPG", b"x", b"x", b"x%.1", b"a\0b", b"tab\tnew\nline,=",
         "\u202eright".encode(), b"y" * 300, b"y" * 301, b"z" * 60000]
fields = b"".join(field(name, b"%d" % i) for i, name in enumerate(names))
fields += field(b"int", struct.pack("<2q", -5, 7), 1) + field(b"real", struct.pack("<2f", 0.5, float("nan")), 2)
count = len(names) + 2
tail = fields + struct.pack("<II", count, len(fields))
body = struct.pack("<IfQQ", 0, 1.0, 7, 0) + image + tail + struct.pack("<I", crc32c(tail)) + b"\x8bflds1\r\n"
with open("h.rec", "wb") as f:
    f.write(struct.pack("<II", 0xced7230a, len(body)) + body + b"\0" * (-len(body) % 4))
P
imrec ls --fields h.rec | cut -f 8 | tr ',' '\n' | cut -c 1-40
imrec cat --field ../../escape h.rec 7; echo
imrec cat --field int h.rec 7; echo
mkdir -p deep/er
imrec export --quiet h.rec deep/er/out 2>/dev/null | sed -E 's/[0-9.]+ KiB/SIZE/'
find . -name '*escape*' | sort
(cd deep/er/out && find . -type f | sort | sed -E 's/[yz]{200,}/Y/')
cat deep/er/out/1/7.int deep/er/out/1/7.real; echo
imrec export --quiet --json h.rec deep/er/out2 2>/dev/null | grep fields
