#!/usr/bin/env bash
# What is missing, or in the way, is an error (1) in every command, not wrong usage (2); the sentence
# names what is not there.
make_set a.rec 10
cp a.rec b.rec
mkdir empty
check() { "$@" >/dev/null; echo "$1 $2: exit $?"; }
for command in merge tile "sample --fraction 0.5"; do
    # shellcheck disable=SC2086 # words are wanted
    check imrec $command no.rec out.rec
    # shellcheck disable=SC2086
    check imrec $command a.rec b.rec
done
check imrec split --shards 2 no.rec out.rec
for command in info ls verify; do
    check imrec $command no.rec
done
check imrec merge empty out.rec
check imrec convert no.rec out.tar
check imrec merge a.rec nodir/out.rec
check imrec convert a.rec nodir/out.tar
check im2rec --work nothere
check im2rec --status nothere
echo "== and wrong usage still is"
check imrec merge a.rec a.rec
check imrec convert a.rec b.rec
find . -name "*out*" | wc -l
