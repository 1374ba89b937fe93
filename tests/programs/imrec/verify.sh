#!/usr/bin/env bash
# Every kind of damage is found, and found the same with any number of threads.
make_set a.rec 20
make_set m.rec 20 3
imrec verify a.rec | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec verify 'm-*.rec' --no-decode | sed -E 's/[0-9.]+ KiB/SIZE/'
mapfile -t at < <(imrec ls a.rec | cut -f2)
flip() { # flip FILE OFFSET: another byte there
    local byte
    byte=$(dd if="$1" bs=1 skip="$2" count=1 status=none | od -An -tu1)
    printf %b "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
for what in head length payload tail; do
    cp a.rec d.rec
    for side in idx crc lst classes.txt; do cp a.$side d.$side; done
    case $what in
    head) flip d.rec "${at[3]}" ;;
    length) # swallows record 11
        len=$((at[12] - at[10] - 8))
        printf %b "\\x$(printf %x $((len % 256)))\\x$(printf %x $((len / 256)))" |
            dd of=d.rec bs=1 seek=$((at[10] + 4)) conv=notrunc status=none ;;
    payload) flip d.rec $((at[7] + 300)) ;;
    tail) truncate -s -100 d.rec ;;
    esac
    echo "== $what"
    imrec verify --threads 1 d.rec >one; echo "exit $?"
    imrec verify --threads 7 d.rec >seven
    cmp one seven
    sed -E 's/[0-9.]+ KiB/SIZE/; s/0x[0-9a-f]{8}/HEX/g; s/bytes [0-9]+ to [0-9]+/RANGE/' one
    imrec verify --threads 7 --json d.rec | python3 -c '
import json, sys
c = json.load(sys.stdin)
assert c["findings"] == len(c["list"]) == sum(c["found"].values()) > 0
print({k: v for k, v in c["found"].items() if v}, c["fine"])'
done
echo "== side files"
cp a.rec d.rec; cp a.idx d.idx; cp a.crc d.crc
sed -i '5d; s/^110\t.*/110\t4/' d.idx
flip d.crc 40
imrec verify d.rec | sed -E 's/[0-9.]+ KiB/SIZE/; s/0x[0-9a-f]{8}/HEX/g; s/bytes [0-9]+ to [0-9]+/RANGE/'
echo "== manifest"
printf '105\t0.0\tx.jpg\n' >>m.lst
rm m-00002-of-00003.rec
imrec verify 'm-*.rec' | sed -E 's/[0-9.]+ KiB/SIZE/; s/[0-9]+ bytes, and .* says [0-9]+/SIZES/'
