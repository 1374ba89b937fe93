#!/usr/bin/env bash
# missing.sh SOURCE FOLDER - a build without a library that it needs ends with what to install.
set -euo pipefail
source=$1 folder=$2
mkdir -p "$folder/empty"
expect() { # what is hidden, by arguments of cmake; words that the message must have
    local words=$1
    shift
    rm -rf "$folder/build"
    if "$@" cmake -S "$source" -B "$folder/build" -DIMREC_BUILD_TESTS=OFF ${hide[@]+"${hide[@]}"} >"$folder/log" 2>&1; then
        echo "configured without what was hidden"
        exit 1
    fi
    for word in $words tools/install_dependencies; do
        grep -q -- "$word" "$folder/log" || { echo "'$word' is not in:"; cat "$folder/log"; exit 1; }
    done
}
hide=()
expect "libjpeg-dev libjansson-dev" env PKG_CONFIG_LIBDIR="$folder/empty" PKG_CONFIG_PATH=
if grep -q librandom123-dev "$folder/log"; then echo "names what is here"; exit 1; fi
hide=(-DCMAKE_FIND_ROOT_PATH="$folder/empty" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY)
expect "librandom123-dev" env
rm -rf "$folder"
