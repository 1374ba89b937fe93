#!/usr/bin/env bash
# run.sh shared|static SOURCE BUILD PHOTOS - installs imrec into a folder of its own and uses it
# from outside: CMake package, pkg-config, programs; static: also as a sub-directory.
set -euo pipefail
kind=$1 source=$2 build=$3 photos=$4
work=$(mktemp -d "${TMPDIR:-/tmp}/imrec-install-XXXXXX")
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
# The consumers are built by what built the library: a bare system may have Ninja and no make.
CMAKE_GENERATOR=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
export CMAKE_GENERATOR
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log" && echo "failed: $*" && exit 1; }; }
reads() { # what was built reads what was packed: 3 batches for 1 sweep
    "$@" "$work/set.rec" >"$work/out"
    [ "$(wc -l <"$work/out")" -eq 1 ] || { cat "$work/out" && echo "failed: $*" && exit 1; }
    echo "works: $1"
}

if [ "$kind" = static ]; then
    quiet cmake -S "$source/tests/install/add_subdirectory" -B "$work/sub" -DIMREC_SOURCE="$source" \
        -DREAD_C="$source/examples/read.c" -DCMAKE_BUILD_TYPE=Debug
    quiet cmake --build "$work/sub" -j 2
    build=$work/sub/imrec
fi
quiet cmake --install "$build" --prefix "$prefix"
mv "$prefix" "$work/moved" # what is installed names no folder: it works where it is
prefix=$work/moved
libdir=$(dirname "$(find "$prefix" -name 'libimrec.*' | head -n 1)")

if [ "$kind" = static ]; then # a program may have functions of the same names as the library's own
    (cd "$source" && bash tests/lint/symbols.sh "$libdir/libimrec.a")
else
    soname=$(objdump -p "$libdir/libimrec.so" | sed -n 's/.*SONAME *//p')
    [ "$soname" = libimrec.so.1 ] || { echo "SONAME is $soname" && exit 1; }
    unversioned=$(nm -D --defined-only "$libdir/libimrec.so" | grep ' [^A] ' | grep -v '@@IMREC_1$' || true)
    pc=$(PKG_CONFIG_LIBDIR=$libdir/pkgconfig pkg-config --cflags --libs imrec) || { echo "pkg-config asks for more: $pc" && exit 1; }
    [ -z "$unversioned" ] || { echo "without a version: $unversioned" && exit 1; }
fi

"$prefix/bin/im2rec" --quiet --resize 256 "$photos" "$work/set.rec"
"$prefix/bin/imrec" verify --quiet "$work/set.rec" >"$work/log" || { cat "$work/log" && exit 1; }
echo "works: $prefix/bin"
[ "$kind" = shared ] || reads "$work/sub/consumer"

quiet cmake -S "$source/tests/install/find_package" -B "$work/found" -DCMAKE_PREFIX_PATH="$prefix" \
    -DREAD_C="$source/examples/read.c"
quiet cmake --build "$work/found"
reads "$work/found/consumer"

# The examples that plug in are projects of their own.
for example in augmenter source; do
    quiet cmake -S "$source/examples/$example" -B "$work/$example" -DCMAKE_PREFIX_PATH="$prefix"
    quiet cmake --build "$work/$example"
done
for i in 1 2 3; do # 2 x 2 px, labelled
    printf 'P6\n# label %s\n2 2\n255\nabcdefghijkl' "$i"
done >"$work/all.ppm"
quiet "$prefix/bin/imrec" batches --count 1 --out "$work/batches" "$work/all.ppm" data_shape=3,2,2 batch_size=3 \
    "source=$work/source/libppm.so:ppm" "aug_seq=aug_default,$work/augmenter/libsparkle.so:sparkle(2)"
[ "$(od -An -tf4 -w4 "$work/batches/labels.npy" | tail -n 3 | tr -d ' \n')" = 123 ] || { echo "labels of all.ppm" && exit 1; }
echo "works: $work/source/libppm.so with $work/augmenter/libsparkle.so"

export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
flags=(--cflags --libs)
[ "$kind" = shared ] || flags+=(--static)
# shellcheck disable=SC2046
quiet cc "$source/examples/read.c" -o "$work/by_pkg_config" $(pkg-config "${flags[@]}" imrec)
reads "$work/by_pkg_config"

for page in im2rec imrec; do
    [ -f "$prefix/share/man/man1/$page.1" ] || { echo "no manual page $page.1" && exit 1; }
done
