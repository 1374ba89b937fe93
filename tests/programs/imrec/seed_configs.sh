#!/usr/bin/env bash
# Every configuration that the pages of CNTK's text reader print, cut out as they stand there, in
# every program that takes one, on the data that stand there. Skipped where the pages are not here.
page=$(printf '%s\n' "${IMREC_SHARED:-$(dirname "$0")/../../../../shared}"/seeds/001_*.txt)
[ -e "$page" ] || { echo "skipped: no pages (set IMREC_SHARED)"; exit 77; }
python3 - "$page" <<'PY'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
configs = re.findall(r"\n(\.\.\.\n(?:precision=.*\n\n)?reader = \[\n(?:.*\n)*?\]\n.*\n)", text)
configs += re.findall(r"\n(reader = \{\n(?:.*\n)*?    \}\n)", text)
for i, config in enumerate(configs):
    open(f"{i}.cntk", "w").write(config)
print(len(configs), [c.split("\n")[0] for c in configs])
data = [re.search(rf"^{re.escape(first)}(?:.*\n)+?(?=\n)", text, re.M)[0]
        for first in ("|B 100:3 123:4", "100 |a 1 2 3 |b 100 200\n100 |a 4 5 6")]
open("0.txt", "w").write(data[0])
open("1.txt", "w").write(data[1])
open("2.txt", "w").write("1 |qui 3:1 95588:0.5 |quj 7:1 |wij 2\n2 |qui |quj 8:1 |wij -1\n")
PY
for i in 0 1 2; do
    echo "== $i"
    imrec minibatches $i.cntk file=$i.txt --count 2 traceLevel=1 2>/dev/null | python3 -c '
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    print(sorted(m["ids"]), m["sweep_end"],
          [(k, v["num_sequences"], v["num_samples"]) for k, v in m.items() if isinstance(v, dict) and "sequences" in v])'
    imrec bench $i.cntk --minibatches --seconds 0.01 --repeat 1 --threads 1 --json file=$i.txt traceLevel=1 |
        grep -c '"sweep_mb_s"'
    imrec verify --config $i.cntk file=$i.txt traceLevel=1; echo "exit $?"
    imrec info --config $i.cntk file=$i.txt | grep -c input
    imrec cat --config $i.cntk file=$i.txt traceLevel=1 | sed -n '1p;$='
    ctf2bin --quiet --input $i.txt --header $i.cntk --output $i.cbf; echo "exit $?"
    imrec convert --quiet $i.txt again.cbf --header $i.cntk && cmp $i.cbf again.cbf && echo same
    imrec info $i.cbf | grep stream
done
# As printed, without a word beside it, where the file is the one that the page names.
sed 's|file = ".*SampleInput|file = "./SampleInput|' 1.cntk >own.cntk
cp 1.txt SampleInput.txt
imrec minibatches own.cntk traceLevel=0 | wc -l
