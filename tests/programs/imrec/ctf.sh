#!/usr/bin/env bash
# info, verify and cat on CNTK's text, described and not; cat on its binary format.
check() { imrec "$@"; echo "exit $?"; }
printf '100 |a 1 2 3 |b 100:3 123:4\n100 |a 4 5 6 |b 101:1 |# a comment |# with a pipe\n200 |b 101:1\n' >a.ctf
inputs=(input.A.format=dense input.A.dim=3 input.A.alias=a input.b.format=sparse input.b.dim=1000)
described() { check "$1" "$2" ${3:+"$3"} "${inputs[@]}" "${@:4}"; }

check info a.ctf
imrec info --json a.ctf | python3 -c '
import json, sys
c = json.load(sys.stdin)
print(c["format"], c["sequences"], c["samples"], c["longest_sequence"], c["chunks"], c["ids"])
print([(i["alias"], i["format"], i["samples"], i["first_width"]) for i in c["inputs"]])'
check info a.ctf skipSequenceIds=true chunkSizeInBytes=40
described verify a.ctf ''
described cat a.ctf ''
described cat a.ctf '' --json
described cat a.ctf 200
described cat a.ctf 201
check cat a.ctf
check cat a.ctf twelve

# What is wrong is listed, or left out, or ends the reading.
printf '1 |a 1 2 3\n2 |a 1 2\n3 |a 1 2 3 |b 5:x\n4 |a 0.1 -2.5e-7 1e10 |b 999:3.25\n' >bad.ctf
described verify bad.ctf ''
imrec verify --json bad.ctf "${inputs[@]}" | python3 -c '
import json, sys
c = json.load(sys.stdin)
print(c["fine"], c["findings"], c["lost"], c["sequences"], [f["offset"] for f in c["list"]])'
described cat bad.ctf ''
described cat bad.ctf '' maxErrors=2
printf '1 |a 1 2 3\n2 |a 1 2 3\n1 |a 1 2 3\n' >again.ctf
described verify again.ctf ''
check verify bad.ctf input.a.format=dense input.a.dmi=3

# A configuration says what the inputs are, and which file.
cat >reader.cntk <<'END'
precision = "double"
reader = [
    readerType = "CNTKTextFormatReader"
    file = "a.ctf"
    input = [ A = [ alias = "a" ; format = "dense" ; dim = 3 ] ; b = [ format = "sparse" ; dim = 1000 ] ]
]
END
check info --config reader.cntk
check verify --config=reader.cntk
check cat --config reader.cntk 100

# The binary format needs no description, and comes back as text that reads the same.
printf 'A a dense 3\nb b sparse 1000\n' >header
imrec convert a.ctf a.cbf --header header --quiet
check cat a.cbf
check cat --json a.cbf 1
check cat a.cbf 0 input.Z.alias=A
sed 's/a.ctf/a.cbf/; s/"a" ;/"A" ;/; s/CNTKTextFormatReader/CNTKBinaryReader/' reader.cntk >binary.cntk
check info --config binary.cntk
check verify --config binary.cntk
imrec cat a.cbf >b.ctf
sed 's/ a / A /' header >header2
imrec convert b.ctf b.cbf --header header2 --quiet
cmp a.cbf b.cbf && echo same
