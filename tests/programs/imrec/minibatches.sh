#!/usr/bin/env bash
# Minibatches from outside: a text, its binary file, a configuration; positions, ends and errors.
cat >a.ctf <<'CTF'
10 |x 1 2 |w 3:1
10 |x 3 4.5 |w 0:2 7:-1.5
20 |x 5 6 |# a comment
30 |x 7 8 |w 1:1e2
30 |x 9 10
40 |x 11 12 |w 9:0.1
CTF
streams="input.x.format=dense input.x.dim=2 input.words.format=sparse input.words.dim=10
    input.words.alias=w"
echo "== in order"
# shellcheck disable=SC2086 # keys are words
imrec minibatches a.ctf $streams randomize=false minibatch_size_in_samples=3 >all
cat all
echo "== from a position"
python3 - <<'PY'
import json
lines = [json.loads(l) for l in open("all")]
json.dump(lines[0]["position"], open("here.json", "w"))
print([l["ids"] for l in lines], [l["sweep_end"] for l in lines])
PY
# shellcheck disable=SC2086
imrec minibatches a.ctf $streams randomize=false minibatch_size_in_samples=3 --from here.json \
    --count 1 | cmp - <(sed -n 2p all) && echo "the same"
echo "== a rank of two"
# shellcheck disable=SC2086
imrec minibatches a.ctf $streams randomize=false minibatchSize=3 num_ranks=2 rank=1 |
    sed -E 's/.*("ids": \[[0-9, ]*\], "num_sequences": [0-9]*).*("sweep_end": [a-z]*).*/\1 \2/'
echo "== binary"
printf 'x x dense 2\nwords w sparse 10\n' >header
ctf2bin --quiet --input a.ctf --header header --output a.cbf
imrec minibatches a.cbf randomize=false minibatchSize=3 >binary
python3 - <<'PY'
import json
text, binary = ([json.loads(l) for l in open(f)] for f in ("all", "binary"))
print(all(t[s] == b[s] for t, b in zip(text, binary) for s in ("x", "words")), len(binary))
PY
echo "== a configuration"
cat >reader.cntk <<'CNTK'
precision = "double"
reader = [
    readerType = "CNTKTextFormatReader" ; file = "a.ctf"
    randomize = false
    input = [
        x = [ dim = 2 ; format = "dense" ]
        words = [ dim = 10 ; format = "sparse" ; alias = "w" ]
    ]
]
CNTK
imrec minibatches reader.cntk --count 2 --size 2 max_samples=100 |
    sed -E 's/.*("words": .*"ids": \[[0-9, ]*\]).*/\1/'
echo "== randomized"
# shellcheck disable=SC2086
imrec minibatches a.ctf $streams randomizationSeed=1 minibatchSize=1 max_sweeps=2 |
    grep -o '"ids": \[[0-9, ]*\]' | head -4 | sort
echo "== errors"
# shellcheck disable=SC2086
imrec minibatches a.ctf $streams input.x.dim=3 randomize=false; echo "exit $?"
# shellcheck disable=SC2086
imrec minibatches a.ctf $streams input.x.dim=3 maxErrors=100 traceLevel=0 | grep -c '"num_sequences"'
imrec minibatches a.ctf; echo "exit $?"
imrec minibatches missing.cbf; echo "exit $?"
# shellcheck disable=SC2086
imrec minibatches a.ctf $streams randomise=false; echo "exit $?"
# shellcheck disable=SC2086
imrec minibatches a.ctf $streams randomizationSeed=7 --from here.json; echo "exit $?"
imrec minibatches a.ctf input.ids.format=dense input.ids.dim=2 input.ids.alias=x ignoreUnknownInputs=1
echo "exit $?"
imrec minibatches; echo "exit $?"
