#!/usr/bin/env bash
# free_threaded.sh SOURCE FOLDER - the wheel for a free-threaded Python, python3.14t of PATH or IMREC_FREE_THREADED: it
# installs, leaves the GIL off, and passes the tests of threads, iterators, batches and errors there.
set -euo pipefail
source=$1 folder=$2
python=${IMREC_FREE_THREADED:-$(command -v python3.15t || command -v python3.14t || true)}
if [ -z "$python" ] || ! "$python" -c 'import sys; sys.exit(sys._is_gil_enabled())' 2>/dev/null; then
    echo "skipped: no free-threaded Python: python3.14t, or IMREC_FREE_THREADED=PYTHON"
    exit 77
fi
rm -rf "$folder" && mkdir -p "$folder"
wheel=$("$source/tools/dev/build_wheel" --python "$python" "$folder")
[[ $wheel = *t-manylinux_2_28_*.whl ]] || { echo "$wheel is not for a free-threaded Python" && exit 1; }
"$python" -m venv --system-site-packages "$folder/venv"
"$folder/venv/bin/pip" --disable-pip-version-check -q install "$wheel" pytest
cd "$folder"
venv/bin/python "$source/tests/python/installed.py" programs
cp -r "$source/tests/python" tests # away from the tree, whose package is another
cd tests
../venv/bin/python -X faulthandler -m pytest -q -p no:cacheprovider test_threads.py test_iterator.py test_processes.py test_errors.py \
    test_records.py test_pack.py test_pack_items.py test_store.py test_minibatch.py test_memory.py test_input_split.py
