#!/usr/bin/env bash
# What verbose=1 and traceLevel=2 ask for is heard; nobody hears more than asked for.
make_set a.rec 20
small=("data_shape=3,24,24" batch_size=8)
echo "== verbose"
for verbose in "" verbose=0 verbose=1; do
    # shellcheck disable=SC2086 # nothing, or a word
    imrec batches a.rec "${small[@]}" $verbose --count 1 --out "batches$verbose" 2>told >/dev/null
    wc -l <told
done
sed 's/[0-9]* bytes/N bytes/' told
{ imrec batches a.rec "${small[@]}" verbose=1 mean_img=mean.bin --count 1 --out mean >/dev/null; } 2>&1 | grep missing
echo "== traceLevel"
printf '1 |x 1 2\n2 |x 3\n3 |x 5 6\n' >a.ctf
x=(input.x.format=dense input.x.dim=2 maxErrors=1 randomize=false)
for level in 0 1 2; do
    echo "-- $level"
    { imrec minibatches a.ctf "${x[@]}" traceLevel=$level >/dev/null; } 2>&1
done
echo "-- the index"
{ imrec minibatches a.ctf "${x[@]}" cacheIndex=true verbosity=2 >/dev/null; } 2>&1 | grep index
{ imrec minibatches a.ctf "${x[@]}" cacheIndex=true verbosity=2 >/dev/null; } 2>&1 | grep index
{ imrec minibatches a.ctf "${x[@]}" cacheIndex=true >/dev/null; } 2>&1 | grep -c index
{ imrec verify a.ctf "${x[@]}" traceLevel=2 >/dev/null; echo "exit $?"; } 2>&1
