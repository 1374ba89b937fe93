#!/usr/bin/env bash
# conan.sh SOURCE FOLDER - packaging/conan makes a package with the libraries of the machine, and a program is linked with it.
set -euo pipefail
source=$1 folder=$2
mkdir -p "$folder"
[ -x "$folder/venv/bin/conan" ] || {
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" --disable-pip-version-check -q install conan || { echo "skipped: pip cannot get conan" && exit 77; }
}
export CONAN_HOME=$folder/home
rm -rf "$CONAN_HOME"
"$folder/venv/bin/conan" profile detect -e >/dev/null 2>&1
"$folder/venv/bin/conan" create "$source/packaging/conan" -o 'imrec/*:system=True' -s compiler.cstd=11 --no-remote
