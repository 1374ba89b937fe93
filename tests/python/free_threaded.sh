#!/usr/bin/env bash
# free_threaded.sh SOURCE FOLDER - the wheel for a free-threaded Python, that of IMREC_FREE_THREADED, of PATH or of
# tools/dev/free_threaded_python: it installs, leaves the GIL off, and passes all tests of the package there.
set -euo pipefail
source=$1 folder=$2
built=$source/build/python3.14t/bin/python3.14t
python=${IMREC_FREE_THREADED:-$(command -v python3.15t || command -v python3.14t || command -v "$built" || true)}
if [ -z "$python" ] || ! "$python" -c 'import sys; sys.exit(sys._is_gil_enabled())' 2>/dev/null; then
    echo "skipped: no free-threaded Python: tools/dev/free_threaded_python build/python3.14t, or IMREC_FREE_THREADED=PYTHON"
    exit 77
fi
"$python" -VV
rm -rf "$folder" && mkdir -p "$folder"
wheel=$("$source/tools/dev/build_wheel" --python "$python" "$folder")
[[ $wheel = *t-manylinux_2_28_*.whl ]] || { echo "$wheel is not for a free-threaded Python" && exit 1; }
"$python" -m venv --system-site-packages "$folder/venv"
"$folder/venv/bin/pip" --disable-pip-version-check -q install "$wheel" pytest
cd "$folder"
venv/bin/python "$source/tests/python/installed.py" programs
# The tests of the whole package, away from the tree, whose package is another; those of other packages are skipped.
mkdir tests && cp -r "$source/tests/python" tests
ln -s "$source"/{docs,examples,README.md} . && ln -s "$source"/tests/{codec,servers,support} tests
"$folder/venv/bin/python" -X faulthandler -m pytest -q -p no:cacheprovider -o faulthandler_timeout=400 \
    -o faulthandler_exit_on_timeout=true tests/python
