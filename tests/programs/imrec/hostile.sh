#!/usr/bin/env bash
# Names of classes, images and files that move cursors, ring bells and turn lines around: whatever a
# command says of them is harmless text.
esc=$'\e[31;1m\a' c1=$'\xc2\x9b2J' bidi=$'\xe2\x80\xaegnp.\xe2\x80\xac' mark=$'\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f' line=$'\xe2\x80\xa8'
raw=$'\x9b2J\xff' # no UTF-8
set="s$esc$c1$raw$bidi"$'\n'"x"
make_set a.rec 12
printf '%s\n' "ant$esc$c1" "bee$bidi" "cat$mark$line"$'\x7f' >a.classes.txt
sed -i "s|ant/|ant$esc$raw/|; s|bee/|bee$bidi/|" a.lst
for file in a.*; do cp "$file" "$set${file#a}"; done
rm "$set.manifest.json"
run() {
    "$@" >>../said 2>&1
}
mkdir work && cd work && mv ../s* . || exit 1
rec=$set.rec
run imrec info "$rec"
run imrec info --json "$rec"
run imrec ls --json "$rec"
run imrec cat "$rec" 4711
run imrec cat --json "$rec" 103
run imrec cat "$rec" "$esc"
run imrec verify "$rec"
run imrec view "$rec" "$esc.html"
cat "$esc.html" >>../said
run imrec export "$rec" "to$esc"
run imrec export "$rec" "to$esc"
run imrec repair "$rec" "mended$c1.rec"
run imrec index --out "$esc.idx" "$rec"
run imrec merge "$rec" "$rec$raw" out.rec
run imrec merge --renumber "$rec" "$rec" "out$bidi.rec"
run imrec split --shards 2 "$rec" "cut$raw.rec"
run imrec split --shards 2 "$rec" "cut$esc.rec"
run imrec sample --json --records 3 "$rec" "few$esc.rec"
printf '100\t1\t%s\n100\t2\t%s\n' "$esc" "$raw" >"l$esc.lst"
run imrec relabel "$rec" "l$esc.lst" out.rec
printf '%s\n' "$esc$c1" >"l$esc.lst"
run imrec relabel "$rec" "l$esc.lst" out.rec
run imrec batches --count 1 "$rec" "$esc=1"
run imrec batches --count 1 --out "b$esc" "$rec" data_shape=3,8,8 batch_size=4
run imrec "$esc$bidi"
run imrec info "--$esc"
dd if=/dev/zero of="$rec" bs=1 seek=300 count=9 conv=notrunc status=none
run imrec merge "$rec" out.rec
run imrec merge --json --on-error skip "$rec" out.rec
run imrec verify --json "$rec"
run imrec repair --json "$rec" "mended$esc.rec"
printf 'one\n%s\n' "bad$raw" >"$set.classes.txt"
run imrec info "$rec"
mkdir -p "root/dog$bidi$c1" "root/cow"
cp ../a.rec "root/dog$bidi$c1/no$mark.jpg"
imrec cat ../a.rec 100 >"root/cow/x$bidi.jpg"
imrec cat ../a.rec 101 >"root/cow/y$esc.jpg"
run im2rec --no-shuffle --pass-through root "new$bidi"
run imrec info "new$bidi.rec"
run im2rec --list root "li$esc"
run im2rec root "no$raw"
printf '|x%s 1 2\n|x%s 3 4\n' "$esc" "$esc" >"t$esc.ctf"
run imrec info "t$esc.ctf"
run imrec verify "t$esc.ctf" "input.x$esc.format=dense" "input.x$esc.dim=3"
run imrec minibatches "t$esc.ctf" "input.x$esc.format=dense" "input.y$esc.dim=2"
run ctf2bin --input "t$esc.ctf" --header "no$raw" --output "o$bidi.cbf"
run imrec convert "t$esc.ctf" "o$bidi.cbf"
cd ..
iconv -f UTF-8 -t UTF-8 said >/dev/null && echo "all of it is UTF-8"
hidden='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'
LC_ALL=C grep -aP "$hidden" said | cat -v
LC_ALL=C grep -aqP "$hidden" said || echo "nothing of it is hidden"
grep -aE ' of [012] (ant|bee|cat)' said | head -n 3
grep -a '"name"' said | head -n 3
grep -aoE '<b>(ant|bee|cat).*</b>' said | head -n 3
