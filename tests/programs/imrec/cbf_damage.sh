#!/usr/bin/env bash
# A binary file whose magic is broken is told as such, by its name or by what its end says; values
# that are not finite are strings in JSON.
check() { "$@"; echo "exit $?"; }
printf '0 |x 1 2\n0 |x 3 4 |y 0:5\n1 |x 6 7 |y 1:8 2:9\n' >a.ctf
printf 'x x dense 2\ny y sparse 3 double\n' >header
ctf2bin --quiet --input a.ctf --header header --output a.cbf
python3 - <<'PY'
import struct
whole = open("a.cbf", "rb").read()
open("magic.cbf", "wb").write(b"X" + whole[1:])
open("magic.bin", "wb").write(b"X" + whole[1:])
open("other.bin", "wb").write(b"X" * len(whole))
open("version.cbf", "wb").write(whole[:8] + b"\7" + whole[9:])
open("short.cbf", "wb").write(whole[:6])
open("none.cbf", "wb").write(b"")
special = [float("nan"), float("inf"), float("-inf")]
for old, new in zip((1, 2, 3), special):
    whole = whole.replace(struct.pack("<f", old), struct.pack("<f", new), 1)
for old, new in zip((5, 8, 9), special):
    whole = whole.replace(struct.pack("<d", old), struct.pack("<d", new), 1)
open("special.cbf", "wb").write(whole)
PY
for command in "verify" "info" "cat" "minibatches" "bench --minibatches"; do
    # shellcheck disable=SC2086 # words
    check imrec $command magic.cbf
done
check imrec convert magic.cbf x.ctf
for file in magic.bin version.cbf short.cbf none.cbf; do
    check imrec verify $file
done
check imrec minibatches magic.bin
imrec verify --json magic.cbf 2>/dev/null | python3 -c '
import json, sys
v = json.load(sys.stdin)
print(v["fine"], v["findings"], v["list"])'
imrec verify other.bin | head -1
echo "== not finite"
imrec cat --json special.cbf
imrec minibatches special.cbf randomize=false precision=double | python3 -c '
import json, sys
m = json.loads(sys.stdin.readline(), parse_constant=lambda c: 1 / 0)
print(m["x"]["sequences"], m["y"]["sequences"])'
imrec verify special.cbf
