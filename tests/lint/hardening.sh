#!/usr/bin/env bash
# hardening.sh FILE... - what was built has the hardening of cmake/ImrecHarden.cmake. A library or a program.
set -uo pipefail
command -v readelf >/dev/null || { echo "no readelf"; exit 77; }
failed=0
lacks() { echo "$1 lacks $2"; failed=1; }
for file; do
    headers=$(readelf -lW "$file") dynamic=$(readelf -dW "$file") symbols=$(readelf --dyn-syms -W "$file")
    readelf -hW "$file" | grep -q 'Type: *DYN' || lacks "$file" "random addresses (-pie)"
    grep -q GNU_RELRO <<<"$headers" || lacks "$file" "read-only relocations (-z relro)"
    grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$dynamic" || lacks "$file" "relocations done at the start (-z now)"
    grep -q 'GNU_STACK.* RW ' <<<"$headers" || lacks "$file" "a stack that is not executable"
    grep -q '__stack_chk_fail' <<<"$symbols" || lacks "$file" "canaries (-fstack-protector-strong)"
    # a module that only passes calls on has none to check
    grep -qE '__[a-z]+_chk@' <<<"$symbols" || ! grep -qE ' (read|recv|mem(cpy|move)|v?s?n?printf|fgets)@' <<<"$symbols" ||
        lacks "$file" "checked calls (_FORTIFY_SOURCE)"
    if grep -q 'Machine:.*X86-64' <<<"$(readelf -hW "$file")" && command -v objdump >/dev/null; then
        # the note of the whole file depends on the C library's own start files
        [ "$(objdump -d "$file" | grep -c endbr64)" -gt 100 ] || lacks "$file" "control-flow protection (-fcf-protection)"
    fi
    grep -qE 'RPATH' <<<"$dynamic" && lacks "$file" "freedom from RPATH"
    grep -q TEXTREL <<<"$dynamic" && lacks "$file" "freedom from relocations of text"
done
exit "$failed"
