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
echo "== cut off: what the files next to it have past its end is one finding each"
for size in $((at[9] + 8)) $((at[18] + 8)) $((at[19] + 8)) "${at[12]}"; do
    head -c "$size" a.rec >d.rec
    { cat a.idx; [ "$size" != "${at[12]}" ] || printf '7\t%d\n' $((at[11] + 4)); } >d.idx # one more, below the end
    cp a.crc d.crc
    imrec verify d.rec | sed -E 's/[0-9.]+ KiB/SIZE/; s/byte [0-9]+/BYTE/; s/bytes [0-9]+ to [0-9]+/RANGE/'
    imrec verify --json d.rec | python3 -c '
import json, sys
size, *at = map(int, sys.argv[1:])
for f in json.load(sys.stdin)["list"]:
    print(f["kind"], at.index(f["begin"]) if f["begin"] in at else "-", {at[-1] + 1: "to the last key", size: "to the end"}.get(f["end"], "-"))
    ' "$(stat -c %s a.rec)" "${at[@]}"
done
echo "== side files"
cp a.rec d.rec; cp a.idx d.idx; cp a.crc d.crc
sed -i '5d; s/^110\t.*/110\t4/' d.idx
flip d.crc 40
imrec verify d.rec | sed -E 's/[0-9.]+ KiB/SIZE/; s/0x[0-9a-f]{8}/HEX/g; s/bytes [0-9]+ to [0-9]+/RANGE/'
echo "== files of a folder and of a list"
mkdir -p photos/ant photos/bee
for id in 100 101 102; do imrec cat a.rec $id >photos/ant/$id.jpg; done
: >photos/bee/empty.jpg
head -c 300 photos/ant/101.jpg >photos/bee/half.jpg
printf '7\t0\tant/100.jpg\n8\t1\tbee/gone.jpg\n' >photos.lst
imrec verify photos | sed -E 's/[0-9.]+ KiB/SIZE/; s/bytes [0-9]+ to [0-9]+/RANGE/; s/JPEG: .* \(/JPEG: ... (/'
imrec verify photos.lst --path-root photos | sed -E 's/[0-9.]+ KiB/SIZE/'
imrec verify --json photos | python3 -c '
import json, sys
c = json.load(sys.stdin)
print([(f["kind"], f["reason"].split(":")[0], f["end"] - f["begin"]) for f in c["list"]], c["found"]["file"], c["found"]["damage"])'
imrec export --quiet photos out 2>&1 | sed 's/^imrec export: warning: .*checksums.*/no checksums/'
imrec export --quiet --on-error skip photos out 2>&1 | sed 's/^imrec export: warning: .*checksums.*/no checksums/; s/, [0-9.]* KiB//'
echo "== manifest"
printf '105\t0.0\tx.jpg\n' >>m.lst
rm m-00002-of-00003.rec
imrec verify 'm-*.rec' | sed -E 's/[0-9.]+ KiB/SIZE/; s/[0-9]+ bytes, and .* says [0-9]+/SIZES/'
