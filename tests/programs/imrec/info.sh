#!/usr/bin/env bash
# The card of one shard, of several, of damaged ones, as text and as JSON.
make_set a.rec 20
make_set m.rec 20 3
sizes() { sed -E 's/[0-9.]+ KiB/SIZE/; s/^(size +)[0-9]+ to [0-9]+ bytes, median [0-9]+/\1BYTES/'; }
imrec info a.rec | sizes
imrec info --classes 1 m-00000-of-00003.rec m-00001-of-00003.rec m-00002-of-00003.rec | sizes
imrec info --json 'm-*.rec' | python3 -c '
import json, sys
c = json.load(sys.stdin)
print(c["records"], c["images"], c["damaged_ranges"], c["manifest"], c["width"], c["height"])
print(c["kinds"], c["labels"])
print([(s["uri"], s["records"], s["indexed"], s["checksummed"]) for s in c["shards"]])'
printf 'xxxxxxxx' | dd of=a.rec bs=1 seek=0 conv=notrunc status=none
imrec info a.rec | sizes | head -5
echo "exit ${PIPESTATUS[0]}"
python3 -c '
import io, struct, tarfile
bmp = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 62, 0, 0, 54, 40, 2, 1, 1, 24, 0, 8, 0, 0, 0, 0) + bytes(8)
with tarfile.open("a.tar", "w") as t:
    for name, data in ("x.bmp", bmp), ("x.cls", b"3"):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        t.addfile(member, io.BytesIO(data))'
imrec info a.tar | sizes
imrec info --json a.tar | grep -E '"source"|"records"|"label"'
