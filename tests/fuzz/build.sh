#!/usr/bin/env bash
# tests/fuzz/build.sh - builds the fuzz targets as OSS-Fuzz wants them: in $OUT stand fuzz_NAME, fuzz_NAME.options,
# fuzz_NAME_seed_corpus.zip, the dictionaries, and in $OUT/lib the shared libraries of the system that they load.
#
# OSS-Fuzz sets CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, OUT and WORK. Without them: clang, libFuzzer,
# AddressSanitizer and UBSan, into build/oss-fuzz/out. $TARGETS (a regular expression) builds some of them.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
export CC=${CC:-clang} CXX=${CXX:-clang++}
export CFLAGS=${CFLAGS--O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all}
export CXXFLAGS=${CXXFLAGS-$CFLAGS}
engine=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
out=${OUT:-$root/build/oss-fuzz/out} work=${WORK:-$root/build/oss-fuzz}/cmake
mkdir -p "$out/lib"

cmake -S "$root" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=None -DIMREC_FUZZ=ON -DIMREC_FUZZ_ENGINE="$engine" \
    -DCMAKE_BUILD_RPATH="\$ORIGIN/lib" >/dev/null
mapfile -t targets < <(cd "$root/tests/fuzz" && printf '%s\n' fuzz_*.c | sed 's/[.]c$//' | grep -E "${TARGETS:-.}")
ninja -C "$work" "${targets[@]}"

# What of the system's libraries a bare machine lacks: all but the C library and the loader.
libraries() {
    ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
        grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv|ld-linux[^/]*)\.so' || true
}
for target in "${targets[@]}"; do
    cp "$work/tests/$target" "$work/tests/$target.options" "$out/"
    dictionary=$(sed -n 's/^dict = //p' "$out/$target.options")
    [ -z "$dictionary" ] || cp "$root/tests/fuzz/dictionaries/$dictionary" "$out/"
    python3 - "$root/tests/fuzz/corpus/${target#fuzz_}" "$out/${target}_seed_corpus.zip" <<'P'
import pathlib, sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as z:
    for f in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        z.writestr(zipfile.ZipInfo(f.name), f.read_bytes())  # no dates: equal bytes each time
P
    libraries "$out/$target"
done | sort -u | xargs -r cp -t "$out/lib"
echo "${#targets[@]} targets in $out"
