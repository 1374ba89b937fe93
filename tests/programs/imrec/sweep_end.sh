#!/usr/bin/env bash
# What is printed ends with the sweep unless keys say otherwise.
printf '|x 1 2 |y 3:1\n|x 3 4 |y 0:0.5\n' >a.ctf
content() { python3 -c '
import json, sys
for line in sys.stdin:
    print(*sorted(json.loads(line)["ids"]))'; }
x="input.x.format=dense input.x.dim=2 ignoreUnknownInputs=true"
# shellcheck disable=SC2086 # keys are words
{
    imrec minibatches a.ctf $x --count 1 | content
    imrec minibatches a.ctf $x --count 3 | content
    imrec minibatches a.ctf $x --count 3 --size 1 max_sweeps=2 | content | wc -l
    imrec minibatches a.ctf $x --count 1 --size 5 max_sweeps=0 | content
    imrec minibatches a.ctf $x --count 2 --size 3 max_samples=5 | content
    imrec minibatches a.ctf $x randomize=false --count 1 --size 1 |
        python3 -c 'import json, sys; json.dump(json.loads(sys.stdin.readline())["position"], open("half.json", "w"))'
    imrec minibatches a.ctf $x randomize=false --from half.json | content
    echo '{"TrainingMinibatchSource": {"minibatchSourcePosition": 3}}' >nominal.json
    imrec minibatches a.ctf $x randomize=false --from nominal.json | content
}
