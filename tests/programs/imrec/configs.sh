#!/usr/bin/env bash
# CNTK configurations as programs take them: as CNTK's pages print them, with dots for what is left
# out, and whole ones; what key=value changes; the same in every program that takes one.
mkdir sets
cat >sets/train.txt <<'CTF'
|x 1 2 |y 3:1
|x 3 4 |y 0:0.5
CTF
cat >sets/test.txt <<'CTF'
7 |a 1 2 3 |b 100 200
7 |a 4 5 6 |b 101 201
9 |b 500 100
CTF
cat >whole.cntk <<'CNTK'
# DataDir=... on the command line says where the data are
command = Train:Test
precision = "float"; traceLevel = 1 ; deviceId = "auto"
rootDir = "." ; dataDir = "$rootDir$/sets"
modelPath = "$rootDir$/Models/net"

Train = {
    action = "train"
    BrainScriptNetworkBuilder = {
        shape = 28:28:1      # it's width, height (and channels
        scale{f} = x => Constant(f) .* x
        model = Sequential (
            scale {1/256} :
            LinearLayer {10}
        )
        outputNodes = (model (Input {shape}))
    }
    SGD = { epochSize = 60000 ; minibatchSize = 64 ; learningRatesPerSample = 0.001*5:0.0005 }
    reader = {
        readerType = "CNTKTextFormatReader" ; file = "$DataDir$/train.txt" ; randomize = "none"
        input = {
            x = { dim = 2 ; format = "dense" }
            y = { dim = 10 ; format = "sparse" }
        }
    }
}

Test = [
    action = "test"
    minibatchSize = 3
    reader = [
        readerType = "CNTKTextFormatReader" ; file = "$DataDir$/test.txt" ; randomize = false
        input = [
            one = [ alias = "a" ; dim = 3 ; format = "dense" ]
            two = [ alias = "b" ; dim = 2 ; format = "dense" ; precision = "double" ]
        ]
    ]
]
CNTK
cat >page.cntk <<'CNTK'
...
precision="double"

reader = [
    readerType = "CNTKTextFormatReader"
    file = "sets/test.txt" # as on CNTK's page
    randomize = true
    randomizationWindow = 30
    skipSequenceIds = false
    maxErrors = 100
    traceLevel = 1
    chunkSizeInBytes = 1024
    keepDataInMemory = true
    frameMode = false
    input = [
        one = [
            alias = "a"
            dim = 3
            format = "dense"
        ]
        two = [
            alias = "b"
            dim = 2
            format = "dense"
        ]
    ]
]
# the rest of the cntk config ...
CNTK
check() { "$@"; echo "exit $?"; }
content() { python3 -c '
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    print(*sorted(m["ids"]), {k: v["sequences"] for k, v in m.items() if k in ("x", "y", "one", "two")} if len(sys.argv) > 1 else "")' "$@"; }

echo "== as a page prints it"
imrec minibatches page.cntk | content
imrec bench page.cntk --minibatches --seconds 0.01 --repeat 1 --threads 1 --json | grep -c '"sweep_mb_s"'
check imrec verify --config page.cntk
check imrec cat --config page.cntk 9
ctf2bin --quiet --input sets/test.txt --header page.cntk --output page.cbf
imrec info page.cbf | grep stream
echo "== whole ones"
check imrec minibatches whole.cntk
check imrec minibatches whole.cntk action=eval
imrec minibatches whole.cntk action=train | content values
imrec minibatches whole.cntk action=Test | content values
imrec bench whole.cntk --minibatches --seconds 0.01 --repeat 1 --threads 1 --json action=test | grep -c '"sweep_mb_s"'
check imrec verify --config whole.cntk action=test
check imrec cat --config whole.cntk 9 action=test
imrec info --config whole.cntk action=train | grep input
check imrec info --config whole.cntk
check ctf2bin --quiet --input sets/test.txt --header whole.cntk --output no.cbf
check ctf2bin --quiet --input sets/test.txt --header whole.cntk --action test --output test.cbf
imrec info test.cbf | grep stream
imrec convert --quiet sets/train.txt train.cbf --header whole.cntk --action train
imrec info train.cbf | grep stream
echo "== key=value over a configuration"
mv sets elsewhere
check imrec minibatches whole.cntk action=test
imrec minibatches whole.cntk action=test ROOTDIR=. DataDir=elsewhere | content
imrec minibatches whole.cntk action=test dataDir=elsewhere file=elsewhere/train.txt \
    input.one.alias=x input.one.dim=2 input.two.alias=y input.two.format=sparse input.two.dim=10 | content values
check imrec minibatches whole.cntk action=test dataDir=elsewhere input.two.dim=3
check imrec minibatches whole.cntk action=test dataDir=elsewhere dataDri=x
check imrec minibatches page.cntk action=train file=elsewhere/test.txt
sed 's/^rootDir.*//' whole.cntk >undefined.cntk
check imrec minibatches undefined.cntk action=test
echo "== what is missing, what is unknown"
check imrec minibatches elsewhere/train.txt input.x.format=dense
check imrec minibatches elsewhere/train.txt input.x.dim=2
check imrec minibatches elsewhere/train.txt input.x.format=dense input.x.dim=2
imrec minibatches elsewhere/train.txt input.x.format=dense input.x.dim=2 ignoreUnknownInputs=true | wc -l
echo "== traces"
imrec minibatches whole.cntk action=test dataDir=elsewhere traceLevel=2 | wc -l
echo "== a file that is not there, and one that replaces that of a configuration"
check imrec minibatches nothere.cntk action=test
cp elsewhere/test.txt other.txt
printf 'reader = { readerType = "CNTKTextFormatReader"; file = "elsewhere/test.txt"; input = {
    a = { dim = 3; format = "dense" }; b = { dim = 2; format = "dense" } } }\n' >one.cntk
imrec cat other.txt 9 --config one.cntk
imrec cat 9 --config one.cntk
imrec cat other.txt --config one.cntk | tail -1
check imrec cat other.txt 9x --config one.cntk
