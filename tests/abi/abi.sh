#!/usr/bin/env bash
# abi.sh check|write LIBIMREC.so - compares the binary interface of the library with tests/abi/libimrec.abi, or writes
# that file again. CONTRIBUTING.md says what needs another IMREC_SOVERSION (CMakeLists.txt).
set -euo pipefail
cd "$(dirname "$0")/../.."
kept=tests/abi/libimrec.abi
for program in abidw abidiff; do
    command -v "$program" >/dev/null || { echo "skipped: no $program: tools/install_dependencies lint" && exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/imrec-abi-XXXXXX")
trap 'rm -rf "$work"' EXIT
# Nothing of this machine, of the build folder or of the libraries that it links is in the file.
abidw --headers-dir include/imrec --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path \
    --no-show-locs --no-elf-needed --no-architecture --type-id-style hash --out-file "$work/abi" "$2"
sed -i "s@ path='\(\.\./\)*\($PWD/\)\?@ path='@" "$work/abi"

soname() { sed -n "s/^<abi-corpus .*soname='\([^']*\)'.*/\1/p" "$1"; }
compare() { # what was removed or changed: empty if nothing was
    abidiff --no-added-syms --no-architecture "$@" "$kept" "$work/abi"
}
case $1 in
write)
    compare --ignore-soname || true
    cp "$work/abi" "$kept"
    echo "$kept: $(soname "$kept"), $(grep -c '<elf-symbol ' "$kept") functions"
    ;;
check)
    if [ "$(soname "$kept")" != "$(soname "$work/abi")" ]; then
        echo "$kept is that of $(soname "$kept"), and this is $(soname "$work/abi"): write it again, as CONTRIBUTING.md says"
        exit 1
    fi
    compare && exit 0
    echo "The binary interface has changed: CONTRIBUTING.md says when IMREC_SOVERSION is raised, and how $kept"
    echo "is written again."
    exit 1
    ;;
*)
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
    ;;
esac
