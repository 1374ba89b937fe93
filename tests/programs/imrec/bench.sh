#!/usr/bin/env bash
# The benchmark says what it measured; no number of it is judged here.
make_set a.rec 40
small=("data_shape=3,24,24" batch_size=8 shuffle=1 rand_crop=1)
imrec bench a.rec "${small[@]}" --seconds 0.02 --repeat 3 --threads 1,2 --json --quiet \
    --report bench.html | python3 -c '
import json, sys
b = json.load(sys.stdin)
print([r["threads"] for r in b["runs"]], b["repetitions"], b["options"])
for r in b["runs"]:
    for key in ("limit_images_per_s", "images_per_s", "ratio", "rss_bytes", "first_batch_s",
                "batch_s", "mb_per_s", "images", "memory_planned_bytes"):
        assert r[key] > 0, key
    assert abs(r["ratio"] - r["images_per_s"] / r["limit_images_per_s"]) < 1e-4 * r["ratio"]
    assert r["failed"] == 0 and r["advice"] and r["indexed"] is False
    print(sorted(r["stages"]))
assert b["read_images_per_s"] > 0'
grep -c '<svg ' bench.html
imrec tile a.rec tiled.rec > /dev/null
for set in a tiled; do
    imrec bench $set.rec "${small[@]}" --seconds 0.02 --repeat 1 --threads 1 --json --quiet | python3 -c '
import json, sys
r = json.load(sys.stdin)["runs"][0]
print("JPEGs written again for the limit:", r["limit_rewritten"] > 0)'
done
imrec bench a.rec "${small[@]}" --seconds 0.01 --repeat 1 --threads 1 --quiet | sed 's/ .*//' | head -2
imrec bench a.rec "${small[@]}" --seconds 0.01 --repeat 1 --quiet --augment hsl,pad --json | python3 -c '
import json, sys
b = json.load(sys.stdin)
assert b["decode_us"] > 0
for a in b["augmenters"]:
    assert a["augment_us"] >= 0 and a["cpu_us_per_image"] >= 0 # so short a run may find all made ahead
    print(a["name"], a["options"])'
imrec bench a.rec "${small[@]}" --seconds 0.01 --repeat 1 --quiet --augment crop | tail -1 | sed 's/ .*//'
imrec bench a.rec "${small[@]}" --augment sharpen 2>&1 | head -1
imrec bench a.rec --threads 1,x; echo "exit $?"
imrec bench a.rec --threads 0; echo "exit $?"
imrec bench a.rec dtype=uint8 std_r=2; echo "exit $?"
imrec bench missing.rec; echo "exit $?"
printf '%s\n' '|f 1 2 |l 0:1' '|f 3 4 |l 1:1' '|f 5 6 |l 0:1' > s.ctf
imrec bench s.ctf --minibatches --seconds 0.01 --repeat 1 --threads 1,2 --json \
    input.f.format=dense input.f.dim=2 input.l.format=sparse input.l.dim=2 | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(j["format"], j["bytes"], [r["threads"] for r in j["runs"]],
      all(r["sweep_mb_s"]["median"] > 0 and r["by_hand_mb_s"]["median"] > 0 for r in j["runs"]))'
imrec bench s.ctf --minibatches --seconds 0.01 --repeat 1 2>&1; echo "exit $?"
