#!/usr/bin/env bash
# A folder of sounds is packed as one of images is, and every command takes its records.
python3 - <<'PY'
import math, os, struct, wave
for name, hertz, channels, n in (("low/a", 100, 1, 800), ("low/b", 120, 1, 900), ("high/a", 400, 2, 700)):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with wave.open(name + ".wav", "wb") as w:
        w.setnchannels(channels)
        w.setsampwidth(2)
        w.setframerate(8000)
        w.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(2 * math.pi * hertz * i / 8000))) * channels
                               for i in range(n)))
PY
mkdir in && mv low high in
printf 'RIFF\4\0\0\0WAVE' >in/low/torn.wav
im2rec --quiet --no-shuffle in s.rec; echo "exit $?"
imrec ls s.rec
imrec cat --json s.rec 2 | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["id"], r["labels"], r["format"], r["channels"], r["sample_rate"], r["samples"])'
imrec info --json s.rec | python3 -c '
import json, sys
i = json.load(sys.stdin)
print(i["records"], i["unreadable"], i["kinds"])'
imrec verify --quiet s.rec; echo "exit $?"
imrec export --quiet s.rec files >/dev/null
cmp in/high/a.wav files/high/a.wav && cmp in/low/b.wav files/low/b.wav && echo "the same files"
imrec batches --count 1 --out b s.rec audio=1 data_shape=1,1,500 batch_size=3
python3 - <<'PY'
import ast, struct
data = open("b/data.npy", "rb").read()
head = ast.literal_eval(data[10:10 + struct.unpack("<H", data[8:10])[0]].decode())
values = struct.unpack("<1500f", data[-6000:])
print(head["shape"], [sum(a < 0 <= b for a, b in zip(v, v[1:])) for v in (values[:500], values[500:1000], values[1000:])])
PY
im2rec --quiet --no-shuffle --augment mirror=1 -- in t.rec; echo "exit $?"
im2rec --quiet --no-shuffle --exts .jpg in u.rec; echo "exit $?"
